/// What a browser shows to prove that it has logged in: 256 random bits.
struct SessionToken: Hashable, Sendable {
    /// 64 hexadecimal digits.
    let text: String

    private static let length = 64

    /// Makes one that nobody can guess.
    init() {
        // The system's generator, getrandom(2).
        var generator = SystemRandomNumberGenerator()
        text = (0..<4).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Reads one; nil if it cannot be one.
    init?(_ text: String) {
        guard text.utf8.count == Self.length,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.text = text
    }
}
