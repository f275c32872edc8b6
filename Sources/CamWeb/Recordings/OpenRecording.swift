import CamPlatform
import Glibc

/// A recording that is open for reading. The file is the one that was listed, whatever has its name now.
final class OpenRecording: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: is closed with this.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Bytes.
    var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether a recorder writes it at the moment.
    var isGrowing: Bool { WriteLock.isHeld(descriptor) }

    /// When the file was created; nil if the file system does not say.
    var birth: WallTime? { FileFacts(descriptor: descriptor)?.birth }
}
