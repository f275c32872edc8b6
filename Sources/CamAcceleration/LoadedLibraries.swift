import CFFmpeg
import CVAAPI
import Glibc

/// The versions of the libraries that the dynamic linker has loaded, which may be newer than the build's
/// versions.
public enum LoadedLibraries {
    /// `FFmpeg 5.1.6` and `libva 2.17.0`.
    public static var descriptions: [String] {
        ["FFmpeg \(String(cString: av_version_info()))", "libva \(libva ?? "of an unknown version")"]
    }

    /// libva reports its version only with a GPU, but its file name contains the version.
    private static var libva: String? {
        guard let path = cvaapi_library_path(), let file = realpath(path, nil) else { return nil }
        defer { free(file) }
        return version(ofLibva: String(cString: file))
    }

    /// Returns `2.17.0` for `…/libva.so.2.1700.0` (libva's meson.build: minor version times 100, plus micro).
    static func version(ofLibva file: String) -> String? {
        let name = "libva.so."
        guard let last = file.split(separator: "/").last, last.hasPrefix(name) else { return nil }
        let numbers = last.dropFirst(name.count).split(separator: ".").map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1] else { return nil }
        return "\(major).\(minor / 100).\(minor % 100)"
    }
}

/// The messages in which libav reports failures.
public enum LibavMessage {
    /// Returns libav's last message on this thread, or else the error code's name.
    public static func reason(_ code: Int32) -> String {
        // A next step follows, after a semicolon.
        let message = String(cString: cffmpeg_last_error()).drop { $0 == " " }
        if let end = message.lastIndex(where: { $0 != "." && $0 != " " }) { return String(message[...end]) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let bytes = buffer.baseAddress, av_strerror(code, bytes, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: bytes)
        }
    }
}
