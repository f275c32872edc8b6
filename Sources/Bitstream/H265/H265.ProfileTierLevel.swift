extension H265 {
    /// Profile, tier and level (7.3.3, 7.4.4) of the whole stream, and of its temporal sub-layers if they
    /// differ.
    public struct ProfileTierLevel: Equatable, Sendable {
        /// The elements whose names begin with `general_`, up to `general_level_idc`.
        public let general: Profile
        /// Thirty times the level; see `levelName`.
        public let general_level_idc: Int
        /// The sub-layers below the highest, by rising `TemporalId`.
        public let subLayers: [SubLayer]

        /// The elements whose names begin with `sub_layer_`.
        public struct SubLayer: Equatable, Sendable {
            /// `nil` if the profile is not sent.
            public let profile: Profile?
            /// Thirty times the level; `nil` if it is not sent.
            public let sub_layer_level_idc: Int?
        }

        /// A profile and the tier. In the standard, the names of the elements begin with `general_` or
        /// `sub_layer_`.
        public struct Profile: Equatable, Sendable {
            /// 0; other values are reserved.
            public let profile_space: Int
            /// Whether the tier is High and not Main.
            public let tier_flag: Bool
            /// The profile (A.3); see `name`.
            public let profile_idc: Int
            /// `profile_compatibility_flag`: the numbers of the profiles that the stream obeys.
            public let compatibleProfiles: Set<Int>
            /// Whether the source is progressive.
            public let progressive_source_flag: Bool
            /// Whether the source is interlaced.
            public let interlaced_source_flag: Bool
            /// Whether the stream has no frame packing arrangement messages.
            public let non_packed_constraint_flag: Bool
            /// Whether pictures are frames.
            public let frame_only_constraint_flag: Bool
            /// The limits of a format range extensions profile or a later profile; `nil` in older profiles.
            public let constraints: Constraints?
            /// Whether the stream has a single picture, in the profiles of `constraints` and in Main 10.
            public let one_picture_only_constraint_flag: Bool
            /// Whether the independent non-base layer decoding capability is needed.
            public let inbld_flag: Bool
        }

        /// The constraints that a stream of a format range extensions profile observes (A.3.5).
        public struct Constraints: Equatable, Sendable {
            /// At most 12 bits a sample.
            public let max_12bit_constraint_flag: Bool
            /// At most 10 bits a sample.
            public let max_10bit_constraint_flag: Bool
            /// At most 8 bits a sample.
            public let max_8bit_constraint_flag: Bool
            /// No more chroma than 4:2:2.
            public let max_422chroma_constraint_flag: Bool
            /// No more chroma than 4:2:0.
            public let max_420chroma_constraint_flag: Bool
            /// No chroma.
            public let max_monochrome_constraint_flag: Bool
            /// Intra pictures only.
            public let intra_constraint_flag: Bool
            /// Whether the bit rate obeys the lower limits.
            public let lower_bit_rate_constraint_flag: Bool
            /// At most 14 bits a sample; only in high throughput and screen content profiles.
            public let max_14bit_constraint_flag: Bool
        }
    }
}

extension H265.ProfileTierLevel {
    /// profile_tier_level() (7.3.3) with `profilePresentFlag` 1.
    init(_ reader: inout RBSPReader, maxNumSubLayersMinus1: Int) throws(SyntaxError) {
        general = try Profile(&reader, subLayer: nil)
        general_level_idc = try reader.u(8, "general_level_idc")
        var present: [(profile: Bool, level: Bool)] = []
        for i in 0..<maxNumSubLayersMinus1 {
            present.append(
                (
                    try reader.flag("sub_layer_profile_present_flag", i),
                    try reader.flag("sub_layer_level_present_flag", i)
                ))
        }
        if maxNumSubLayersMinus1 > 0 {
            for i in maxNumSubLayersMinus1..<8 { _ = try reader.u(2, "reserved_zero_2bits", i) }
        }
        var subLayers: [SubLayer] = []
        for (i, present) in present.enumerated() {
            subLayers.append(
                SubLayer(
                    profile: present.profile ? try Profile(&reader, subLayer: i) : nil,
                    sub_layer_level_idc: present.level ? try reader.u(8, "sub_layer_level_idc", i) : nil))
        }
        self.subLayers = subLayers
    }
}

/// Reads elements, naming them with the prefix for the stream or for a sub-layer.
private struct PrefixedReader: ~Copyable {
    private let subLayer: Int?

    init(subLayer: Int?) { self.subLayer = subLayer }

    func u(_ reader: inout RBSPReader, _ bitCount: Int, _ name: String) throws(SyntaxError) -> Int {
        if let subLayer { return try reader.u(bitCount, "sub_layer_" + name, subLayer) }
        return try reader.u(bitCount, "general_" + name)
    }

    func flag(_ reader: inout RBSPReader, _ name: String) throws(SyntaxError) -> Bool {
        try u(&reader, 1, name) == 1
    }

    func profileCompatibilityFlag(_ reader: inout RBSPReader, _ j: Int) throws(SyntaxError) -> Bool {
        if let subLayer { return try reader.flag("sub_layer_profile_compatibility_flag", subLayer, j) }
        return try reader.flag("general_profile_compatibility_flag", j)
    }
}

extension H265.ProfileTierLevel.Profile {
    fileprivate init(_ reader: inout RBSPReader, subLayer: Int?) throws(SyntaxError) {
        let prefixed = PrefixedReader(subLayer: subLayer)
        profile_space = try prefixed.u(&reader, 2, "profile_space")
        tier_flag = try prefixed.flag(&reader, "tier_flag")
        let profile_idc = try prefixed.u(&reader, 5, "profile_idc")
        self.profile_idc = profile_idc
        var compatible: Set<Int> = []
        for j in 0..<32 where try prefixed.profileCompatibilityFlag(&reader, j) { compatible.insert(j) }
        compatibleProfiles = compatible
        progressive_source_flag = try prefixed.flag(&reader, "progressive_source_flag")
        interlaced_source_flag = try prefixed.flag(&reader, "interlaced_source_flag")
        non_packed_constraint_flag = try prefixed.flag(&reader, "non_packed_constraint_flag")
        frame_only_constraint_flag = try prefixed.flag(&reader, "frame_only_constraint_flag")

        // The 44 bits that follow depend on the profile.
        func isAny(of profiles: [Int]) -> Bool {
            profiles.contains { $0 == profile_idc || compatible.contains($0) }
        }
        if isAny(of: Array(4...11)) {
            (constraints, one_picture_only_constraint_flag) = try H265.ProfileTierLevel.Constraints.read(
                &reader, prefixed, has14Bit: isAny(of: [5, 9, 10, 11]))
        } else if isAny(of: [2]) {
            constraints = nil
            _ = try prefixed.u(&reader, 7, "reserved_zero_7bits")
            one_picture_only_constraint_flag = try prefixed.flag(&reader, "one_picture_only_constraint_flag")
            _ = try prefixed.u(&reader, 35, "reserved_zero_35bits")
        } else {
            constraints = nil
            one_picture_only_constraint_flag = false
            _ = try prefixed.u(&reader, 43, "reserved_zero_43bits")
        }
        if isAny(of: [1, 2, 3, 4, 5, 9, 11]) {
            inbld_flag = try prefixed.flag(&reader, "inbld_flag")
        } else {
            inbld_flag = false
            _ = try prefixed.flag(&reader, "reserved_zero_bit")
        }
    }
}

extension H265.ProfileTierLevel.Constraints {
    fileprivate static func read(
        _ reader: inout RBSPReader, _ prefixed: borrowing PrefixedReader, has14Bit: Bool
    ) throws(SyntaxError) -> (Self, onePictureOnly: Bool) {
        let max12 = try prefixed.flag(&reader, "max_12bit_constraint_flag")
        let max10 = try prefixed.flag(&reader, "max_10bit_constraint_flag")
        let max8 = try prefixed.flag(&reader, "max_8bit_constraint_flag")
        let max422 = try prefixed.flag(&reader, "max_422chroma_constraint_flag")
        let max420 = try prefixed.flag(&reader, "max_420chroma_constraint_flag")
        let monochrome = try prefixed.flag(&reader, "max_monochrome_constraint_flag")
        let intra = try prefixed.flag(&reader, "intra_constraint_flag")
        let onePicture = try prefixed.flag(&reader, "one_picture_only_constraint_flag")
        let lowerBitRate = try prefixed.flag(&reader, "lower_bit_rate_constraint_flag")
        var max14 = false
        if has14Bit {
            max14 = try prefixed.flag(&reader, "max_14bit_constraint_flag")
            _ = try prefixed.u(&reader, 33, "reserved_zero_33bits")
        } else {
            _ = try prefixed.u(&reader, 34, "reserved_zero_34bits")
        }
        let constraints = Self(
            max_12bit_constraint_flag: max12, max_10bit_constraint_flag: max10,
            max_8bit_constraint_flag: max8, max_422chroma_constraint_flag: max422,
            max_420chroma_constraint_flag: max420, max_monochrome_constraint_flag: monochrome,
            intra_constraint_flag: intra, lower_bit_rate_constraint_flag: lowerBitRate,
            max_14bit_constraint_flag: max14)
        return (constraints, onePicture)
    }
}

// MARK: - Names

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
    /// The profile's name (A.3, G.11, H.11, I.11), such as "Main 4:2:2 10", or its number without a name.
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

    /// The profile family of a number (A.3, G.11, H.11, I.11); `nil` for a reserved number.
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
    /// The maximum number of bits of a sample.
    private var maximumBitDepth: Int {
        if max_8bit_constraint_flag { return 8 }
        if max_10bit_constraint_flag { return 10 }
        if max_12bit_constraint_flag { return 12 }
        return max_14bit_constraint_flag ? 14 : 16
    }

    /// The bit depth in the name of a profile, where 8 bits are not mentioned.
    fileprivate var bitDepthSuffix: String { maximumBitDepth == 8 ? "" : " \(maximumBitDepth)" }

    /// The chroma format in the name of a profile.
    fileprivate var chromaName: String {
        if max_monochrome_constraint_flag { return "Monochrome" }
        if max_420chroma_constraint_flag { return "Main" }
        return max_422chroma_constraint_flag ? "Main 4:2:2" : "Main 4:4:4"
    }

    /// The smallest profile of Table A.2 that matches the constraints.
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
