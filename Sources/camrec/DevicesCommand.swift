import ArgumentParser
import Diagnostics
import FoundationEssentials

/// `camrec devices`
struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists cameras with their formats, and encoders with what they can do.")

    @Flag(help: "As JSON, for programs.")
    var json = false

    func run() throws {
        let inventory = Inventory.take()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(inventory), as: UTF8.self))
        } else {
            print(inventory.text)
        }
    }
}
