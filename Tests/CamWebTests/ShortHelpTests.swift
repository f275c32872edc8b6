import CamCommandLine
import Testing

@testable import camweb

/// The help of camweb that fits a screen.
@Suite struct ShortHelpTests {
    @Test("its examples and options exist")
    func content() {
        let help = Camweb.shortHelp
        #expect(help.text.count { $0 == "\n" } <= 40)
        #expect(help.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(help.examples.count == 6 && help.options.count == 11)
        for example in help.examples {
            let words = example.text.split(separator: " ").map(String.init)
            #expect(throws: Never.self, "\(example.text)") { try Camweb.parse(Array(words.dropFirst())) }
        }
        let names = CommandOptions(of: Camweb.self).names
        for option in help.options {
            #expect(names.contains(String(option.text.prefix { $0 != " " }.dropFirst(2))), "\(option.text)")
        }
    }
}
