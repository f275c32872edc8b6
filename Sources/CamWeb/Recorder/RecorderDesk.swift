import CamNetworking
import NIOCore
import NIOHTTP1

/// Answers requests about a camera's recorder. Used on the event loop.
struct RecorderDesk {
    private let link: RecorderLink
    private let authority: String

    /// How long a camera may take for a control.
    private static let cameraPatience = TimeAmount.seconds(15)

    init(_ feed: CameraFeed, authority: String) throws(Refusal) {
        guard let link = feed.recorder else { throw .noControlSocket }
        (self.link, self.authority) = (link, authority)
    }

    /// Answers a request that changes nothing.
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

    /// The recorder's own reason.
    static func refused(_ reason: String) -> Refusal {
        Refusal(status: .conflict, reason: String(reason.prefix(longestReason)))
    }

    /// More than any recorder says.
    private static let longestReason = 1000
}
