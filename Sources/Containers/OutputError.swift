import Glibc
import CamNetworking
import CamPlatform

/// Why an output could not be created or written. `description` is one line: thing, cause, next step.
public struct OutputError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Error, Sendable, Equatable {
        case exists
        /// Another writer has the file open.
        case inUse
        case notCreated(errno: Int32)
        /// The file is complete, but could not be renamed: it keeps this name.
        case notPublished(errno: Int32, keptAs: String)
        /// The file was complete, but had no name yet and could get none.
        indirect case lost(because: Kind)
        /// A link of this name belongs to another user, in a folder that others can write to.
        case untrustedLink(String)
        /// The named pipe has no reader.
        case noReader
        case diskFull
        /// The system allows no larger file.
        case tooLarge
        /// The same file was given for two purposes.
        case usedTwice(String)
        /// The other end of a pipe was closed.
        case closedPipe
        /// The reader of a pipe read nothing for this many seconds after the recording ended.
        case stalled(for: Duration)
        case writeFailed(errno: Int32)
        /// A write does not return.
        case blocked
        /// libavformat, which containers need, is missing.
        case noContainerLibrary(name: String, reason: String)
        /// libavformat gave up, in its own words.
        case containerFailed(detail: String)
        /// A recording in segments could not begin another file.
        case notContinued(errno: Int32)
        /// The file was removed while it was written.
        case removed
        /// The file system is no longer mounted.
        case volumeGone
        /// Another recorder manages the segments of this pattern.
        case journalInUse
        /// More is to stay free than the disk has in total.
        case neverFree(bytes: Int)
        /// The segments that are kept leave no room within the limits on all segments.
        case fullOfKept
        /// The file at the path of a pattern's journal is not a journal.
        case noJournal
        /// A folder of recordings cannot be read.
        case notRead(errno: Int32)
        /// Another user could have put it at the path of a pattern's journal.
        case untrustedJournal
        /// A file can only begin with an IDR.
        case noKeyframe
        /// The picture format changed, and this output cannot hold both.
        case formatChanged
        /// A socket could not be created.
        case network(NetworkError)
        /// No receiver accepted the stream; includes the last attempt's error, if there was one.
        case notTaken(because: NetworkError?)
    }

    /// The cause.
    public let kind: Kind
    /// The path, or "standard output".
    public let output: String

    /// An error of an output.
    public init(_ kind: Kind, output: String) {
        self.kind = kind
        self.output = output
    }

    /// For a write that failed with this errno.
    public init(writeFailed code: Int32, output: String) {
        self.init(Kind(writeFailed: code), output: output)
    }

    /// Whether nothing was created, as opposed to a failed write later.
    public var isCreation: Bool {
        switch kind {
        case .lost(let cause): OutputError(cause, output: output).isCreation
        case .exists, .inUse, .notCreated, .notPublished, .untrustedLink, .noReader, .usedTwice,
            .noContainerLibrary, .network, .journalInUse, .neverFree, .noJournal, .untrustedJournal:
            true
        default: false
        }
    }

    /// The error, reworded for a recording that was already in progress.
    package var asInterruption: OutputError {
        guard case .notCreated(let code) = kind else { return self }
        return OutputError(kind.isFullDisk ? .diskFull : .notContinued(errno: code), output: output)
    }

    public var description: String {
        switch kind {
        case .exists:
            "\(output): already exists; use another name, or --overwrite to replace it"
        case .inUse:
            "\(output): already being written, perhaps by another camrec; use another name"
        case .tooLarge:
            "\(output): the file has reached its size limit; raise 'ulimit -f', or record shorter files"
        case .usedTwice(let other):
            "\(output): given twice: it is also \(other); use another name"
        case .notCreated(EMFILE), .notCreated(ENFILE):
            "cannot create \(output): too many open files; raise 'ulimit -n'"
        case .notCreated(ENAMETOOLONG):
            "cannot create \(output): the name is too long; use a shorter one"
        case .notCreated(ENOENT):
            "cannot create \(output): no such folder; create it first"
        case .notCreated(EBADF):
            "\(output): closed, or not writable; redirect it, or use a file"
        case .notCreated(let code):
            "cannot create \(output): \(Self.cause(code, of: output)); \(Self.remedy(for: code) ?? Self.checkFolder)"
        case .notPublished(let code, let path):
            "cannot create \(output): \(Self.cause(code, of: output)); rename the complete file, \(path)"
        case .lost(let cause):
            "\(output): the finished file, which had no name yet, is lost: "
                + OutputError(cause, output: output).descriptionWithoutName
        case .untrustedLink(let link):
            "\(output): '\(link)' is another user's link in a folder that others can write to; give the path that it "
                + "leads to"
        case .noReader:
            "\(output): no program reads this pipe; start the reader first"
        case .diskFull:
            "\(output): the disk is full; free some space and try again"
        case .closedPipe:
            "\(output): the reader closed the pipe; the rest is lost"
        case .stalled(.zero):
            "\(output): its reader has stopped reading; the rest is lost"
        case .stalled(let time):
            "\(output): its reader stalled for \(time.components.seconds) s; the rest is lost"
        case .writeFailed(let code):
            "\(output): writing failed: \(String(cString: strerror(code))); \(Self.remedy(for: code) ?? "check the disk")"
        case .blocked:
            "\(output): stalled; pending data was lost; check the disk, or its "
                + "reader"
        case .noContainerLibrary(let name, let reason):
            "cannot create \(output): containers need \(name) (\(reason)); install "
                + "\(ContainerLibrary.package(of: name)), or record a raw stream"
        case .containerFailed(let detail):
            "\(output): libavformat failed: \(detail); record a raw stream instead"
        case .notContinued(let code):
            "cannot create \(output): \(Self.cause(code, of: output)); \(Self.remedy(for: code) ?? "check the disk")"
        case .removed:
            "\(output): removed while being written, so its content is lost; leave it until it is complete"
        case .volumeGone:
            "\(output): the disk that was mounted here is gone; mount it again"
        case .journalInUse:
            "\(output): another camrec manages these segments; use another name"
        case .neverFree(let bytes):
            "\(output): the disk has only \(bytes / 1_000_000) MB in total; lower --min-free"
        case .fullOfKept:
            "\(output): the recordings that are kept fill --keep; release some with 'camrec ctl SOCKET release PATH', or "
                + "raise --keep"
        case .noJournal:
            "\(output): named like a segment journal, but not one; remove it"
        case .notRead(ENOENT), .notRead(ENOTDIR):
            "\(output): no such folder; check the name"
        case .notRead(let code):
            "cannot read \(output): \(String(cString: strerror(code))); run as the owner of the recordings"
        case .untrustedJournal:
            "\(output): a segment journal of another user, in a folder that others can write to; remove it"
        case .noKeyframe:
            "\(output): no keyframe arrived, and a file must begin with one; use another --format"
        case .formatChanged:
            "\(output): the camera's picture format changed, and a container holds only one; record to a file or a raw "
                + "stream"
        case .network(let error): error.description
        case .notTaken(let cause?):
            "\(output): no receiver took the stream (\(cause.description(after: output)))"
        case .notTaken(nil):
            "\(output): no receiver took the stream; start the receiver and check the address"
        }
    }
}

extension OutputError {
    /// The description without the output's name ahead of the cause.
    private var descriptionWithoutName: String {
        let (text, name) = (description, "\(output): ")
        return text.hasPrefix(name) ? String(text.dropFirst(name.count)) : text
    }

    private static let checkFolder = "check the folder and its permissions"

    /// Characters that FAT, exFAT and NTFS refuse in names, and therefore SMB.
    private static let refusedCharacters = Set("\\:*?\"<>|")

    /// The cause in words. If the file system refuses a character in the name,
    /// the words include that character.
    private static func cause(_ code: Int32, of output: String) -> String {
        if code == EINVAL, let refused = output.first(where: refusedCharacters.contains) {
            return "the file system allows no '\(refused)' in names"
        }
        return String(cString: strerror(code))
    }

    /// The next step for a cause outside the disk; nil for other causes.
    private static func remedy(for code: Int32) -> String? {
        switch code {
        case ENOSPC, EDQUOT: "free some space"
        case EIO: "check the disk"
        case EROFS: "look for its errors with 'dmesg', then remount it with 'mount -o remount,rw'"
        case EMFILE, ENFILE: "raise 'ulimit -n'"
        case EACCES, EPERM, ENOENT, ENOTDIR: checkFolder
        case EINVAL, EILSEQ, ENAMETOOLONG: "use another name"
        case ENOTCONN, ESTALE: "mount it again"
        default: nil
        }
    }

    /// The condition of the output in a word or two: `disk full`, `read-only`.
    public var condition: String {
        switch kind {
        case .lost(let cause): OutputError(cause, output: output).condition
        case .diskFull, .fullOfKept, .notCreated(ENOSPC), .notCreated(EDQUOT): "disk full"
        case .writeFailed(EROFS), .notCreated(EROFS), .notContinued(EROFS): "read-only"
        case .notCreated(EMFILE), .notCreated(ENFILE), .notContinued(EMFILE), .notContinued(ENFILE):
            "too many open files"
        case .volumeGone: "disk gone"
        case .blocked, .stalled: "stalled"
        default: "failing"
        }
    }

    /// Whether the disk shows without being written to that the cause is gone: it has room again, or is writable.
    package var isVisibleOnDisk: Bool {
        switch kind {
        case .diskFull, .fullOfKept, .volumeGone, .writeFailed(EROFS): true
        case .notCreated(let code), .notContinued(let code):
            [EROFS, EACCES, EPERM, ENOENT, ENOTDIR, ENOSPC, EDQUOT].contains(code)
        default: false
        }
    }
}

extension OutputError.Kind {
    /// Whether there is no room for the file or for more data in it.
    package var isFullDisk: Bool {
        switch self {
        case .lost(let cause): cause.isFullDisk
        case .diskFull, .fullOfKept, .notCreated(ENOSPC), .notCreated(EDQUOT): true
        default: false
        }
    }
}

extension OutputError.Kind {
    /// For a write that failed with this errno.
    package init(writeFailed code: Int32) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .diskFull
            case EPIPE: .closedPipe
            case EFBIG: .tooLarge
            default: .writeFailed(errno: code)
            }
    }
}

/// A time in which an output cannot be written.
public struct OutputOutage: Sendable, Equatable {
    /// The latest failure.
    public var error: OutputError
    /// When it began.
    public let since: WallTime

    /// An outage that has not ended.
    public init(_ error: OutputError, since: WallTime) { (self.error, self.since) = (error, since) }
}
