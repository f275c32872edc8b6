import CamPlatform

/// A player that runs on another thread.
///
/// `@unchecked Sendable`: only that thread uses the player and `failure` until it is joined.
final class PlayTask: @unchecked Sendable {
    /// Why it ended; read it after the thread is joined.
    private(set) var failure: PlayError?
    private let player: Player
    private let presentation: Presentation

    private let ended: Interruption

    /// - Parameter ended: raised when `run` has finished.
    init(_ player: Player, _ presentation: Presentation, ended: Interruption) {
        (self.player, self.presentation, self.ended) = (player, presentation, ended)
    }

    /// Plays to the end.
    func run() {
        do throws(PlayError) { try player.run() } catch { failure = error }
        presentation.finish()
        ended.raise()
    }
}
