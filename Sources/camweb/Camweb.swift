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
            unix:PATH, perhaps after NAME=. With ,control=PATH after it, the recorder's --control-socket, the page shows \
            the recording's figures and the camera's controls, and new viewers need not wait for a keyframe. Open \
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
            "tcp://HOST:PORT or unix:PATH, perhaps after NAME= and before ,control=PATH.", valueName: "CAMERA"
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
            "Ask for user and password: a file of 'camweb password'. Read at the start.", valueName: "FILE"),
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
            return access
        } catch {
            console.fail(error.description)
            throw ExitStatus.usage
        }
    }

    private func serve(_ access: AccessRules, _ signals: SignalWatch, _ console: Console) throws {
        do throws(WebError) {
            let server = try WebServer(
                on: listen.address, cameras: source, access: access, hosts: host.map(\.name),
                scratchFolder: scratchFolder, interruption: signals.interruption,
                report: { console.inform($0) })
            signals.workBegins()
            warnOfMissingSettings(console)
            console.inform("serving on http://\(server.address)")
            server.run()
        } catch {
            console.fail(error.description)
            throw ExitStatus(error)
        }
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

    /// systemd names a service's folder in the environment (systemd.exec(5), CacheDirectory=).
    private var scratchFolder: String {
        if let scratch { return scratch }
        return getenv("CACHE_DIRECTORY").map { String(cString: $0) } ?? "/var/tmp"
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
        let isHelp = words.first == "help"
        let isPassword = words.dropFirst(isHelp ? 1 : 0).first == PasswordCommand.configuration.commandName
        let kind: any ParsableCommand.Type = isPassword ? PasswordCommand.self : self
        if isHelp { exit(withError: CleanExit.helpRequest(kind)) }
        do {
            if let mistake = ArgumentText.emptyValue(in: words) { throw ValidationError(mistake) }
            var command = try kind.parseAsRoot(isPassword ? Array(words.dropFirst()) : words)
            try command.run()
        } catch {
            if let status = error as? ExitStatus { Glibc.exit(status.rawValue) }
            if kind.exitCode(for: error) == .success { kind.exit(withError: error) }
            let line = ParserMessage.line(kind.message(for: error))
            // A reason that already names the next step needs no reference to the help.
            console.fail(line.contains("; ") ? line : "\(line); see 'camweb --help'")
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

// MARK: Arguments

/// `tcp://127.0.0.1:9982`, `door=unix:/run/camrec/door/live,control=/run/camrec/door/control`
struct CameraArgument: ExplainedArgument {
    static let requirement =
        "expected tcp://HOST:PORT or unix:PATH without ,mode=, perhaps with a name, as in door=tcp://127.0.0.1:9982, and with "
        + "the recorder's control socket, as in tcp://127.0.0.1:9982,control=/run/door"

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

// MARK: Exit codes

/// The exit codes of camweb's errors.
extension ExitStatus {
    init(_ error: WebError) {
        self =
            switch error {
            case .notLoopback, .sameName: .usage
            case .network(let error):
                switch error.kind {
                case .notListening: .cannotCreate
                default: .inputOutput
                }
            }
    }
}
