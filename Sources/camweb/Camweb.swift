import ArgumentParser
import CamCommandLine
import CamNetworking
import CamPlatform
import CamWeb
import Glibc

/// The command: `camweb [options] [CAMERA...]`.
@main
struct Camweb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camweb",
        abstract: "Shows live cameras in a browser.",
        usage: "camweb [<options>] [<CAMERA> ...]",
        discussion: """
            Without a CAMERA, camweb shows this machine's services camrec@NAME: those whose settings, \
            /etc/camrec/NAME.conf, have a listen. CAMERA is where camrec --listen offers a stream: tcp://HOST:PORT or \
            unix:PATH, perhaps after NAME=. With ,small=ADDRESS after it, a stream of smaller pictures, several cameras are \
            shown with those until one is enlarged. With ,control=PATH at the end, the recorder's --control-socket, the \
            page shows the recording's figures and the camera's controls, and new viewers need not wait for a keyframe. \
            Open \
            http://127.0.0.1:8080 in a browser on this machine; from another one, use a tunnel: \
            ssh -L 8080:127.0.0.1:8080 HOST. camweb listens beyond the loopback interface only with --password-file, and \
            behind a reverse proxy that has TLS.

            Examples:
              camweb
              camweb tcp://127.0.0.1:9982
              camweb door=unix:/run/camrec/door/live garden=tcp://127.0.0.1:9983
              camweb tcp://127.0.0.1:9982,control=/run/user/1000/control

            Exit codes: 0 stopped by a signal; 64 usage, or a password file that cannot be used; 73 cannot listen; 74 out of threads or descriptors; 129, 130, \
            143: stopped by a signal before serving began, or by a second one.
            """,
        version: Version.text(of: "camweb", libraries: []),
        subcommands: [PasswordCommand.self])

    @Argument(
        help: ArgumentHelp(
            "tcp://HOST:PORT or unix:PATH, perhaps after NAME= and before ,small=ADDRESS and ,control=PATH.",
            valueName: "CAMERA"
        ),
        transform: CameraArgument.read)
    var cameras: [CameraArgument] = []

    @Option(
        help: ArgumentHelp(
            "Folder with the settings of the services, if no CAMERA is given. Default: /etc/camrec.",
            valueName: "FOLDER"),
        completion: .directory, transform: PlainValue.text("expected a folder's name"))
    var settings: String?

    @Option(
        help: ArgumentHelp(
            "Folder with the recordings of the CAMERA called NAME; may be repeated. The services' are known from their "
                + "settings.",
            valueName: "NAME=FOLDER"),
        transform: RecordingsArgument.read)
    var recordings: [RecordingsArgument] = []

    @Option(
        help: ArgumentHelp(
            "Folder for downloads while they are made. Default: $CACHE_DIRECTORY, or else /var/tmp.",
            valueName: "FOLDER"),
        completion: .directory, transform: PlainValue.text("expected a folder's name"))
    var scratch: String?

    @Option(
        help: ArgumentHelp("Where to serve: [HOST:]PORT. Default: 127.0.0.1:8080.", valueName: "ADDRESS"),
        transform: PageAddress.read)
    var listen = PageAddress.usual

    @Option(
        help: ArgumentHelp(
            "Also answer under this host name, which a reverse proxy on this machine serves; may be repeated.",
            valueName: "NAME"),
        transform: HostName.read)
    var host: [HostName] = []

    @Option(
        help: ArgumentHelp(
            "Serve everything under this path, as a reverse proxy does that passes on whole paths: /cams serves the page "
                + "at /cams/. Default: /.",
            valueName: "PATH"),
        transform: PagePath.read)
    var base = PagePath.root

    @Option(
        help: ArgumentHelp(
            "Let pages of this origin embed the page in a frame: https://HOST, http://HOST, or self; may be repeated. Only "
                + "pages of the same site can log in there.",
            valueName: "ORIGIN"),
        transform: EmbeddingOrigin.read)
    var frameAncestors: [EmbeddingOrigin] = []

    @Option(
        help: ArgumentHelp(
            "Ask for user and password: a file of 'camweb password'. Read again when it changes.",
            valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var passwordFile: String?

    @Flag(
        help:
            "All requests come through a reverse proxy: its X-Forwarded-For says from where, and X-Forwarded-Proto whether with TLS. Its connections to camweb are not encrypted."
    )
    var behindProxy = false

    @Flag(
        help:
            "Let clients without a password set controls and bit rates, pause and trigger."
    )
    var allowChanges = false

    @Flag(help: "Print only warnings and errors, even on a terminal.")
    var quiet = false

    @Flag(help: "Print everything, even in a script.")
    var verbose = false

    func validate() throws {
        if settings != nil, !cameras.isEmpty {
            throw ValidationError("--settings is for services, without a CAMERA; leave one out")
        }
        for argument in recordings {
            guard cameras.contains(where: { $0.camera.name == argument.name }) else {
                throw ValidationError(
                    "--recordings \(argument.name)=\(argument.folder): no CAMERA has this name; give one, as in "
                        + "\(argument.name)=tcp://127.0.0.1:9982")
            }
        }
        if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other; use only one") }
        if let mistake = host.lazy.compactMap({ ForeignOption.hostMistake($0.name) }).first {
            throw ValidationError(mistake)
        }
    }

    func run() throws {
        let console = Console(program: "camweb", isQuiet: quiet, isVerbose: verbose, isDetached: true)
        defer { console.finish() }
        // Each browser needs a descriptor.
        _ = DescriptorLimit.raise()
        guard let signals = SignalWatch(program: "camweb", userSignals: [SIGUSR1: {}, SIGUSR2: {}]) else {
            console.fail("out of threads or descriptors; raise 'ulimit -n' and 'ulimit -u'")
            throw ExitStatus.inputOutput
        }
        try serve(accessRules(console), signals, console)
    }

    private func accessRules(_ console: Console) throws -> AccessRules {
        var access = AccessRules()
        access.isBehindProxy = behindProxy
        access.allowsChanges = allowChanges
        guard let passwordFile else { return access }
        do throws(PasswordFile.Failure) {
            access.passwords = try PasswordFile(path: passwordFile)
            access.passwordPath = passwordFile
            return access
        } catch {
            console.fail(error.description)
            throw ExitStatus.usage
        }
    }

    private func serve(_ access: AccessRules, _ signals: SignalWatch, _ console: Console) throws {
        do throws(WebError) {
            let server = try WebServer(
                on: listen.address, cameras: source, access: access, placement: placement,
                scratchFolder: scratchFolder, indexFolder: cacheFolder, cancellation: signals.cancellation,
                report: { console.inform($0) }, warn: { console.warn($0) })
            signals.workBegins()
            warnOfMissingSettings(console)
            console.inform("serving on http://\(server.address)\(base.path == .root ? "" : "\(base.path)/")")
            server.run()
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
    }

    private var placement: Placement {
        var placement = Placement()
        (placement.hosts, placement.base) = (host.map(\.name), base.path)
        placement.ancestors = frameAncestors.map(\.ancestor)
        return placement
    }

    private static let usualSettings = "/etc/camrec"

    /// Warns at the start: the page shows the error only once it is opened.
    private func warnOfMissingSettings(_ console: Console) {
        let folder = settings ?? Self.usualSettings
        guard cameras.isEmpty, access(folder, R_OK | X_OK) != 0 else { return }
        console.warn(
            "\(folder): \(String(cString: strerror(errno))), so there are no services to show; name a CAMERA or "
                + "another folder with --settings")
    }

    private var source: CameraSource {
        cameras.isEmpty
            ? .settings(folder: settings ?? Self.usualSettings) : .given(cameras.map(withRecordings))
    }

    private func withRecordings(_ argument: CameraArgument) -> Camera {
        var camera = argument.camera
        if let place = recordings.last(where: { $0.name == camera.name }) {
            camera.recordings = RecordingsPlace(folder: place.folder)
        }
        return camera
    }

    private var scratchFolder: String { scratch ?? cacheFolder ?? "/var/tmp" }

    /// systemd names a service's folder in the environment (systemd.exec(5), CacheDirectory=).
    private var cacheFolder: String? {
        getenv("CACHE_DIRECTORY").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Replaces ArgumentParser's own `main`, so that every error is one line.
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if ArgumentText.isCompletionRequest(words) { return main(words) }
        SignalWatch.holdUserSignals()
        StandardDescriptors.fill()
        let console = Console(program: "camweb", isQuiet: false, isVerbose: false)
        if let damage = ArgumentText.damage(in: CommandLine.unsafeArgv) {
            console.fail(damage)
            Glibc.exit(ExitStatus.usage.rawValue)
        }
        // ArgumentParser would take a command's name for a CAMERA.
        let wantsHelp = words.first == "help"
        let isPassword = words.dropFirst(wantsHelp ? 1 : 0).first == PasswordCommand.configuration.commandName
        let kind: any ParsableCommand.Type = isPassword ? PasswordCommand.self : self
        if wantsHelp, isPassword { exit(withError: CleanExit.helpRequest(kind)) }
        let unknown = UnknownOption(
            of: kind, foreign: ForeignOption.serving, translatesAll: !isPassword,
            help: isPassword ? "camweb help password" : "camweb --help")
        do {
            if !isPassword, let answer = ShortHelp.answer(to: words, short: shortHelp, help: helpMessage()) {
                try give(answer)
            }
            if let mistake = ArgumentText.emptyValue(in: words) { throw ValidationError(mistake) }
            var command = try kind.parseAsRoot(isPassword ? Array(words.dropFirst()) : words)
            try command.run()
        } catch {
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            let isHelp = kind.exitCode(for: error) == .success
            let mistake = isHelp ? unknown.clusterMistake(in: words) : unknown.mistake(in: words)
            if isHelp, mistake == nil { kind.exit(withError: error) }
            let line = mistake ?? ParserMessage.line(kind.message(for: error))
            // A reason that already names the next step needs no reference to the help.
            console.fail(line.contains("; ") ? line : "\(line); see 'camweb --help'")
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

// MARK: Help

extension Camweb {
    /// What `-h` prints.
    static var shortHelp: ShortHelp {
        ShortHelp(
            "camweb shows live cameras in a browser, on http://127.0.0.1:8080.",
            examples: [
                .init("camweb"), .init("camweb tcp://127.0.0.1:9982"),
                .init("camweb door=unix:/run/camrec/door/live garden=tcp://127.0.0.1:9983"),
                .init("camweb tcp://127.0.0.1:9982,control=/run/user/1000/control"),
                .init("camweb --recordings door=/srv/door door=tcp://127.0.0.1:9982"),
                .init("camweb --listen 0.0.0.0:8080 --password-file users tcp://127.0.0.1:9982"),
            ],
            options: [
                .init(
                    "--listen [HOST:]PORT", "where to serve; beyond this machine only with --password-file"),
                .init("--settings FOLDER", "the settings of the services to show; default: /etc/camrec"),
                .init("--recordings NAME=FOLDER", "the recordings of the CAMERA called NAME"),
                .init("--password-file FILE", "ask for user and password; 'camweb password' makes FILE"),
                .init("--allow-changes", "let clients without a password set controls, pause and trigger"),
                .init("--behind-proxy", "all requests come through a reverse proxy"),
                .init("--host NAME", "also answer under this host name"),
                .init("--base PATH", "serve everything under this path"),
                .init("--scratch FOLDER", "where downloads are made"),
                .init("--quiet", "print only warnings and errors"),
                .init("--verbose", "print everything, even in a script"),
            ],
            more: [
                .init("camweb --help", "every option"),
                .init("camweb help TOPIC", HelpTopics(helpMessage()).names.joined(separator: ", ")),
                .init("camweb help password", "how to make a password file"),
                .init("man camweb", "the manual"),
            ])
    }

    private static func give(_ answer: HelpAnswer) throws {
        switch answer {
        case .text(let text): _ = DescriptorWriter.write(text, to: STDOUT_FILENO)
        case .unknown(let reason): throw ValidationError(reason)
        }
        throw ExitStatus.done
    }
}

// MARK: Arguments

/// `tcp://127.0.0.1:9982`, `door=unix:/run/door/live,small=unix:/run/door/small,control=/run/door/control`
struct CameraArgument: ExplainedArgument {
    static let requirement =
        "expected tcp://HOST:PORT or unix:PATH without ,mode=, perhaps with a name, as in door=tcp://127.0.0.1:9982, a "
        + "smaller stream and the recorder's control socket, as in "
        + "tcp://127.0.0.1:9982,small=tcp://127.0.0.1:9983,control=/run/door"

    let camera: Camera

    init?(argument: String) {
        guard let camera = Camera(argument) else { return nil }
        self.camera = camera
    }
}

/// `door=/srv/video/door`
struct RecordingsArgument: ExplainedArgument {
    static let requirement = "expected NAME=FOLDER, as in door=/var/lib/camrec/door"

    let name: String
    let folder: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (name, folder) = (String(parts[0]), String(parts[1]))
    }
}

/// `8080`, `127.0.0.1:8080`, `[::1]`
struct PageAddress: ExplainedArgument {
    static let requirement = "expected [HOST:]PORT, as in 127.0.0.1:8080"

    let address: SocketAddress

    static let usual = PageAddress(address: SocketAddress(port: defaultPort))
    private static let defaultPort: UInt16 = 8080

    private init(address: SocketAddress) { self.address = address }

    init?(argument: String) {
        guard let address = SocketAddress(argument) else { return nil }
        // A bare host would get the default port of a recording's --listen.
        let hasPort =
            argument.hasSuffix("\(address.port)") && !argument.hasSuffix("]") && argument != address.host
        self.address = hasPort ? address : SocketAddress(host: address.host, port: Self.defaultPort)
    }
}

/// `cameras.example.org`, without a port: the name that browsers use.
struct HostName: ExplainedArgument {
    static let requirement = "expected a host name without scheme and port, as in cameras.example.org"

    let name: String

    init?(argument: String) {
        guard let address = SocketAddress(argument), address.host == argument else { return nil }
        name = argument
    }
}

/// `/cams`: the path of the page.
struct PagePath: ExplainedArgument {
    static let requirement =
        "expected an absolute path of letters, digits and -._~, without empty parts and '..', as in /cams"

    let path: BasePath

    static let root = PagePath(path: .root)

    private init(path: BasePath) { self.path = path }

    init?(argument: String) {
        guard let path = BasePath(argument) else { return nil }
        self.path = path
    }
}

/// `https://home.example.org`: whose pages may embed the page.
struct EmbeddingOrigin: ExplainedArgument {
    static let requirement =
        "expected one origin without a path, as in https://home.example.org or http://192.168.1.2:8123, or self; '*' would "
        + "let everyone embed the page"

    let ancestor: FrameAncestor

    init?(argument: String) {
        guard let ancestor = FrameAncestor(argument) else { return nil }
        self.ancestor = ancestor
    }
}

// MARK: Exit codes

/// The exit codes of camweb's errors.
extension ExitStatus {
    init(_ error: WebError) {
        self =
            switch error {
            case .notLoopback, .sameName: .usage
            case .noDescriptors, .noThreads: .inputOutput
            case .network(let error):
                switch error.kind {
                case .notListening: .cannotCreate
                default: .inputOutput
                }
            }
    }
}
