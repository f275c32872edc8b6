/// The results of `camrec doctor`: each part that a recording needs, and whether a recording would work.
public struct Diagnosis: Sendable, Encodable {
    /// What would keep every recording from working.
    public enum Obstacle: String, Sendable, Encodable {
        case noCamera, noPermission, busy, noEncoder, noRoom
    }

    /// In the order of their areas.
    public let findings: [Finding]
    /// Nil if a recording would work.
    public let obstacle: Obstacle?
    /// Whether a thread hangs in a driver: normal cleanup when the process ends may then hang as well.
    public let leavesThread: Bool

    private enum CodingKeys: CodingKey { case findings, obstacle }

    /// Checks this machine, as this process sees it.
    /// - Parameters:
    ///   - folder: where recordings will go.
    ///   - checkSettings: evaluates a settings file.
    public static func make(
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
                + DiskCheck.findings(folder: folder, files: files), leavesThread: encoders.leavesThread)
    }

    init(_ findings: [Finding], leavesThread: Bool = false) {
        self.findings = findings
        self.leavesThread = leavesThread
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
