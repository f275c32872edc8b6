extension Diagnosis {
    /// The diagnosis as text, without a trailing newline: grouped by area, each problem followed by its
    /// remedy.
    public var text: String {
        var lines: [String] = []
        for area in Finding.Area.allCases {
            let own = findings.filter { $0.area == area }
            guard !own.isEmpty else { continue }
            lines.append(area.title)
            for finding in own {
                lines.append("  \(finding.verdict.mark)  \(finding.subject): \(finding.message)")
                if let remedy = finding.remedy { lines.append("          \(remedy)") }
            }
        }
        lines.append(obstacle.map { "A recording would not work: \($0.text)" } ?? "A recording would work")
        return lines.joined(separator: "\n")
    }
}

extension Finding.Area {
    fileprivate var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension Finding.Verdict {
    fileprivate var mark: String {
        switch self {
        case .fine: "ok  "
        case .note: "note"
        case .broken: "FAIL"
        }
    }
}

extension Diagnosis.Obstacle {
    fileprivate var text: String {
        switch self {
        case .noCamera: "no camera"
        case .noPermission: "no permission for a camera"
        case .busy: "the camera is in use"
        case .noEncoder: "no encoder"
        case .noRoom: "no room for it"
        }
    }
}
