import ArgumentParser
import CamDiagnostics
import CamCommandLine

/// `camrec devices`
struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists cameras and their formats, and encoders and their capabilities.",
        usage: "camrec devices [--controls] [--json]")

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Flag(help: "Include each camera's controls, as --control takes them.")
    var controls = false

    func run() throws {
        let inventory = Inventory.take(withControls: controls)
        if json {
            try Printout.write(JSONText.of(inventory))
        } else {
            try Printout.write(lines: inventory.text)
        }
        if inventory.leavesThread { ExitStatus.done.endProcess() }
    }
}
