import Testing

@testable import Network

/// Where a transport stream is sent.
@Suite struct StreamURLTests {
    @Test("a receiver, and libavformat's options")
    func options() throws {
        let url = try #require(StreamURL("srt://[::1]:8890?streamid=publish:cam:alice:secret&pkt_size=188"))
        #expect(url.transport == .srt && url.receiver == SocketAddress(host: "::1", port: 8890))
        #expect("\(url)" == "srt://[::1]:8890?streamid=publish:cam", "options may contain passwords")
        #expect(url.complete == "srt://[::1]:8890?streamid=publish:cam:alice:secret&pkt_size=188&linger=2")
        #expect(StreamURL("UDP://239.0.0.1:5000/")?.complete == "udp://239.0.0.1:5000?pkt_size=1316")
    }

    @Test("libavformat's messages lose the URL's options")
    func concealing() throws {
        let url = try #require(StreamURL("srt://a:1?passphrase=secretsecret&streamid=publish:x:u:hidden"))
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
        let url = try #require(StreamURL("srt://a:1?\(options)"))
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
        #expect(try #require(StreamURL("srt://a:1?streamid=\(streamID)")).hasSecretInStreamID == isSecret)
    }

    @Test("an empty passphrase comes from elsewhere")
    func passphrase() throws {
        let empty = try #require(StreamURL("srt://a:1?passphrase=&latency=5"))
        #expect(empty.wantsPassphrase && empty.givenPassphrase == nil)
        #expect(empty.complete == "srt://a:1?latency=5&pkt_size=1316&linger=2")
        let given = try #require(StreamURL("srt://a:1?passphrase=secretsecret"))
        #expect(!given.wantsPassphrase && given.givenPassphrase == "secretsecret" && given.hasSecret)
        #expect(
            given.complete == "srt://a:1?pkt_size=1316&linger=2",
            "it is no part of the URL that libavformat reads")
        #expect(StreamURL("srt://a:1?passphrase=a%26b+c%25defgh")?.givenPassphrase == "a&b+c%defgh")
        #expect(StreamURL("srt://a:1")?.wantsPassphrase == false)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "srt://", "srt://host", "srt://host:", "srt://host:0", "srt://:8890x", "srt://host:99999",
            "tcp://host:1", "file:///etc/passwd", "srt://ho st:1", "srt://host:1?a\nb", "srt://host:1/path",
            "srt://host:1?Passphrase=secretsecret", "udp://host:1?passphrase=secretsecret",
            "srt://host:1?mode=nonsense", "srt://host:1?pkt_size=-1", "srt://host:1?pkt_size=187",
            "srt://host:1?latency",
            "srt://host:1?latency=-5", "srt://host:1?pkt_size=1500", "srt://host:1?pbkeylen=7",
            "udp://host:1?ttl=300",
            "srt://host:1?passphrase=short", "srt://host:1?passphrase=%zzsecretsecret",
            "srt://host:1?messageapi=0", "udp://host:1?ttl=x", "udp://host:1?mode=caller",
        ])
    func malformed(text: String) { #expect(StreamURL(text) == nil) }
}
