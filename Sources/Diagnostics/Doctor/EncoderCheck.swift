import Acceleration
import Encoder

/// Looks at every render node, its driver, and software.
struct EncoderCheck {
    let files: MachineFiles
    let doors: Doors

    func findings() -> [Finding] {
        let software = EncoderEntry.software()
        let nodes = RenderNode.all()
        return (nodes.isEmpty ? [absence()] : nodes.map(finding)) + [
            Finding(
                .encoders, software.problem == nil ? .fine : .broken, "software",
                software.problem ?? software.driver,
                remedy: software.problem == nil
                    ? nil : "install the distribution's FFmpeg: sudo apt install libavcodec-extra")
        ]
    }

    private func finding(_ node: String) -> Finding {
        if let refusal = doors.refusal(of: node, class: "char-drm", module: "drm") {
            return Finding(.encoders, .broken, node, refusal.message, remedy: refusal.remedy)
        }
        let entry = EncoderEntry(node: node)
        let kernelDriver = kernelDriver(of: node)
        guard let problem = entry.problem else {
            let codecs = Set(entry.profiles.map(\.codec)).sorted().joined(separator: " and ")
            return Finding(.encoders, .fine, node, "encodes \(codecs): \(entry.driver)")
        }
        return Finding(
            .encoders, .broken, node, problem,
            remedy: kernelDriver.flatMap(Self.package).map { "sudo apt install \($0)" })
    }

    /// Where there is no render node at all.
    func absence() -> Finding {
        let cards = files.names(in: "/sys/class/drm").filter { $0.hasPrefix("renderD") }
        if let card = cards.first {
            return Finding(
                .encoders, .note, "/dev/dri/\(card)", "the kernel has it, but it is not in this /dev",
                remedy: "give it to the container when it starts: --device /dev/dri")
        }
        return Finding(
            .encoders, .note, "GPU", "no render node in /dev/dri: no GPU, or its kernel driver is not loaded")
    }

    private func kernelDriver(of node: String) -> String? {
        node.split(separator: "/").last.flatMap { files.linkedName("/sys/class/drm/\($0)/device/driver") }
    }

    /// Debian's and Ubuntu's package with the VA-API driver for a kernel driver; nil where none encodes.
    static func package(for kernelDriver: String) -> String? {
        switch kernelDriver {
        case "amdgpu", "radeon", "virtio-pci", "virtio_gpu": "mesa-va-drivers"
        case "i915", "xe": "intel-media-va-driver"
        default: nil
        }
    }
}
