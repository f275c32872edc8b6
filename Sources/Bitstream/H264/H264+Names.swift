extension H264 {
    /// The name of a level (Table A-1), like "1b", "3", "4.1".
    static func levelName(_ level_idc: Int, profile_idc: Int, constraint_set3_flag: Bool) -> String {
        let isLevel1b =
            switch profile_idc {
            case 66, 77, 88: level_idc == 11 && constraint_set3_flag
            default: level_idc == 9
            }
        if isLevel1b { return "1b" }
        return level_idc % 10 == 0 ? "\(level_idc / 10)" : "\(level_idc / 10).\(level_idc % 10)"
    }

    /// The name of a profile (A.2, F.10, G.10, H.10), like "Constrained Baseline", or its number if it has no
    /// name.
    static func profileName(
        _ profile_idc: Int, constraint_set1_flag: Bool, constraint_set3_flag: Bool,
        constraint_set4_flag: Bool, constraint_set5_flag: Bool
    ) -> String {
        switch profile_idc {
        case 66: constraint_set1_flag ? "Constrained Baseline" : "Baseline"
        case 77: "Main"
        case 88: "Extended"
        case 100:
            switch (constraint_set4_flag, constraint_set5_flag) {
            case (true, true): "Constrained High"
            case (true, false): "Progressive High"
            default: "High"
            }
        case 110:
            constraint_set3_flag ? "High 10 Intra" : constraint_set4_flag ? "Progressive High 10" : "High 10"
        case 122: constraint_set3_flag ? "High 4:2:2 Intra" : "High 4:2:2"
        case 244: constraint_set3_flag ? "High 4:4:4 Intra" : "High 4:4:4 Predictive"
        case 44: "CAVLC 4:4:4 Intra"
        case 83: constraint_set5_flag ? "Scalable Constrained Baseline" : "Scalable Baseline"
        case 86:
            constraint_set3_flag
                ? "Scalable High Intra" : constraint_set5_flag ? "Scalable Constrained High" : "Scalable High"
        case 118: "Multiview High"
        case 128: "Stereo High"
        case 134: "MFC High"
        case 135: "MFC Depth High"
        case 138: "Multiview Depth High"
        case 139: "Enhanced Multiview Depth High"
        default: "profile \(profile_idc)"
        }
    }
}
