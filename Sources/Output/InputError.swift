import Glibc

/// Why an input could not be read. `description` is one line: thing, cause, next step.
public struct InputError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        case notOpened(errno: Int32)
        /// A folder, a pipe or a device, which cannot be read twice.
        case notAFile
        case readFailed(errno: Int32)
        /// The file was truncated while it was read.
        case shrunk
        /// The file's content is invalid; the text says how.
        case malformed(String)
        /// The file contradicts the request; the text says how.
        case contradiction(String)
        /// libavformat, which containers need, is missing.
        case noContainerLibrary(name: String, reason: String)
        /// Reading was interrupted.
        case interrupted
    }

    /// The cause.
    public let kind: Kind
    /// The path.
    public let input: String

    /// An error of an input.
    public init(_ kind: Kind, input: String) {
        self.kind = kind
        self.input = input
    }

    /// What is wrong, without the file's name.
    public var problem: String {
        if case .malformed(let problem) = kind { problem } else { description }
    }

    public var description: String {
        switch kind {
        case .notOpened(ENOENT) where input.contains("://"):
            "\(input): this command reads files, not addresses; save the stream first: camplay --save FILE tcp://HOST:PORT"
        case .notOpened(ENOENT): "\(input): no such file; check the name"
        case .notOpened(let code):
            "cannot open \(input): \(String(cString: strerror(code))); check its permissions"
        case .notAFile: "\(input) is not a file; give a recorded file"
        case .readFailed(let code):
            "\(input): reading failed: \(String(cString: strerror(code))); check the disk"
        case .shrunk: "\(input) became shorter while it was read: another program is changing it; read a copy"
        case .malformed(let problem), .contradiction(let problem): "\(input): \(problem)"
        case .noContainerLibrary(let name, let reason):
            "cannot read \(input): containers need \(name) (\(reason)); install \(ContainerLibrary.package(of: name))"
        case .interrupted: "\(input): stopped while reading"
        }
    }
}
