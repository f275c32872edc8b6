import CamPlatform
import Glibc

/// A microphone that ALSA can record from.
public struct MicrophoneEntry: Sendable, Hashable {
    /// ALSA's name of the device, which is the same after it was plugged in elsewhere: `plughw:CARD=C920,DEV=0`.
    public let name: String
    /// What people call it.
    public let title: String
    /// Its node, such as `/dev/snd/pcmC1D0c`.
    public let node: String

    /// ALSA's name of the same without conversions, which says what the device itself can do.
    public var hardwareName: String { String(name.dropFirst("plug".count)) }
}

/// Finds microphones where the kernel lists them, without ALSA's library.
public struct MicrophoneFinder: Sendable {
    private let sys: String
    private let proc: String

    /// - Parameters:
    ///   - sys: where sysfs is.
    ///   - proc: where ALSA describes its cards.
    public init(sys: String = "/sys", proc: String = "/proc/asound") { (self.sys, self.proc) = (sys, proc) }

    /// All there are, in the order of their cards.
    public var microphones: [MicrophoneEntry] { cards.flatMap(microphones(ofCard:)) }

    /// The microphone in a camera: that of the same USB device.
    /// - Parameter device: the camera's, such as `/dev/video0`.
    public func microphone(ofCamera device: String) -> MicrophoneEntry? {
        // Links such as those in /dev/v4l/by-id name a node.
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

    /// The folder of the USB device that an interface belongs to; nil for what is not on USB.
    private func usbDevice(of interface: String) -> String? {
        guard let parts = parts(ofPath: interface) else { return nil }
        // An interface is called as its device, with its number after a colon: 1-2:1.0 in 1-2.
        guard let last = parts.last, let device = parts.dropLast().last, last.hasPrefix(device + ":") else {
            return nil
        }
        return parts.dropLast().joined(separator: "/")
    }

    /// Of a path without links; nil if there is no such file.
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

/// Which microphone a recording uses: decided once, so that no other takes its place when it is away.
public struct MicrophoneChoice: Sendable {
    /// Why this one.
    public enum Reason: Sendable, Hashable {
        case requested
        case inCamera
        /// The camera has none, or there is no camera.
        case systemDefault
    }

    /// ALSA's name for it, or that of the test microphone.
    public let name: String
    public let reason: Reason
    /// What people call it; nil if only ALSA knows it.
    private let title: String?

    /// ALSA's name for the microphone that the user has chosen for everything.
    public static let systemDefault = "default"

    /// - Parameters:
    ///   - name: as requested; nil for the camera's own, or else ALSA's default.
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

    /// What it is and why, for people.
    public var summary: String {
        let name = title.map { "\($0) (\(self.name))" } ?? self.name
        return switch reason {
        case .requested: name
        case .inCamera: "\(name), the camera's own"
        case .systemDefault: "\(name), because the camera has no microphone of its own"
        }
    }
}
