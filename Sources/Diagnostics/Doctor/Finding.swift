/// One thing that was looked at.
public struct Finding: Sendable, Equatable, Encodable {
    /// What part of a recording it concerns.
    public enum Area: String, Sendable, Encodable, CaseIterable {
        case machine, cameras, encoders, services, disk
    }

    /// How it is.
    public enum Verdict: String, Sendable, Encodable {
        case fine
        /// Good to know; a recording works all the same.
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
    /// What mends it: a command, or an instruction. Nil if there is nothing to mend.
    public let remedy: String?

    init(_ area: Area, _ verdict: Verdict, _ subject: String, _ message: String, remedy: String? = nil) {
        self.area = area
        self.verdict = verdict
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }
}
