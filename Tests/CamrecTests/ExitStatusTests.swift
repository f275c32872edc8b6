import Capture
import Encoder
import Glibc
import CamRecorder
import CamCommandLine
import Testing

@testable import camrec
import Containers

/// The codes of docs/reference/exit-codes.md.
@Suite struct ExitStatusTests {
    private static let cameras: [(CaptureError.Kind, Int32)] = [
        (.unsupported("only YUYV"), 64), (.badFile("it ends early"), 65), (.noCamera, 66), (.notFound, 66),
        (.noFile, 66), (.unknownSource(advice: "use --device test"), 66),
        (.notACaptureDevice("metadata"), 66),
        (.unreadable([]), 66), (.noBandwidth, 74), (.lost, 74), (.silent(for: .seconds(2)), 74),
        (.sourceChanged, 74), (.driverMisbehaved("no index"), 74),
        (.systemCallFailed("open", errno: EIO), 74),
        (.busy(holder: nil), 75), (.permissionDenied(group: "video"), 77),
    ]

    @Test("a camera's error has the code that says what to do about it", arguments: cameras)
    func camera(kind: CaptureError.Kind, code: Int32) {
        #expect(
            ExitStatus(RecordingError.capture(CaptureError(kind, device: "/dev/video0"))).rawValue == code)
    }

    private static let encoders: [(EncoderError.Kind, Int32)] = [
        (.contradiction("--qp with --bitrate"), 64), (.noRenderNode, 69),
        (.nodeNotFound("/dev/dri/renderD9"), 69),
        (.noDriver(node: "/dev/dri/renderD128", detail: ""), 69),
        (.driverHangs(node: "/dev/dri/renderD128"), 69),
        (.unsupported("B frames"), 69), (.openFailed(encoder: "libx264", detail: ""), 69),
        (.encodeFailed(encoder: "libx264", detail: ""), 69), (.hung, 69), (.noneUsable([]), 69),
        (.exhausted([]), 69), (.damagedPicture("no JPEG"), 74), (.beforeIDR, 74),
        (.nodePermissionDenied(node: "/dev/dri/renderD128", group: "render"), 77),
    ]

    @Test("an encoder's error has its code", arguments: encoders)
    func encoder(kind: EncoderError.Kind, code: Int32) {
        #expect(ExitStatus(RecordingError.encoder(EncoderError(kind))).rawValue == code)
    }

    private static let outputs: [(OutputError.Kind, Int32)] = [
        (.noContainerLibrary(name: "libavformat", reason: ""), 69), (.exists, 73), (.inUse, 73),
        (.notCreated(errno: EACCES), 73), (.untrustedLink("/tmp/a"), 73),
        (.usedTwice("b"), 73), (.diskFull, 74), (.closedPipe, 74), (.writeFailed(errno: EIO), 74),
        (.blocked, 74),
        (.notContinued(errno: ENOSPC), 74), (.removed, 74), (.notTaken(because: nil), 74),
    ]

    @Test("an output that cannot be created differs from one that fails later", arguments: outputs)
    func output(kind: OutputError.Kind, code: Int32) {
        let error = OutputError(kind, output: "a.h264")
        #expect(ExitStatus(RecordingError.output(error)).rawValue == code)
        #expect(ExitStatus(RemuxError.output(error)).rawValue == code)
    }

    private static let inputs: [(InputError.Kind, Int32)] = [
        (.contradiction("--codec"), 64), (.notAFile, 65), (.malformed("no start code"), 65),
        (.notOpened(errno: ENOENT), 66), (.notOpened(errno: EMFILE), 74),
        (.noContainerLibrary(name: "libavformat", reason: ""), 69),
        (.readFailed(errno: EIO), 74), (.shrunk, 74), (.interrupted, 74), (.notOpened(errno: EACCES), 77),
    ]

    @Test("an input that cannot be read has its code", arguments: inputs)
    func input(kind: InputError.Kind, code: Int32) {
        #expect(ExitStatus(RemuxError.input(InputError(kind, input: "a.h264"))).rawValue == code)
    }

    @Test("a system without threads or descriptors is an input or output error")
    func resources() { #expect(ExitStatus(RecordingError.noResources).rawValue == 74) }
}
