import CamNetworking
import CamCommandLine
import CamWeb

/// The exit codes of camweb's errors.
extension ExitStatus {
    init(_ error: WebError) {
        self =
            switch error {
            case .notLoopback, .sameName: .usage
            case .network(let error):
                switch error.kind {
                case .notListening: .cannotCreate
                default: .inputOutput
                }
            }
    }
}
