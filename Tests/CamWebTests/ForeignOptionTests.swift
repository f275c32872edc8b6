import ArgumentParser
import CamCommandLine
import Testing

@testable import camweb

/// Options that people know from other servers.
@Suite struct ForeignOptionTests {
    private func mistake(_ line: String) -> String? {
        UnknownOption(of: Camweb.self, foreign: ForeignOption.serving, help: "camweb --help")
            .foreignMistake(in: line.split(separator: " ").map(String.init))
    }

    @Test(
        "are answered with the whole option of ours and the user's value",
        arguments: [
            ("--port 8000", "--listen 8000"), ("-p 8000", "--listen 8000"),
            ("--bind 127.0.0.1", "--listen 127.0.0.1:8080"), ("--bind 127.0.0.1:81", "--listen 127.0.0.1:81"),
            ("--address=::1 --port=81", "--listen '[::1]:81'"),
            ("--port 81 --host 127.0.0.1", "--listen 127.0.0.1:81"),
            ("--port 81 --host cams.example", "--listen 81"), ("--conf /srv/conf", "--settings /srv/conf"),
            ("--trust-proxy", "--behind-proxy"), ("--hostname cams.example", "--host cams.example"),
            ("--writable", "--allow-changes"), ("--tmpdir /srv/tmp", "--scratch /srv/tmp"),
            ("--root /srv/video", "--recordings door=/srv/video"), ("-q", "--quiet"),
        ])
    func translated(theirs: String, ours: String) throws {
        let first = try #require(theirs.split { " =".contains($0) }.first)
        let camera = ours.hasPrefix("--settings") ? "" : " door=tcp://127.0.0.1:9982"
        #expect(mistake("\(theirs)\(camera)") == "unknown option '\(first)'; use \(ours)")
        let words = "\(ours)\(camera)".split(separator: " ").map { String($0.filter { $0 != "'" }) }
        #expect(throws: Never.self) { try Camweb.parse(words) }
    }

    @Test(
        "are answered with the CAMERA or the command that does it",
        arguments: [
            ("--url tcp://10.0.0.2:9982", "name the CAMERA tcp://10.0.0.2:9982 without an option"),
            ("-i", "name the CAMERA without an option: tcp://HOST:PORT"),
            (
                "--device /dev/video0",
                "run 'camrec --device /dev/video0 --listen 9982', then name the CAMERA tcp://127.0.0.1:9982"
            ),
            ("--root /srv/video", "use --recordings NAME=/srv/video"),
            ("--tls", "use --behind-proxy: camweb has no TLS, a reverse proxy has"),
        ])
    func advice(theirs: String, advice: String) throws {
        #expect(try #require(mistake(theirs)).hasSuffix("; \(advice)"))
    }

    @Test("a password is never repeated in a message")
    func password() throws {
        for line in ["--user maria --password s3cret", "--password=s3cret --user maria"] {
            #expect(
                try #require(mistake(line)).hasSuffix(
                    "; run 'camweb password FILE maria', then use --password-file FILE"))
        }
        #expect(mistake("--auth maria:s3cret")?.contains("s3cret") == false)
        #expect(mistake("--user maria:s3cret")?.contains("s3cret") == false)
    }

    @Test("none is an option of camweb, whose --host is a name")
    func disjoint() throws {
        #expect(ForeignOption.serving.names.isDisjoint(with: CommandOptions(of: Camweb.self).names))
        let error = #expect(throws: (any Error).self) { try Camweb.parse(["--host", "0.0.0.0"]) }
        #expect(Camweb.message(for: try #require(error)).contains("use --listen 0.0.0.0:8080"))
        #expect(throws: Never.self) { try Camweb.parse(["--host", "192.0.2.1", "--behind-proxy"]) }
    }

    @Test("another command does not have camweb's translations")
    func commands() throws {
        let unknown = UnknownOption(
            of: PasswordCommand.self, foreign: ForeignOption.serving, translatesAll: false,
            help: "camweb help password")
        let mistake = try #require(unknown.mistake(in: ["password", "FILE", "--user", "maria"]))
        #expect(mistake == "unknown option '--user'; 'camweb help password' lists them")
    }
}
