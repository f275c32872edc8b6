extension H265.ProfileTierLevel {
    /// The profile's name (A.3), such as "Main 10".
    public var profileName: String { general.name }

    /// "Main" or "High".
    public var tierName: String { general.tier_flag ? "High" : "Main" }

    /// The level's name (A.4.1), such as "4.1".
    public var levelName: String { Self.levelName(general_level_idc) }

    /// The name of the level with this `general_level_idc`.
    static func levelName(_ level_idc: Int) -> String {
        let (whole, rest) = level_idc.quotientAndRemainder(dividingBy: 30)
        return rest == 0 ? "\(whole)" : "\(whole).\(rest / 3)"
    }
}

extension H265.ProfileTierLevel.Profile {
    /// The profile's name (A.3, G.11, H.11, I.11), such as "Main 4:2:2 10", or its number if it has no name.
    public var name: String {
        Self.name(
            profile_idc, constraints, one_picture_only_constraint_flag: one_picture_only_constraint_flag)
    }

    static func name(
        _ profile_idc: Int, _ constraints: H265.ProfileTierLevel.Constraints?,
        one_picture_only_constraint_flag: Bool
    ) -> String {
        let chroma = constraints?.chromaName ?? "Main"
        let bitDepth = constraints?.bitDepthSuffix ?? ""
        return switch profile_idc {
        case 1: "Main"
        case 2: one_picture_only_constraint_flag ? "Main 10 Still Picture" : "Main 10"
        case 3: "Main Still Picture"
        case 4:
            constraints?.formatRangeExtensionsName(isStillPicture: one_picture_only_constraint_flag)
                ?? "format range extensions"
        case 5:
            "High Throughput 4:4:4" + bitDepth + (constraints?.intra_constraint_flag == true ? " Intra" : "")
        case 6: "Multiview Main"
        case 7: "Scalable Main" + bitDepth
        case 8: "3D Main"
        case 9: "Screen-Extended " + chroma + bitDepth
        case 10: "Scalable " + chroma + bitDepth
        case 11: "Screen-Extended High Throughput 4:4:4" + bitDepth
        default: "profile \(profile_idc)"
        }
    }

    /// The profiles that a number stands for (A.3, G.11, H.11, I.11); `nil` if it is reserved.
    static func family(_ profile_idc: Int) -> String? {
        let table = [
            "Main", "Main 10", "Main Still Picture", "format range extensions", "high throughput",
            "Multiview Main", "scalable", "3D Main", "screen content coding extensions",
            "scalable format range extensions", "high throughput screen content coding extensions",
        ]
        return table.element(profile_idc - 1)
    }
}

extension H265.ProfileTierLevel.Constraints {
    /// The bits of a sample that the constraints allow.
    private var maximumBitDepth: Int {
        if max_8bit_constraint_flag { return 8 }
        if max_10bit_constraint_flag { return 10 }
        if max_12bit_constraint_flag { return 12 }
        return max_14bit_constraint_flag ? 14 : 16
    }

    /// Those bits as a profile's name has them: 8 are not mentioned.
    fileprivate var bitDepthSuffix: String { maximumBitDepth == 8 ? "" : " \(maximumBitDepth)" }

    /// The chroma format as a profile's name has it.
    fileprivate var chromaName: String {
        if max_monochrome_constraint_flag { return "Monochrome" }
        if max_420chroma_constraint_flag { return "Main" }
        return max_422chroma_constraint_flag ? "Main 4:2:2" : "Main 4:4:4"
    }

    /// The smallest profile of Table A.2 that the constraints do not rule out.
    fileprivate func formatRangeExtensionsName(isStillPicture: Bool) -> String? {
        if intra_constraint_flag {
            return chromaName + bitDepthSuffix + (isStillPicture ? " Still Picture" : " Intra")
        }
        return switch (chromaName, maximumBitDepth) {
        case ("Main", ...12): "Main 12"
        case ("Main 4:2:2", ...10): "Main 4:2:2 10"
        case ("Monochrome", _), (_, ...12): chromaName + bitDepthSuffix
        default: nil
        }
    }
}
