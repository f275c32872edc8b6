import CV4L2
import CamPlatform
import Glibc

/// Where sysfs places a video node: its hardware, and which of that hardware's nodes it is.
struct NodePlace: Sendable, Hashable {
    /// The USB interface, such as `1.0`: two cameras in one case have one each. Nil if it is not on USB.
    let interface: String?
    /// Which of its device's nodes it is: a grabber has one per channel.
    let index: Int
    /// The USB device that it belongs to; nil for others.
    let unit: USBUnit?

    /// A USB device, as far as its descriptors distinguish it from others.
    struct USBUnit: Sendable, Hashable {
        /// Where it is plugged in.
        let port: String
        /// Vendor, product and serial number; nil without a serial number.
        let serial: String?
    }
}

extension NodePlace {
    /// The place of a node, or of a link to one; nil if sysfs does not have it.
    static func find(_ path: String) -> NodePlace? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return nil }
        let (major, minor) = (cv4l2_major(status.st_rdev), cv4l2_minor(status.st_rdev))
        return find(inFolder: "/sys/dev/char/\(major):\(minor)")
    }

    /// - Parameter folder: the node's folder in sysfs.
    static func find(inFolder folder: String) -> NodePlace? {
        guard let device = realpath("\(folder)/device", nil) else { return nil }
        defer { free(device) }
        let path = String(cString: device)
        guard let index = text("\(folder)/index").flatMap({ Int($0) }) else { return nil }
        guard let unit = unit(ofInterface: path) else {
            return NodePlace(interface: nil, index: index, unit: nil)
        }
        return NodePlace(
            interface: path.split(separator: ":").last.map(String.init), index: index, unit: unit)
    }

    private static func unit(ofInterface path: String) -> USBUnit? {
        let port = Folder.of(path)
        guard let maker = text("\(port)/idVendor"), let model = text("\(port)/idProduct") else { return nil }
        let serial = text("\(port)/serial").flatMap { $0.isEmpty ? nil : "\(maker):\(model):\($0)" }
        return USBUnit(port: port, serial: serial)
    }

    /// The first line of a file.
    private static func text(_ path: String) -> String? {
        let descriptor = cv4l2_open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { cv4l2_read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
