import Foundation
import TestSupport
import Testing

@testable import CamDiagnostics
@testable import CamPlatform

/// What the doctor reports about machines that are simulated with files.
@Suite final class DoctorTests {
    private let folder = TemporaryFolder()
    private var root: String { folder.path }

    private var files: MachineFiles { MachineFiles(root: root) }

    private func put(_ path: String, _ text: String = "") {
        var folder = root
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            mkdir(folder, 0o755)
        }
        guard let file = fopen(root + path, "w") else { return }
        fwrite(text, 1, text.utf8.count, file)
        fclose(file)
    }

    private func deviceAccess(groups: Set<String> = [], enrolled: Set<String> = []) -> DeviceAccess {
        DeviceAccess(
            user: User(name: "ana", groups: groups, enrolledGroups: enrolled),
            environment: RuntimeEnvironment(files))
    }

    private func remedy(_ code: Int32, group: String?, _ deviceAccess: DeviceAccess) -> String? {
        deviceAccess.refusal(
            code, of: "/dev/video0", owningGroup: group, class: "char-video4linux", module: "videodev")?
            .remedy
    }

    @Test("recognises a container by its manager's traces")
    func containers() {
        #expect(RuntimeEnvironment(files).container == nil)
        put("/proc/1/environ", "PATH=/bin\0container=lxc\0")
        #expect(RuntimeEnvironment(files).container == "lxc")
        put("/.dockerenv")
        #expect(RuntimeEnvironment(files).container == "docker")
    }

    @Test("recognises a system service by its control group, unlike a session")
    func services() {
        put("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-1.scope\n")
        #expect(RuntimeEnvironment(files).service == nil)
        put("/proc/self/cgroup", "0::/system.slice/system-camrec.slice/camrec@door.service\n")
        #expect(RuntimeEnvironment(files).service == "camrec@door.service")
    }

    @Test("reports a hidden /sys and an absent udev")
    func hiddenSystem() {
        #expect(RuntimeEnvironment(files).findings.map(\.subject) == ["system", "/sys", "udev"])
        put("/sys/class/drm/card0")
        put("/run/udev/data/c81:0")
        #expect(RuntimeEnvironment(files).findings.map(\.subject) == ["system"])
    }

    @Test("tells a user outside the node's group to join it")
    func strangersJoin() {
        #expect(
            remedy(EACCES, group: "video", deviceAccess())
                == "sudo usermod -aG video ana, then log out and in again"
        )
    }

    @Test("tells a user who joined since the last login to log in again")
    func newMembersLogIn() {
        #expect(remedy(EACCES, group: "video", deviceAccess(enrolled: ["video"])) == "log out and in again")
    }

    @Test("asks for the udev rules if a node's group has no access")
    func rulesAreMissing() {
        #expect(remedy(EACCES, group: nil, deviceAccess())?.contains("udev rules") == true)
    }

    @Test("attributes EPERM to the control group: the unit's, or the container's")
    func devicePolicy() {
        #expect(remedy(EPERM, group: "video", deviceAccess())?.contains("--device /dev/video0") == true)
        put("/proc/self/cgroup", "0::/system.slice/door.service\n")
        #expect(
            remedy(EPERM, group: "video", deviceAccess())?.contains("DeviceAllow=char-video4linux rw") == true
        )
    }

    @Test("does not treat a busy node as a matter of permissions")
    func busyIsNotForbidden() { #expect(remedy(EBUSY, group: "video", deviceAccess()) == nil) }

    @Test("explains a missing camera: not in this /dev, without a driver, or none at all")
    func absentCameras() {
        func absence() -> Finding? {
            CameraCheck(files: files, deviceAccess: deviceAccess()).absence(hasNodes: false)
        }
        #expect(absence()?.message == "none found")
        put("/sys/bus/usb/devices/1-1:1.0/bInterfaceClass", "0e\n")
        #expect(absence()?.remedy == "sudo modprobe uvcvideo")
        put("/sys/class/video4linux/video3/name", "Webcam")
        #expect(absence()?.subject == "/dev/video3")
    }

    @Test("reports a GPU that this /dev lacks")
    func absentGPU() {
        func subject() -> String {
            EncoderCheck(files: files, deviceAccess: deviceAccess()).absence().subject
        }
        #expect(subject() == "GPU")
        put("/sys/class/drm/renderD128/dev", "226:128")
        #expect(subject() == "/dev/dri/renderD128")
    }

    @Test("services: not installed, without settings, with wrong ones, without the camera, with valid ones")
    func installation() {
        func finding(_ check: SettingsCheck = .sound(device: "/dev/camrec/door")) -> Finding? {
            ServiceCheck(files: files, checkSettings: { _ in check }).findings().first
        }
        #expect(finding()?.remedy?.contains("sudo scripts/install") == true)
        put("/etc/systemd/system/camrec@.service")
        #expect(finding()?.subject == "/etc/camrec")
        #expect(finding()?.remedy?.contains(" examples/camera.conf ") == true)
        put("/usr/share/doc/camrec/examples/camera.conf")
        #expect(finding()?.remedy?.contains(" /usr/share/doc/camrec/examples/camera.conf ") == true)
        put("/etc/camrec/door.conf")
        let problem = SettingsProblem(path: "door.conf", line: 1, "unknown key 'x'")
        #expect(finding(.wrong([problem]))?.verdict == .broken)
        #expect(finding()?.message == "its camera is missing: /dev/camrec/door")
        #expect(finding(.sound(device: nil))?.remedy == "sudo systemctl start camrec@door.service")
        put("/dev/camrec/door")
        #expect(finding()?.remedy == "sudo systemctl start camrec@door.service")
        put("/sys/fs/cgroup/system.slice/system-camrec.slice/camrec@door.service/cgroup.procs", "42\n")
        #expect(finding()?.verdict == .fine)
    }

    @Test(
        "a disk is fine, or nearly full, or full",
        arguments: [(64 << 30, "fine"), (500 << 20, "note"), (1 << 20, "broken")])
    func room(free: Int, verdict: String) {
        #expect(DiskCheck.finding("/var", free: free).verdict.rawValue == verdict)
    }

    @Test(
        "room is in units that a person can imagine",
        arguments: [
            (73 << 30, "73 GiB free: 43 hours at 4 Mbit/s"),
            (512 << 20, "512 MiB free: 17 minutes at 4 Mbit/s"),
            (30 << 20, "30 MiB free: 1 minute at 4 Mbit/s"),
            (3 << 29, "1.5 GiB free: 53 minutes at 4 Mbit/s"),
            (1 << 40, "1024 GiB free: 25 days at 4 Mbit/s"),
        ])
    func units(free: Int, text: String) {
        #expect(DiskCheck.finding("/var", free: free).message == text)
    }

    @Test("a camera in use is fine if camrec uses it, and busy if another program does")
    func busyCameras() {
        let own = CameraCheck.busy("/dev/video0", "a camera", holder: "camrec (pid 7)")
        let other = CameraCheck.busy("/dev/video0", "a camera", holder: "cheese (pid 8)")
        let encoder = Finding(.encoders, .fine, "software", "libx264")
        #expect(Diagnosis([own, encoder]).obstacle == nil)
        #expect(Diagnosis([other, encoder]).obstacle == .busy)
        #expect(Diagnosis([other, own, encoder]).obstacle == nil)
        #expect(
            Diagnosis([CameraCheck.busy("/dev/video0", "a camera", holder: nil), encoder]).obstacle == .busy)
    }

    @Test("a recording needs one working camera, one encoder, and room")
    func obstacles() {
        let camera = Finding(.cameras, .fine, "/dev/video0", "a camera")
        let forbidden = Finding(.cameras, .broken, "/dev/video1", "permission denied: …")
        let encoder = Finding(.encoders, .fine, "software", "libx264")
        let broken = Finding(.encoders, .broken, "/dev/dri/renderD128", "no driver")
        #expect(Diagnosis([camera, forbidden, encoder, broken]).obstacle == nil)
        #expect(Diagnosis([forbidden, encoder]).obstacle == .noPermission)
        #expect(
            Diagnosis([Finding(.cameras, .broken, "camera", "none found"), encoder]).obstacle == .noCamera)
        #expect(Diagnosis([camera, broken]).obstacle == .noEncoder)
        #expect(Diagnosis([camera, encoder, Finding(.disk, .broken, ".", "full")]).obstacle == .noRoom)
    }
}
