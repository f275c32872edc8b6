import CamAcceleration
import CamPlatform
import CamSound
import Capture
import Encoder

/// Checks every video node, and looks for cameras that have none.
struct CameraCheck {
    let files: MachineFiles
    let deviceAccess: DeviceAccess

    func findings() -> [Finding] {
        let cameras = VideoNode.all().compactMap(finding)
        if cameras.contains(where: { $0.verdict == .fine }) { return cameras }
        let isBroken = cameras.contains { $0.verdict == .broken }
        return cameras + [absence(hasNodes: isBroken)].compactMap { $0 }
    }

    /// Returns the finding for a node; nil if the node is not a camera.
    private func finding(_ path: String) -> Finding? {
        if let refusal = deviceAccess.refusal(of: path, class: "char-video4linux", module: "videodev") {
            return Finding(.cameras, .broken, path, refusal.message, remedy: refusal.remedy)
        }
        let entry = CameraEntry(path: path, withControls: false)
        guard let entry else { return nil }
        if let problem = entry.problem { return Finding(.cameras, .broken, path, problem) }
        guard !entry.formats.isEmpty else {
            return Finding(
                .cameras, .broken, path, "\(entry.name ?? "a camera") offers no pixel format",
                remedy: "unplug the camera and plug it in again")
        }
        let ownLink = StableLink.find(for: path, in: StableLink.ownFolder)
        let links = [ownLink, entry.stablePath].compactMap { $0 }.map { ", \($0)" }.joined()
        let name = "\(entry.name ?? "camera") (\(entry.driver ?? "unknown driver"))\(links)"
        if let reservation = entry.reservation {
            return Finding(
                .cameras, .note, path, "\(name): used only with --device \(path): \(reservation)")
        }
        guard isBusy(path) else { return Finding(.cameras, .fine, path, name) }
        return Self.busy(path, name, holder: DeviceHolder.find(of: path))
    }

    private func isBusy(_ path: String) -> Bool {
        do throws(CaptureError) { return try Camera(path: path).isBusy } catch { return false }
    }

    /// The finding for a camera from which a program streams, which is fine if the program is camrec.
    static func busy(_ path: String, _ name: String, holder: String?) -> Finding {
        if let holder, holder.hasPrefix("camrec ") {
            return Finding(.cameras, .fine, path, "\(name); recorded by \(holder)")
        }
        return Finding(
            .cameras, .broken, path, "\(DeviceAccess.occupation) \(holder ?? "another program"): \(name)",
            remedy: "close that program, or record with --wait")
    }

    /// The finding if no camera works: why there may be none.
    func absence(hasNodes: Bool) -> Finding? {
        if hasNodes { return nil }
        let hidden = files.names(in: "/sys/class/video4linux").filter { $0.hasPrefix("video") }
        if let first = hidden.first(where: { !files.exists("/dev/\($0)") }) {
            return Finding(
                .cameras, .broken, "/dev/\(first)", "the kernel has it, but this /dev does not",
                remedy: "pass it to the container: --device /dev/\(first)")
        }
        if let interface = interfaceWithoutDriver {
            return Finding(
                .cameras, .broken, "USB \(interface)", "a webcam is plugged in, but its driver is not loaded",
                remedy: "sudo modprobe uvcvideo")
        }
        return Finding(
            .cameras, .broken, "camera", "none found",
            remedy: "plug one in; 'lsusb' lists what the machine sees")
    }

    /// The name of a USB interface of the video class (0e) without a driver.
    private var interfaceWithoutDriver: String? {
        let folder = "/sys/bus/usb/devices"
        return files.names(in: folder).first {
            files.text("\(folder)/\($0)/bInterfaceClass")?.hasPrefix("0e") == true
                && !files.exists("\(folder)/\($0)/driver")
        }
    }
}

// MARK: Microphones

/// Checks every microphone: whether this user may record from it, and whether it delivers sound.
///
/// Problems are notes, because a recording needs no sound.
struct MicrophoneCheck {
    let deviceAccess: DeviceAccess

    /// How long to listen.
    private static let time = Duration.milliseconds(300)
    /// Seconds.
    private static let patience = 5

    func findings() -> [Finding] { MicrophoneFinder().microphones.map(finding) }

    private func finding(_ entry: MicrophoneEntry) -> Finding {
        if let refusal = deviceAccess.refusal(of: entry.node, class: "char-alsa", module: "snd") {
            return Finding(.microphones, .note, entry.name, refusal.message, remedy: refusal.remedy)
        }
        // ALSA may wait for a device, or for a server, that does not respond.
        let listening: Result<Int, SoundError>? = WatchedThread().run(patience: Self.patience) {
            do throws(SoundError) { return .success(try Self.peak(of: Microphone(entry.name))) } catch {
                return .failure(error)
            }
        }
        do throws(SoundError) {
            guard let peak = try listening?.get() else { throw SoundError(.hung, entry.name) }
            guard peak > 0 else {
                return Finding(
                    .microphones, .note, entry.name, "\(entry.title): delivers nothing or only zeros",
                    remedy: "see 'alsamixer': it may be switched off")
            }
            return Finding(.microphones, .fine, entry.name, "\(entry.title), peak \(peak * 100 / 32768) %")
        } catch {
            return Finding(.microphones, .note, entry.name, error.reason, remedy: error.remedy)
        }
    }

    /// The largest sample, from 0 to 32768.
    private static func peak(of microphone: Microphone) throws(SoundError) -> Int {
        let end = Instant.now + time
        var largest = 0
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 8192 * microphone.format.channels)
        defer { room.deallocate() }
        while Instant.now < end {
            guard let reading = try microphone.read(into: room, until: end) else { continue }
            for sample in room[..<(reading.frames * microphone.format.channels)] {
                largest = max(largest, Int(sample.magnitude))
            }
        }
        return largest
    }
}

// MARK: Encoders

/// Checks every render node with its driver, and the software encoders.
struct EncoderCheck {
    let files: MachineFiles
    let deviceAccess: DeviceAccess

    /// Returns the findings, and whether a thread now hangs in a driver.
    func look() -> (findings: [Finding], hasHungThread: Bool) {
        let software = EncoderEntry.software()
        let nodes = RenderNode.all()
        var (findings, hasHungThread) = (nodes.isEmpty ? [absence()] : [], false)
        for node in nodes {
            if let refusal = deviceAccess.refusal(of: node, class: "char-drm", module: "drm") {
                findings.append(
                    Finding(.encoders, .broken, node, refusal.message, remedy: refusal.remedy))
                continue
            }
            let entry = EncoderEntry(node: node)
            if entry.hangs { hasHungThread = true }
            findings.append(finding(node, entry))
        }
        findings.append(
            Finding(
                .encoders, software.problem == nil ? .fine : .broken, "software",
                software.problem ?? software.driver,
                remedy: software.problem == nil
                    ? nil : "install the distribution's FFmpeg: sudo apt install libavcodec-extra"))
        return (findings, hasHungThread)
    }

    private func finding(_ node: String, _ entry: EncoderEntry) -> Finding {
        let kernelDriver = kernelDriver(of: node)
        guard let problem = entry.problem else {
            let codecs = Set(entry.profiles.map(\.codec)).sorted().joined(separator: " and ")
            return Finding(.encoders, .fine, node, "encodes \(codecs): \(entry.driver)")
        }
        return Finding(
            .encoders, .broken, node, entry.hangs ? "its driver is not responding" : problem,
            // A driver that hangs is installed already.
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

    /// The package of Debian and Ubuntu with the VA-API driver for a kernel driver; nil if no package has an
    /// encoder.
    static func package(for kernelDriver: String) -> String? {
        switch kernelDriver {
        case "amdgpu", "radeon", "virtio-pci", "virtio_gpu": "mesa-va-drivers"
        case "i915", "xe": "intel-media-va-driver"
        default: nil
        }
    }
}
