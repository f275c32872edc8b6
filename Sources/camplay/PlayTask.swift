import Threading

/// A player that runs on another thread.
///
/// `@unchecked Sendable`: the player is used by that thread alone until it was joined, and so is `failure`.
final class PlayTask: @unchecked Sendable {
    /// Why it ended, once the thread was joined.
    private(set) var failure: PlayError?
    private let player: Player
    private let presentation: Presentation

    private let ended: Interruption

    /// - Parameter ended: raised when `run` is done.
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
