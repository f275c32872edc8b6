/// What a picture is counted as that is decoded and not handed on.
enum Omission {
    /// Decoding has just begun, and the picture is not right yet.
    case beforeEntry
    /// The same, after a loss.
    case frozen
    /// The stream itself hides it.
    case withheld
}
