import Glibc

/// A terminal that does not show what is typed, until it is released.
struct SilentTerminal: ~Copyable {
    private let descriptor: Int32
    private let before: termios

    /// Nil if the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        (self.descriptor, before) = (descriptor, settings)
        // Without signals, which would end the program before the terminal is as it was.
        settings.c_lflag &= ~tcflag_t(ECHO | ISIG)
        settings.c_lflag |= tcflag_t(ICANON)
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }

    /// Writes to the terminal.
    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    deinit {
        var settings = before
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
