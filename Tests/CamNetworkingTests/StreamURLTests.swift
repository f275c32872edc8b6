import Testing

@testable import CamNetworking

/// Where a transport stream is sent.
@Suite struct StreamURLTests {
    @Test("a receiver, and libavformat's options")
    func options() throws {
        let url = try StreamURL("srt://[::1]:8890?streamid=publish:cam:alice:secret&pkt_size=188")
        #expect(url.transport == .srt && url.receiver == SocketAddress(host: "::1", port: 8890))
        #expect("\(url)" == "srt://[::1]:8890?streamid=publish:cam", "options may contain passwords")
        #expect(url.complete == "srt://[::1]:8890?streamid=publish:cam:alice:secret&pkt_size=188&linger=2")
        #expect(try StreamURL("UDP://239.0.0.1:5000/").complete == "udp://239.0.0.1:5000?pkt_size=1316")
    }

    @Test("libavformat's messages lose the URL's options")
    func concealing() throws {
        let url = try StreamURL("srt://a:1?passphrase=secretsecret&streamid=publish:x:u:hidden")
        #expect(url.hasSecret)
        let said = "Connection to \(url.complete) failed: Input/output error"
        #expect(url.concealing(said) == "Connection to srt://a:1 failed: Input/output error")
        #expect(url.concealing("bad streamid publish:x:u:hidden") == "")
    }

    @Test(
        "its name tells streams on one server apart, and no secret",
        arguments: [
            ("streamid=front", "?streamid=front"),
            ("streamid=publish:a/b:alice:secret&latency=5", "?streamid=publish:a/b"),
            ("latency=5&streamid=%23!::m=publish,r=front,u=alice,s=secret", "?streamid=%23!::r=front"),
            ("streamid=read:cam?token=secret", ""), ("streamid=publish%3Acam%3Abob%3Asecret", ""),
            ("streamid=%23!::r=live/x?secret=secret,m=publish", ""), ("streamid=#!::u=alice,s=secret", ""),
            ("streamid=", ""), ("passphrase=secretsecret", ""),
        ])
    func name(options: String, shown: String) throws {
        let url = try StreamURL("srt://a:1?\(options)")
        #expect("\(url)" == "srt://a:1\(shown)")
    }

    @Test(
        "a stream ID with more than the stream's name may hold a secret",
        arguments: [
            ("publish:cam", false), ("front", false), ("#!::r=front,m=publish", false),
            ("publish:cam:alice:secret", true),
            ("#!::r=front,u=alice,s=secret", true), ("read:cam?token=secret", true),
        ])
    func secret(streamID: String, isSecret: Bool) throws {
        #expect(try StreamURL("srt://a:1?streamid=\(streamID)").hasSecretInStreamID == isSecret)
    }

    @Test(
        "how long an SRT receiver holds the stream back",
        arguments: [
            ("srt://a:1", 120), ("srt://a:1?latency=-1", 120), ("srt://a:1?latency=500000", 500),
            ("srt://a:1?latency=500000&peerlatency=800000", 800), ("srt://a:1?rcvlatency=800000", 120),
            ("srt://a:1?latency=0", 0), ("srt://a:1?latency=9223372036854775807", 60000),
            ("srt://a:1?latency=500000&tsbpd=0", 0), ("srt://a:1?transtype=file", 0), ("udp://a:1", 0),
        ])
    func latency(url: String, milliseconds: Int) throws {
        #expect(try StreamURL(url).latency == .milliseconds(milliseconds))
    }

    @Test("an empty passphrase comes from elsewhere")
    func passphrase() throws {
        let empty = try StreamURL("srt://a:1?passphrase=&latency=5")
        #expect(empty.wantsPassphrase && empty.givenPassphrase == nil)
        #expect(empty.complete == "srt://a:1?latency=5&pkt_size=1316&linger=2")
        let given = try StreamURL("srt://a:1?passphrase=secretsecret")
        #expect(!given.wantsPassphrase && given.givenPassphrase == "secretsecret" && given.hasSecret)
        #expect(
            given.complete == "srt://a:1?pkt_size=1316&linger=2",
            "it is no part of the URL that libavformat reads")
        #expect(try StreamURL("srt://a:1?passphrase=a%26b+c%25defgh").givenPassphrase == "a&b+c%defgh")
        #expect(try StreamURL("srt://a:1").wantsPassphrase == false)
    }

    @Test(
        "says why anything else is none, and quotes only the names of options",
        arguments: [
            ("", .otherScheme), ("tcp://host:1", .otherScheme), ("file:///etc/passwd", .otherScheme),
            ("srt://", .host), ("srt://host", .port), ("srt://host:", .port), ("srt://host:0", .port),
            ("srt://:8890x", .host), ("srt://host:99999", .port), ("srt://host:1/path", .port),
            ("srt://[::1]", .port), ("udp://alice:secret@host:1", .unwantedUser),
            ("srt://ho st:1", .strayCharacter),
            ("srt://host:1?a\nb", .strayCharacter),
            ("srt://host:1?Passphrase=secretsecret", .unknownOption("Passphrase")),
            ("udp://host:1?passphrase=secretsecret", .unknownOption("passphrase")),
            ("srt://host:1?messageapi=0", .unknownOption("messageapi")),
            ("udp://host:1?mode=caller", .unknownOption("mode")),
            ("srt://host:1?secret", .unknownOption(nil)),
            ("srt://host:1?alice:secret=", .unknownOption(nil)),
            ("srt://host:1?mode=nonsense", .value(option: "mode")),
            ("srt://host:1?pkt_size=-1", .value(option: "pkt_size")),
            ("srt://host:1?pkt_size=187", .value(option: "pkt_size")),
            ("srt://host:1?pkt_size=1500", .value(option: "pkt_size")),
            ("srt://host:1?latency", .value(option: "latency")),
            ("srt://host:1?latency=-5", .value(option: "latency")),
            ("srt://host:1?pbkeylen=7", .value(option: "pbkeylen")),
            ("udp://host:1?ttl=300", .value(option: "ttl")), ("udp://host:1?ttl=x", .value(option: "ttl")),
            ("srt://host:1?passphrase=short", .value(option: "passphrase")),
            ("srt://host:1?passphrase=%zzsecretsecret", .value(option: "passphrase")),
        ] as [(String, AddressFlaw)])
    func malformed(text: String, flaw: AddressFlaw) {
        #expect(throws: flaw) { _ = try StreamURL(text) }
        #expect(!"\(flaw)".contains("secret"))
    }
}
