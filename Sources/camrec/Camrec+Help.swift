import ArgumentParser
import CamCommandLine

extension Camrec {
    /// What `-h` prints.
    static var shortHelp: ShortHelp {
        ShortHelp(
            "camrec records a camera as H.264 or H.265, on the GPU if there is one.",
            examples: [
                .init("camrec out.mkv", "the first camera, until Ctrl-C"),
                .init("camrec --duration 1h --bitrate 4M out.mp4", "an hour at 4 Mbit/s"),
                .init("camrec --size 1280x720 --fps 30 out.h264", "a size and a frame rate"),
                .init("camrec --segment 10m --keep 7d %F/%H%M.mkv", "ten minutes a file, for a week"),
                .init("camrec --listen 9982", "live: camplay tcp://127.0.0.1:9982"),
                .init("camrec --device test - | ffplay -f h264 -", "the test picture, into a player"),
            ],
            options: [
                .init(
                    "--device DEVICE",
                    "a camera, test for the test picture, or FILE.y4m; default: the first camera"),
                .init("--size WxH", "the size of the picture: 1280x720"),
                .init("--fps F", "frames a second: 30, 29.97"),
                .init("--duration TIME", "stop after 90s, 10m, 1h30m"),
                .init("--bitrate RATE", "average bit rate: 4M, 800k"),
                .init("--codec CODEC", "h264 or hevc; default: from the output's name, else h264"),
                .init("--segment TIME", "begin a new file every 10m"),
                .init("--keep TIME|BYTES|N", "remove files older than 7d, beyond 100G, or beyond 50 files"),
                .init("--listen [HOST:]PORT", "let players watch; 0.0.0.0:9982 for those on other machines"),
                .init("--overwrite", "replace an existing file"),
            ],
            more: [
                .init("camrec devices", "cameras with their formats, and encoders"),
                .init("camrec doctor", "what is missing for a recording"),
                .init("camrec --help", "every option"),
                .init("camrec help TOPIC", HelpTopics(wholeHelp).names.joined(separator: ", ")),
                .init("camrec help COMMAND", commandNames.joined(separator: ", ")),
                .init("man camrec", "the manual"),
            ])
    }

    /// The answer to `-h`, `help` or `help TOPIC`; nil for any other command line, and for other commands.
    static func helpAnswer(to given: CommandLineWords) -> HelpAnswer? {
        let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard given.command == RecordCommand.self,
            !given.words.dropFirst().contains(where: { given.words[0] == "help" && commands.contains($0) })
        else { return nil }
        return ShortHelp.answer(to: given.words, short: shortHelp, help: wholeHelp)
    }

    /// The commands that the help shows.
    private static var commandNames: [String] {
        configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .compactMap { $0.configuration.commandName }
    }

    /// What `--help` prints.
    private static var wholeHelp: String { RecordCommand.helpMessage() }
}
