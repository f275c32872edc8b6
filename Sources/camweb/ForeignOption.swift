import CamCommandLine
import Glibc

/// Options of other web servers and of ustreamer, mjpg-streamer and motion, as options of camweb.
extension ForeignOption {
    static let serving = Table([
        (["port", "bind", "address", "addr", "ip", "interface", "p", "b", "l", "listen-address"], listen),
        (
            [
                "root", "dir", "directory", "folder", "path", "media", "videos", "recording", "output-dir",
                "target-dir",
            ],
            recordings
        ),
        (
            [
                "password", "passwd", "pass", "user", "username", "login", "auth", "basic-auth",
                "credentials",
                "htpasswd", "u",
            ],
            password
        ),
        (
            [
                "url", "input", "source", "stream", "camera", "i", "device", "video-device", "d", "connect",
                "c",
            ],
            camera
        ),
        (["config", "conf", "config-file", "config-dir"], plain("--settings", "FOLDER")),
        (
            [
                "tls", "ssl", "https", "cert", "certificate", "key", "ssl-cert", "ssl-key", "cert-file",
                "key-file",
            ],
            answer("use --behind-proxy: camweb has no TLS, a reverse proxy has")
        ),
        (["proxy", "trust-proxy", "trusted-proxies", "behind-reverse-proxy"], answer("use --behind-proxy")),
        (["hostname", "server-name", "domain", "allowed-hosts", "virtual-host"], plain("--host", "NAME")),
        (
            [
                "base-path", "base-url", "baseurl", "basepath", "prefix", "url-prefix", "path-prefix",
                "root-path", "context-path", "subpath", "route-prefix",
            ],
            plain("--base", "PATH")
        ),
        (
            ["frame-ancestor", "embed", "allow-embedding", "iframe", "x-frame-options", "frame-options"],
            plain("--frame-ancestors", "ORIGIN")
        ),
        (["control", "allow-control", "writable", "read-write", "admin"], answer("use --allow-changes")),
        (
            ["read-only", "readonly"],
            answer("leave it out: without --allow-changes and a password, nothing can be changed")
        ),
        (["tmp", "temp", "tmpdir", "temp-dir", "cache", "cache-dir"], plain("--scratch", "FOLDER")),
        (
            ["daemon", "daemonize", "background", "detach"],
            answer("leave it out; 'systemctl start camweb' starts the service")
        ),
        (["static", "www", "template"], answer("leave it out: camweb has its own page")),
        (["q"], answer("use --quiet")), (["v"], answer("use --verbose, or --version")),
        (["V"], answer("use --version")),
    ])

    /// The message about `--host 0.0.0.0`, which is where other servers listen, or nil.
    static func hostMistake(_ name: String) -> String? {
        guard name == "0.0.0.0" || name == "::" else { return nil }
        return
            "--host is a name for browsers; to serve there, use --listen \(address(host: name, port: "8080"))"
    }
}

// MARK: Translations

extension ForeignOption {
    private static func listen(_ option: ForeignOption) -> String {
        let port = option.value(of: ["port", "p"])
        let places: Set = ["bind", "address", "addr", "ip", "interface", "b", "l", "listen-address"]
        let host = option.value(of: places) ?? option.value(of: ["host"]).flatMap { isAddress($0) ? $0 : nil }
        guard let host else { return "use --listen \(port.map(quoted) ?? "[HOST:]PORT")" }
        // `--bind 0.0.0.0:80` has both.
        let hasPort = port == nil && host.split(separator: ":", omittingEmptySubsequences: false).count == 2
        return "use --listen \(quoted(hasPort ? host : address(host: host, port: port ?? "8080")))"
    }

    private static func isAddress(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    /// The name is that of the only CAMERA.
    private static func recordings(_ option: ForeignOption) -> String {
        let names = option.words.compactMap { CameraArgument(argument: $0)?.camera.name }
        return
            "use --recordings \(names.count == 1 ? quoted(names[0]) : "NAME")=\(option.value.map(quoted) ?? "FOLDER")"
    }

    /// A password never appears in a message.
    private static func password(_ option: ForeignOption) -> String {
        let user = option.value(of: ["user", "username", "login", "u"]).flatMap {
            $0.contains(":") ? nil : $0
        }
        return "run 'camweb password FILE\(user.map { " \($0)" } ?? "")', then use --password-file FILE"
    }

    /// What another program reads itself is a recorder's here.
    private static func camera(_ option: ForeignOption) -> String {
        guard let value = option.value else { return "name the CAMERA without an option: tcp://HOST:PORT" }
        if value.contains("://") || value.hasPrefix("unix:") {
            return "name the CAMERA \(quoted(value)) without an option"
        }
        let device = Int(value).map { "/dev/video\($0)" } ?? value
        return "run 'camrec --device \(device) --listen 9982', then name the CAMERA tcp://127.0.0.1:9982"
    }
}
