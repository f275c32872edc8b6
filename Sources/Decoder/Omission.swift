/// Why a decoded picture is not output.
enum Omission {
    /// Decoding has just begun, and the picture is not correct yet.
    case beforeEntry
    /// The same, after a loss.
    case frozen
    /// The stream itself hides it.
    case withheld
}
