import Glibc
import Output
import Terminal

/// Standard output, written as often as its user wishes.
struct StandardOutput {
    private var text = ""

    /// Adds a line.
    mutating func add(_ line: String) { text += line + "\n" }

    /// Adds text without a newline.
    mutating func addPart(_ part: String) { text += part }

    /// Writes what was added.
    mutating func flush() throws(InspectSession.Failure) {
        guard !text.isEmpty else { return }
        defer { text.removeAll(keepingCapacity: true) }
        guard let code = DescriptorWriter.write(text, to: STDOUT_FILENO) else { return }
        // Whoever looks at the first lines only, as head does, has not failed.
        if code == EPIPE { throw .unread }
        throw .output(OutputError(writeFailed: code, output: "standard output"))
    }
}
