/// The result of one check.
public struct Finding: Sendable, Equatable, Encodable {
    /// The part of a recording that it concerns.
    public enum Area: String, Sendable, Encodable, CaseIterable {
        case machine, cameras, microphones, encoders, services, disk
    }

    /// How it is.
    public enum Verdict: String, Sendable, Encodable {
        case fine
        /// Worth knowing, but recording works.
        case note
        /// It does not work; another camera or encoder may.
        case broken
    }

    public let area: Area
    public let verdict: Verdict
    /// The thing: a device, a file, a folder.
    public let subject: String
    /// How it is, and why, in one line.
    public let message: String
    /// The remedy: a command, or an instruction. Nil if nothing needs to be fixed.
    public let remedy: String?

    init(_ area: Area, _ verdict: Verdict, _ subject: String, _ message: String, remedy: String? = nil) {
        self.area = area
        self.verdict = verdict
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }
}
