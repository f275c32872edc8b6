/// The version of camrec and its programs.
public enum Version {
    /// As `--version` prints it.
    public static let current = "0.1.0"
}
