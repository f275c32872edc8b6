/// The result of `camrec doctor`: the state of each part that a recording needs, and whether a recording
/// would work.
package struct Diagnosis: Sendable, Encodable {
    /// The problem that prevents every recording.
    package enum Obstacle: String, Sendable, Encodable {
        case noCamera, noPermission, busy, noEncoder, noRoom
    }

    /// In the order of their areas.
    package let findings: [Finding]
    /// Nil if a recording would work.
    package let obstacle: Obstacle?
    /// Whether a thread hangs in a driver. Normal cleanup at the end of the process may then hang, too.
    package let hasHungThread: Bool

    private enum CodingKeys: CodingKey { case findings, obstacle }

    /// Checks this machine, as this process sees it.
    /// - Parameters:
    ///   - folder: the folder of future recordings.
    ///   - checkSettings: evaluates a settings file.
    package static func make(
        folder: String, checkSettings: @escaping (String) -> SettingsCheck
    ) -> Diagnosis {
        let files = MachineFiles()
        let environment = RuntimeEnvironment(files)
        let deviceAccess = DeviceAccess(user: .current(), environment: environment)
        let encoders = EncoderCheck(files: files, deviceAccess: deviceAccess).look()
        return Diagnosis(
            environment.findings + [deviceAccess.user.finding]
                + CameraCheck(files: files, deviceAccess: deviceAccess).findings()
                + MicrophoneCheck(deviceAccess: deviceAccess).findings()
                + encoders.findings
                + ServiceCheck(files: files, checkSettings: checkSettings).findings()
                + DiskCheck.findings(folder: folder, files: files), hasHungThread: encoders.hasHungThread)
    }

    init(_ findings: [Finding], hasHungThread: Bool = false) {
        self.findings = findings
        self.hasHungThread = hasHungThread
        func isBroken(_ area: Finding.Area) -> Bool {
            let verdicts = findings.filter { $0.area == area }.map(\.verdict)
            return verdicts.contains(.broken) && !verdicts.contains(.fine)
        }
        obstacle =
            isBroken(.cameras)
            ? Self.obstacle(findings.filter { $0.area == .cameras })
            : isBroken(.encoders) ? .noEncoder : isBroken(.disk) ? .noRoom : nil
    }

    /// Why no camera works.
    private static func obstacle(_ cameras: [Finding]) -> Obstacle {
        if cameras.contains(where: { $0.message.hasPrefix(DeviceAccess.refusal) }) { return .noPermission }
        return cameras.contains { $0.message.hasPrefix(DeviceAccess.occupation) } ? .busy : .noCamera
    }
}

// MARK: Findings

/// The result of one check.
package struct Finding: Sendable, Equatable, Encodable {
    /// The part of a recording that a finding concerns.
    package enum Area: String, Sendable, Encodable, CaseIterable {
        case machine, cameras, microphones, encoders, services, disk
    }

    /// The severity of a finding.
    package enum Verdict: String, Sendable, Encodable {
        case fine
        /// Recording works, but the user should know this.
        case note
        /// The thing does not work; another camera or encoder may.
        case broken
    }

    package let area: Area
    package let verdict: Verdict
    /// The thing: a device, a file, a folder.
    package let subject: String
    /// The state with its cause, in one line.
    package let message: String
    /// The remedy: a command, or an instruction. Nil if nothing needs to be fixed.
    package let remedy: String?

    init(_ area: Area, _ verdict: Verdict, _ subject: String, _ message: String, remedy: String? = nil) {
        self.area = area
        self.verdict = verdict
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }
}

// MARK: Text

extension Diagnosis {
    /// The diagnosis as text, without a trailing newline: grouped by area, each problem followed by its
    /// remedy.
    package var text: String {
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
