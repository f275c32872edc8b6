import CamPlatform
import Glibc

/// A microphone that ALSA can record from.
public struct MicrophoneEntry: Sendable, Hashable {
    /// The ALSA name of the device, which stays the same in another USB port: `plughw:CARD=C920,DEV=0`.
    public let name: String
    /// What people call it.
    public let title: String
    /// Its node, such as `/dev/snd/pcmC1D0c`.
    public let node: String

    /// The ALSA name without conversions, for querying the abilities of the device itself.
    public var hardwareName: String { String(name.dropFirst("plug".count)) }
}

/// Finds microphones where the kernel lists them, without ALSA's library.
public struct MicrophoneFinder: Sendable {
    private let sys: String
    private let proc: String

    /// - Parameters:
    ///   - sys: the mount point of sysfs.
    ///   - proc: the folder in which ALSA describes its cards.
    public init(sys: String = "/sys", proc: String = "/proc/asound") { (self.sys, self.proc) = (sys, proc) }

    /// All microphones, in the order of their cards.
    public var microphones: [MicrophoneEntry] { cards.flatMap(microphones(ofCard:)) }

    /// The microphone built into a camera, which belongs to the same USB device.
    /// - Parameter device: the camera's node, such as `/dev/video0`.
    public func microphone(ofCamera device: String) -> MicrophoneEntry? {
        // Resolve links such as /dev/v4l/by-id to a node.
        guard let node = parts(ofPath: device)?.last,
            let camera = usbDevice(of: "\(sys)/class/video4linux/\(node)/device")
        else { return nil }
        let card = cards.first { usbDevice(of: "\(sys)/class/sound/card\($0)/device") == camera }
        return card.flatMap { microphones(ofCard: $0).first }
    }

    private var cards: [Int] {
        names.compactMap { $0.hasPrefix("card") ? Int($0.dropFirst("card".count)) : nil }.sorted()
    }

    /// The kernel calls devices that record `pcmC0D0c`.
    private func microphones(ofCard card: Int) -> [MicrophoneEntry] {
        guard let id = lines("\(sys)/class/sound/card\(card)/id").first else { return [] }
        let prefix = "pcmC\(card)D"
        let numbers = names.compactMap { name in
            name.hasPrefix(prefix) && name.hasSuffix("c")
                ? Int(name.dropFirst(prefix.count).dropLast()) : nil
        }
        return numbers.sorted().map { number in
            MicrophoneEntry(
                name: "plughw:CARD=\(id),DEV=\(number)", title: title(ofCard: card, device: number) ?? id,
                node: "/dev/snd/pcmC\(card)D\(number)c")
        }
    }

    private var names: [String] { Folder.names(in: "\(sys)/class/sound") }

    private func title(ofCard card: Int, device: Int) -> String? {
        let prefix = "name: "
        return lines("\(proc)/card\(card)/pcm\(device)c/info").first { $0.hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)) }
    }

    /// The folder of the USB device that an interface belongs to; nil if the interface is not on USB.
    private func usbDevice(of interface: String) -> String? {
        guard let parts = parts(ofPath: interface) else { return nil }
        // An interface is named after its device, followed by a colon and numbers: 1-2:1.0 in 1-2.
        guard let last = parts.last, let device = parts.dropLast().last, last.hasPrefix(device + ":") else {
            return nil
        }
        return parts.dropLast().joined(separator: "/")
    }

    /// The components of a path after resolving links; nil if the file does not exist.
    private func parts(ofPath path: String) -> [Substring]? {
        guard let path = realpath(path, nil) else { return nil }
        defer { free(path) }
        return String(cString: path).split(separator: "/")
    }

    private func lines(_ path: String) -> [String] {
        guard let bytes = try? WholeFile.read(path, atMost: 1 << 16) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

// MARK: - Choosing one

/// The microphone that a recording uses. It is chosen once: no other microphone
/// replaces it while it is unplugged.
public struct MicrophoneChoice: Sendable {
    /// Why this one.
    public enum Reason: Sendable, Hashable {
        case requested
        case inCamera
        /// The camera has no microphone, or there is no camera.
        case systemDefault
    }

    /// The ALSA name, or the name of the test microphone.
    public let name: String
    public let reason: Reason
    /// The product name; nil if only the ALSA name is known.
    private let title: String?

    /// The ALSA name of the user's default microphone.
    public static let systemDefault = "default"

    /// - Parameters:
    ///   - name: the requested name; nil for the camera's microphone, or else the ALSA default.
    ///   - camera: the camera's device.
    public init(_ name: String?, camera: String, finder: MicrophoneFinder = MicrophoneFinder()) {
        if let name {
            (self.name, reason) = (name, .requested)
            title = finder.microphones.first { $0.name == name }?.title
        } else if let own = finder.microphone(ofCamera: camera) {
            (self.name, reason, title) = (own.name, .inCamera, own.title)
        } else {
            (self.name, reason, title) = (Self.systemDefault, .systemDefault, nil)
        }
    }

    /// Opens it.
    public func open() throws(SoundError) -> any SoundSource {
        if name == TestMicrophone.testName { return TestMicrophone() }
        return try Microphone(name)
    }

    /// The name and the reason for the choice, for messages.
    public var summary: String {
        let name = title.map { "\($0) (\(self.name))" } ?? self.name
        return switch reason {
        case .requested: name
        case .inCamera: "\(name), the camera's own"
        case .systemDefault: "\(name), because the camera has no microphone of its own"
        }
    }
}
