import CamControlProtocol
import CamNetworking
import CamPlatform
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// Answers requests about a camera's recorder. Used on the event loop.
struct RecorderRequestHandler {
    private let link: RecorderLink
    private let rights: Rights
    private let catalog: RecordingCatalog?
    private let authority: String

    /// How long a camera may take to set a control.
    private static let cameraPatience = TimeAmount.seconds(15)

    init(_ feed: CameraFeed, _ rights: Rights, authority: String) throws(Refusal) {
        guard let link = feed.recorder else { throw .noControlSocket }
        (self.link, self.rights, self.authority, catalog) = (link, rights, authority, feed.recordings)
    }

    /// Answers a request for a resource.
    func answer(_ target: RecorderTarget) throws(Refusal) -> EventLoopFuture<Response> {
        switch target {
        case .statistics: return response(to: link.ask(.stats)) { json($0.line) }
        case .controls: return response(to: link.ask(.controls)) { json($0.line) }
        case .kept: return response(to: link.ask(.kept)) { json(ByteBuffer(string: kept($0.line))) }
        case .findings: return response(to: link.ask(.doctor)) { json($0.body) }
        case .snapshot:
            return response(to: link.ask(.snapshot)) { answer in
                Response(type: "image/jpeg", body: answer.body, authority: authority)
            }
        case .command: throw .onlyForms
        }
    }

    /// Carries out a form's command.
    func carryOut(_ form: FormBody?) throws(Refusal) -> EventLoopFuture<Response> {
        let path = { name in catalog?.path(of: name) }
        guard let command = form.flatMap({ RecorderCommand($0, path: path) }) else { throw .unknownCommand }
        return response(
            to: link.send(command.line, patience: Self.cameraPatience), without: command.substitute
        ) { json($0.line) }
    }

    /// The recordings that are kept, for the page: by their names in the list of recordings.
    private func kept(_ line: ByteBuffer) -> String {
        let reply = try? JSONDecoder().decode(ControlReply.self, from: Data(line.readableBytesView))
        return JSON.text(of: KeptList(reply?.kept, name: { catalog?.name(of: $0) }))
    }

    private func json(_ body: ByteBuffer) -> Response {
        Response(type: "application/json", body: body, authority: authority)
    }

    private func response(
        to answer: EventLoopFuture<ControlRequest.Answer>, without substitute: String? = nil,
        _ make: @escaping (ControlRequest.Answer) -> Response
    ) -> EventLoopFuture<Response> {
        let isolated = answer.assumeIsolated()
        return isolated.map(make).flatMapErrorThrowing { error in
            guard let failure = error as? ControlRequest.Failure else {
                return Response(Refusal.unavailable("the recorder does not answer"), for: rights)
            }
            if failure.isRefusal { return Response(.refused(failure.reason), for: rights) }
            let advice = substitute.map { "; if it does not run: \($0)" } ?? ""
            return Response(.unavailable("the recorder: \(failure.reason)\(advice)"), for: rights)
        }.nonisolated()
    }
}

extension Refusal {
    static let noControlSocket = Refusal(
        status: .notFound,
        reason: "camweb knows no control socket of this recorder; add control-socket to its settings, or "
            + ",control=PATH after its address",
        words: "no picture can be saved from this camera; ask an administrator")
    static let unknownCommand = Refusal(
        status: .badRequest, reason: "unknown command; reload the page")
    static let onlyForms = Refusal(
        status: .methodNotAllowed, reason: "this takes the page's forms, with POST",
        headers: ["Allow": "POST"])
    static let noChanges = Refusal(
        status: .forbidden,
        reason: "camweb only shows, and changes nothing; start it with --password-file or --allow-changes")

    /// The reason that the recorder gives.
    static func refused(_ reason: String) -> Refusal {
        Refusal(
            status: .conflict, reason: String(reason.prefix(longestReason)),
            words: "the camera refuses; ask an administrator")
    }

    /// More than any recorder says.
    private static let longestReason = 1000
}

// MARK: Commands

/// A command of the page, as a line for the control socket. Browsers cannot send other commands, such as
/// `stop`.
struct RecorderCommand: Hashable, Sendable {
    /// The command without its newline.
    let line: String
    /// What people may type if no recorder runs; nil for nothing.
    private(set) var substitute: String?

    private static let longestValue = 256
    /// The recorder refuses longer lines.
    private static let longestLine = 1000

    /// Reads a form; nil for an unknown command or a malformed value.
    /// - Parameter path: returns the path of a recording from the root; nil for a name that none can have.
    init?(_ form: FormBody, path: (String) -> String? = { _ in nil }) {
        switch form["command"] {
        case let word? where word == "keep" || word == "release":
            guard let first = form["first"].flatMap(path) else { return nil }
            let last = form["last"].flatMap(path)
            guard last != nil || form["last"] == nil else { return nil }
            line = ([word + " " + first] + [last].compactMap(\.self)).joined(separator: "\t")
            guard line.utf8.count <= Self.longestLine else { return nil }
            let range = [last.map { ["--to", $0] } ?? [], [first]].joined().map(\.quotedForShell)
            substitute = "camrec keep \(word == "keep" ? "" : "--release ")\(range.joined(separator: " "))"
        case "keyframe": line = "keyframe"
        case "trigger": line = "trigger"
        case "pause": line = "pause"
        case "resume": line = "resume"
        case "bitrate":
            guard let rate = form["value"], Self.isRate(rate) else { return nil }
            line = "bitrate \(rate)"
        case "control":
            guard let name = form["name"], let value = form["value"], Self.isName(name),
                Self.isValue(value)
            else { return nil }
            line = "control \(name)=\(value)"
        default: return nil
        }
    }

    /// `2000000`, `2500k`, `2.5M`.
    private static func isRate(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { isDigit($0) || "kM.".utf8.contains($0) }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// Rejects a comma, which would begin another control, and a line break, which would begin another
    /// command.
    private static func isValue(_ text: String) -> Bool {
        text.utf8.count <= longestValue && text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: ",") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension String {
    /// The text as one word of a shell.
    fileprivate var quotedForShell: String {
        let isPlain = utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return byte < 0x80
                && (character.isLetter || character.isNumber || "/._-+,=@%:".contains(character))
        }
        return isPlain
            ? self
            : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

// MARK: Kept recordings

/// The recordings that are kept, for the page.
struct KeptList: Encodable {
    let count: Int
    let bytes: Int
    let recordings: [Recording]

    struct Recording: Encodable {
        /// As in the list of recordings; nil if it is elsewhere.
        let name: String?
        let bytes: Int?
        /// In microseconds since 1970.
        let begun: Int64?
    }

    /// - Parameter name: returns the name of the recording at a path.
    init(_ report: KeptReport?, name: (String) -> String?) {
        (count, bytes) = (report?.count ?? 0, report?.bytes ?? 0)
        recordings = (report?.recordings ?? []).map {
            Recording(
                name: name($0.path), bytes: $0.bytes,
                begun: $0.begun.flatMap(WallTime.init(iso8601:))?.microseconds)
        }
    }
}

// MARK: Paths

/// A resource of a camera's recorder.
enum RecorderTarget: String, Hashable, Sendable, CaseIterable {
    /// The statistics of the recording, as JSON.
    case statistics = "stats.json"
    /// The controls of the camera, as JSON.
    case controls = "controls.json"
    /// The recordings that are kept, as JSON.
    case kept = "kept.json"
    /// The findings of `doctor`, as JSON.
    case findings = "doctor.json"
    /// A current picture, as JPEG.
    case snapshot = "snapshot.jpg"
    /// Accepts a form with a command.
    case command = "command"

    /// Reads `NAME/stats.json` and the like.
    /// - Returns: the name of the camera and the resource; nil for an unknown resource.
    static func read(_ path: Substring) -> (camera: String, target: RecorderTarget)? {
        guard let slash = path.lastIndex(of: "/"), let camera = PercentEncoding.decoded(path[..<slash]),
            let target = RecorderTarget(rawValue: String(path[path.index(after: slash)...]))
        else { return nil }
        return (camera, target)
    }
}
