import Bitstream
import Encoder
import CamPictures

/// An encoder that holds back, drops and fails under a test's control.
final class ScriptedEncoder: PictureEncoder, @unchecked Sendable {
    // Safe to share: the encode thread's alone, until it has ended.

    enum Failure { case encoding, output, drain }

    var waitsForDriver = false
    var wantsAnotherSession = false
    var rateChanges: RateChanges = []
    var ratePromise: RatePromise?
    /// Called when no more pictures come.
    var onDrain: () -> Void = {}
    /// Called before an access unit comes out.
    var onAccessUnit: () -> Void = {}
    /// Pictures that it holds back before the first comes out.
    var delay = 0
    /// Pictures that never come out, by their count from 0.
    var swallows: Set<Int> = []
    /// The failures, by picture, counted from 0.
    var failures: [Int: (Failure, EncoderError.Kind)] = [:]
    var drainFailure: EncoderError.Kind?
    /// Called with each picture's number, counted from 0, when it arrives.
    var onPicture: (Int) -> Void = { _ in }
    /// The small picture that it makes of each.
    var thumbnail: LumaThumbnail?
    /// Called with each picture's number, counted from 0, before it is encoded.
    var onPrepare: (Int) -> Void = { _ in }
    /// The requested kinds.
    private(set) var kinds: [FrameKind] = []

    /// How often it was told that every encoder has seen the picture.
    private(set) var releases = 0

    private var count = 0
    private var inside: [(unit: AccessUnit, failure: EncoderError.Kind?)] = []
    private var isDraining = false

    static let broken = EncoderError.Kind.encodeFailed(encoder: "scripted", detail: "broken")

    func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError) { onPrepare(count) }

    func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError) {
        let index = count
        count += 1
        onPicture(index)
        if case (.encoding, let kind)? = failures[index] { throw EncoderError(kind) }
        kinds.append(kind)
        if swallows.contains(index) { return }
        let unit = accessUnit(
            number: frameNumber, isIDR: kind == .idr, sequence: buffer.sequence, timestamp: buffer.timestamp)
        if case (.output, let kind)? = failures[index] {
            inside.append((unit, kind))
        } else {
            inside.append((unit, nil))
        }
    }

    func releasePicture() { releases += 1 }

    func nextAccessUnit() throws(EncoderError) -> AccessUnit? {
        guard inside.count > (isDraining ? 0 : delay) else { return nil }
        onAccessUnit()
        let (unit, failure) = inside.removeFirst()
        if let failure { throw EncoderError(failure) }
        return unit
    }

    func drain() throws(EncoderError) {
        onDrain()
        if let drainFailure { throw EncoderError(drainFailure) }
        isDraining = true
    }
}
