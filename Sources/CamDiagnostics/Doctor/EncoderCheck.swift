import CamAcceleration
import Encoder

/// Checks every render node, its driver, and software.
struct EncoderCheck {
    let files: MachineFiles
    let deviceAccess: DeviceAccess

    /// Returns the findings, and whether a thread now hangs in a driver.
    func look() -> (findings: [Finding], leavesThread: Bool) {
        let software = EncoderEntry.software()
        let nodes = RenderNode.all()
        var (findings, leavesThread) = (nodes.isEmpty ? [absence()] : [], false)
        for node in nodes {
            if let refusal = deviceAccess.refusal(of: node, class: "char-drm", module: "drm") {
                findings.append(
                    Finding(.encoders, .broken, node, refusal.message, remedy: refusal.remedy))
                continue
            }
            let entry = EncoderEntry(node: node)
            if entry.hangs { leavesThread = true }
            findings.append(finding(node, entry))
        }
        findings.append(
            Finding(
                .encoders, software.problem == nil ? .fine : .broken, "software",
                software.problem ?? software.driver,
                remedy: software.problem == nil
                    ? nil : "install the distribution's FFmpeg: sudo apt install libavcodec-extra"))
        return (findings, leavesThread)
    }

    private func finding(_ node: String, _ entry: EncoderEntry) -> Finding {
        let kernelDriver = kernelDriver(of: node)
        guard let problem = entry.problem else {
            let codecs = Set(entry.profiles.map(\.codec)).sorted().joined(separator: " and ")
            return Finding(.encoders, .fine, node, "encodes \(codecs): \(entry.driver)")
        }
        return Finding(
            .encoders, .broken, node, entry.hangs ? "its driver is not responding" : problem,
            // A driver that hangs is installed.
            remedy: entry.hangs
                ? "restart the machine, or use --encoder software"
                : kernelDriver.flatMap(Self.package).map { "sudo apt install \($0)" })
    }

    /// The finding if there is no render node at all.
    func absence() -> Finding {
        let cards = files.names(in: "/sys/class/drm").filter { $0.hasPrefix("renderD") }
        if let card = cards.first {
            return Finding(
                .encoders, .note, "/dev/dri/\(card)", "the kernel has it, but this /dev does not",
                remedy: "pass it to the container: --device /dev/dri")
        }
        return Finding(
            .encoders, .note, "GPU", "no render node in /dev/dri: no GPU, or its kernel driver is not loaded")
    }

    private func kernelDriver(of node: String) -> String? {
        node.split(separator: "/").last.flatMap { files.linkedName("/sys/class/drm/\($0)/device/driver") }
    }

    /// Debian's and Ubuntu's package with the VA-API driver for a kernel driver; nil if none encodes.
    static func package(for kernelDriver: String) -> String? {
        switch kernelDriver {
        case "amdgpu", "radeon", "virtio-pci", "virtio_gpu": "mesa-va-drivers"
        case "i915", "xe": "intel-media-va-driver"
        default: nil
        }
    }
}
