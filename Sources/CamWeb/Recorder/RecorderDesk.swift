import CamNetworking
import NIOCore
import NIOHTTP1

/// Answers requests about a camera's recorder. Used on the event loop.
struct RecorderDesk {
    private let link: RecorderLink
    private let authority: String

    /// How long a camera may take to set a control.
    private static let cameraPatience = TimeAmount.seconds(15)

    init(_ feed: CameraFeed, authority: String) throws(Refusal) {
        guard let link = feed.recorder else { throw .noControlSocket }
        (self.link, self.authority) = (link, authority)
    }

    /// Answers a request for a resource.
    func answer(_ target: RecorderTarget) throws(Refusal) -> EventLoopFuture<Response> {
        switch target {
        case .statistics: return response(to: link.ask(.stats)) { json($0.line) }
        case .controls: return response(to: link.ask(.controls)) { json($0.line) }
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
        guard let command = form.flatMap(RecorderCommand.init) else { throw .unknownCommand }
        return response(to: link.send(command.line, patience: Self.cameraPatience)) { json($0.line) }
    }

    private func json(_ body: ByteBuffer) -> Response {
        Response(type: "application/json", body: body, authority: authority)
    }

    private func response(
        to answer: EventLoopFuture<ControlRequest.Answer>,
        _ make: @escaping (ControlRequest.Answer) -> Response
    ) -> EventLoopFuture<Response> {
        let isolated = answer.assumeIsolated()
        return isolated.map(make).flatMapErrorThrowing { error in
            guard let failure = error as? ControlRequest.Failure else {
                return Response(Refusal.unavailable("the recorder does not answer"))
            }
            return Response(
                failure.isRefusal ? .refused(failure.reason) : .unavailable("the recorder: \(failure.reason)")
            )
        }.nonisolated()
    }
}

extension Refusal {
    static let noControlSocket = Refusal(
        status: .notFound,
        reason: "camweb knows no control socket of this recorder; add control-socket to its settings, or "
            + ",control=PATH after its address")
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
        Refusal(status: .conflict, reason: String(reason.prefix(longestReason)))
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

    private static let longestValue = 256

    /// Reads a form; nil for an unknown command or a malformed value.
    init?(_ form: FormBody) {
        switch form["command"] {
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

// MARK: Paths

/// A resource of a camera's recorder.
enum RecorderTarget: String, Hashable, Sendable, CaseIterable {
    /// The statistics of the recording, as JSON.
    case statistics = "stats.json"
    /// The controls of the camera, as JSON.
    case controls = "controls.json"
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
