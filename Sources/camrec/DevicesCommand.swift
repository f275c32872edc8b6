import ArgumentParser
import Diagnostics
import Glibc
import Terminal

/// `camrec devices`
struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists cameras with their formats, and encoders with what they can do.",
        usage: "camrec devices [--controls] [--json]")

    @Flag(help: "As JSON, for programs.")
    var json = false

    @Flag(help: "With each camera's controls, as --control takes them.")
    var controls = false

    func run() throws {
        let inventory = Inventory.take(withControls: controls)
        let text = json ? JSONText.of(inventory) : Self.printable(inventory.text) + "\n"
        signal(SIGPIPE, SIG_IGN)
        guard let code = text.map({ DescriptorWriter.write($0, to: STDOUT_FILENO) }) ?? EINVAL else { return }
        // Whoever looks at the first lines only, as head does, has not failed.
        if code == EPIPE { return }
        Console(isQuiet: false, isVerbose: false).fail(
            "standard output: writing failed: \(String(cString: strerror(code))); check where it leads")
        throw ExitStatus.inputOutput
    }

    /// Names are a driver's; lines are ours.
    private static func printable(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
            .joined(separator: "\n")
    }
}
