import CFormat

/// libavformat, loaded when the first container is opened.
enum ContainerLibrary {
    /// Why it is missing.
    struct Failure: Error {
        let name: String
        let reason: String
    }

    /// Returns its functions.
    static func load() throws(Failure) -> cformat_library {
        var library = cformat_library()
        var reason = [CChar](repeating: 0, count: 256)
        guard cformat_load(&library, &reason, reason.count) else {
            let text = String(
                decoding: reason.prefix { $0 != 0 }.map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
            throw Failure(name: String(cString: cformat_library_name), reason: text)
        }
        return library
    }

    /// What Debian and Ubuntu call the package of a library: `libavformat59` has `libavformat.so.59`.
    static func package(of name: String) -> String {
        let parts = name.split(separator: ".")
        guard parts.count == 3 else { return name }
        return "\(parts[0])\(parts[2])"
    }
}
