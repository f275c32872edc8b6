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
    /// The profile's name (A.3, G.11, H.11, I.11), such as "Main 4:2:2 10", or its number where it has none.
    public var name: String {
        switch profile_idc {
        case 1: "Main"
        case 2: one_picture_only_constraint_flag ? "Main 10 Still Picture" : "Main 10"
        case 3: "Main Still Picture"
        case 4: formatRangeExtensionsName ?? "format range extensions"
        case 5: "High Throughput 4:4:4" + bitDepthSuffix + (isIntra ? " Intra" : "")
        case 6: "Multiview Main"
        case 7: "Scalable Main" + bitDepthSuffix
        case 8: "3D Main"
        case 9: "Screen-Extended " + chromaName + bitDepthSuffix
        case 10: "Scalable " + chromaName + bitDepthSuffix
        case 11: "Screen-Extended High Throughput 4:4:4" + bitDepthSuffix
        default: "profile \(profile_idc)"
        }
    }

    private var isIntra: Bool { constraints?.intra_constraint_flag ?? false }

    /// The bits of a sample that the constraints allow.
    private var maximumBitDepth: Int {
        guard let constraints else { return 8 }
        if constraints.max_8bit_constraint_flag { return 8 }
        if constraints.max_10bit_constraint_flag { return 10 }
        if constraints.max_12bit_constraint_flag { return 12 }
        return constraints.max_14bit_constraint_flag ? 14 : 16
    }

    private var bitDepthSuffix: String { maximumBitDepth == 8 ? "" : " \(maximumBitDepth)" }

    private var chromaName: String {
        guard let constraints else { return "Main" }
        if constraints.max_monochrome_constraint_flag { return "Monochrome" }
        if constraints.max_420chroma_constraint_flag { return "Main" }
        return constraints.max_422chroma_constraint_flag ? "Main 4:2:2" : "Main 4:4:4"
    }

    /// The smallest profile of Table A.2 that allows what the constraints do not rule out.
    private var formatRangeExtensionsName: String? {
        if isIntra { return chromaName + bitDepthSuffix + suffixOfIntra }
        switch (chromaName, maximumBitDepth) {
        case ("Main", ...12): return "Main 12"
        case ("Main 4:2:2", ...10): return "Main 4:2:2 10"
        case ("Main 4:2:2", 16), ("Main", 16), ("Main 4:4:4", 16): return nil
        default: return chromaName + bitDepthSuffix
        }
    }

    private var suffixOfIntra: String { one_picture_only_constraint_flag ? " Still Picture" : " Intra" }
}
