import Bitstream
import CFFmpeg
import CamPictures
import CamPlatform
import Synchronization
import CamConversion

/// An encoder of libavcodec: pictures in, access units of the guaranteed shape out.
///
/// Everything is called from one thread, the compression session's.
public final class VideoEncoder: PictureEncoder {
    /// The encoder that was opened, with its current rates.
    public private(set) var details: EncoderDetails
    /// The encoder's name for messages: codec, device, entry point, profile, rate control.
    public var name: String { details.name }
    /// Remarks on the setup, where it is not obvious.
    public let notes: [EncoderNote]
    /// The size of the treated picture, rounded up to even.
    public let size: PictureSize
    /// The color encoding that the stream declares.
    public let color: ColorEncoding
    /// The shape of the pixels; nil for square pixels.
    var pixelAspect: PixelAspect? { properties.pixelAspect }
    /// The largest number of B pictures in a row.
    var bFrames: Int { properties.bFrames }

    public let waitsForDriver: Bool

    /// The limits that the stream's rate observes.
    public private(set) var ratePromise: RatePromise?

    private let session: LibavEncoder
    private var hasSent = false
    /// The source of converted pictures, which other encoders may share.
    let input: any EncoderInput
    private var finisher: StreamFinisher
    private var pending = PendingFrames()
    private let held = HeldBuffers()
    private var properties: SessionProperties
    private let rates: SessionRates
    private let regulator: RateRegulator
    /// Tells the provider how far the session got.
    let progress = EncoderProgress()

    init(
        session: consuming LibavEncoder, input: any EncoderInput, properties: SessionProperties,
        details: EncoderDetails, waitsForDriver: Bool, regulator: RateRegulator, rates: SessionRates,
        notes: [EncoderNote] = []
    ) throws(EncoderError) {
        let amender = ParameterSetAmender(
            size: properties.size, color: properties.color, frameRate: properties.frameRate,
            chromaSiting: properties.chromaSiting, pixelAspect: properties.pixelAspect,
            // A later session of the same stream may have other rates.
            level: rates.followsTime ? nil : Level.declared(by: properties)?.number(in: properties.codec))
        finisher = StreamFinisher(
            codec: properties.codec, encoder: details.name,
            slicesPerPicture: properties.slices == 1 ? 1 : nil, amender: amender,
            statesCaptureTime: properties.statesCaptureTime)
        try finisher.prime(extradata: session.extradata)
        self.session = session
        self.input = input
        self.details = details
        self.waitsForDriver = waitsForDriver
        self.notes = properties.notes + notes
        size = properties.size
        color = properties.color
        self.properties = properties
        (self.regulator, self.rates) = (regulator, rates)
        ratePromise = properties.rateModel.promise
        regulator.begin(
            properties.rateModel, nominalRate: properties.frameRate.framesPerSecond, opening: rates.opening,
            followsTime: rates.followsTime)
    }

    public var wantsAnotherSession: Bool { regulator.wantsAnotherSession }

    public var rateChanges: RateChanges {
        switch properties.rateControl.mode {
        case .icq, .cqp: []
        case .cbr: rates.followsTime ? .averageInPlace : []
        case .vbr: rates.followsTime ? [.averageInPlace, .maximum, .maximumInPlace] : .maximum
        case .qvbr: rates.followsTime ? [.maximum, .maximumInPlace] : .maximum
        }
    }

    public func changeRates(to request: RateControlRequest) -> Bool {
        guard rates.followsTime, let bucket = properties.rateModel.encoderBucket,
            let (control, model) = try? properties.changingRates(to: request),
            control.mode == properties.rateControl.mode, let changed = model.encoderBucket
        else { return false }
        properties.rateControl = control
        properties.rateModel = model
        details.rateControl = control
        ratePromise = model.promise
        regulator.change(to: model)
        if changed != bucket { setRates(changed.rate, size: changed.size) }
        return true
    }

    /// Changes the rates of libx264, which applies them from the next picture on.
    private func setRates(_ rate: Double, size: Double) {
        if properties.rateControl.mode != .qvbr { session.context.pointee.bit_rate = Int64(rate) }
        session.context.pointee.rc_max_rate = Int64(rate)
        session.context.pointee.rc_buffer_size = Int32(clamping: Int(size))
    }

    public func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError) {
        _ = try input.frame(for: buffer, in: slot)
    }

    public var thumbnail: LumaThumbnail? { input.thumbnail }

    public func slot(_ number: Int) -> ConversionSlot? {
        // Preparing a slot would delay the first picture.
        progress.hasProduced ? input.slot(number) : nil
    }

    public func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError) {
        let frame = try input.frame(for: buffer, in: 0)
        let time = properties.playbackRate?.playingTime(ofFrame: frameNumber) ?? buffer.timestamp
        let rate = regulator.frame(at: time, next: pending.nextTime ?? time)
        if let rate, let bucket = properties.rateModel.encoderBucket {
            setRates(Double(rate), size: bucket.size)
        }
        frame.pointee.pts = Int64(frameNumber)
        frame.pointee.pict_type = kind == .idr ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        try session.send(frame)
        hasSent = true
        pending.append(
            PendingFrames.Frame(
                number: frameNumber, timestamp: buffer.timestamp, sequence: buffer.sequence,
                isIDRWanted: kind == .idr), playedAt: time)
        if input.readsBuffer { held.hold(buffer, number: frameNumber) }
    }

    public func giveBuffersBack() { held.letGoOfAll() }

    public func releasePicture() { input.release() }

    public func nextAccessUnit() throws(EncoderError) -> AccessUnit? {
        while let packet = try session.receive() {
            if let unit = try finish(packet) { return unit }
        }
        return nil
    }

    /// Nil for a packet without a picture.
    private func finish(_ packet: UnsafeMutablePointer<AVPacket>) throws(EncoderError) -> AccessUnit? {
        guard let frame = pending.remove(number: Int(packet.pointee.pts)) else {
            throw EncoderError(
                .encodeFailed(
                    encoder: name,
                    detail: "it returned picture \(packet.pointee.pts), which it never received"))
        }
        held.letGo(ofNumber: frame.number)
        let bytes = UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
        let unit = try finisher.finish(bytes, frame)
        if let unit {
            progress.hasProduced = true
            regulator.coded(bits: unit.count * 8)
        }
        return unit
    }

    public func drain() throws(EncoderError) {
        // libavcodec 7.1 crashes when it drains a VA-API encoder that never took a picture (hw_base_encode.c).
        if hasSent { try session.send(nil) }
    }
}

// MARK: - Frames in the encoder

/// Facts about each picture in the encoder, kept until its access unit comes out.
struct PendingFrames {
    struct Frame {
        var number: Int
        var timestamp: Instant
        var sequence: UInt32
        /// Whether an IDR was requested. The encoder may also produce unrequested ones.
        var isIDRWanted: Bool
    }

    /// More frames than any encoder holds back: 16 B pictures, 250 of lookahead, one per thread. Older frames
    /// are lost.
    private static let limit = 512

    private var frames: [Frame] = []
    /// The playing times of the pending frames, in order. Each frame that comes out removes the earliest
    /// time, whatever its own.
    private var times: [Instant] = []

    init() {
        frames.reserveCapacity(Self.limit)
        times.reserveCapacity(Self.limit)
    }

    /// The playing time of the next frame to come out, as if frames came out in capture order; nil if the
    /// encoder holds none.
    var nextTime: Instant? { times.first }

    /// - Parameter time: when the frame is played.
    mutating func append(_ frame: Frame, playedAt time: Instant) {
        if frames.count == Self.limit {
            frames.removeFirst()
            times.removeFirst()
        }
        frames.append(frame)
        times.append(time)
    }

    mutating func remove(number: Int) -> Frame? {
        guard let index = frames.firstIndex(where: { $0.number == number }) else { return nil }
        times.removeFirst()
        return frames.remove(at: index)
    }
}

/// The camera's buffers that an encoder reads, each held until its picture is coded.
///
/// Safe to use from any thread: a driver may return after its thread was given up and the buffers were
/// released.
final class HeldBuffers: Sendable {
    private let state = Mutex(State())

    /// The maximum number of held buffers. Beyond this, the oldest is released: an encoder that returns
    /// nothing must not leave the camera without buffers.
    private static let most = 2 * PixelBufferPool.heldByReader

    private struct State {
        var buffers: [(number: Int, claim: PixelBufferClaim)] = []
        var isOver = false

        init() { buffers.reserveCapacity(PixelBufferPool.maximumCount) }
    }

    deinit { letGoOfAll() }

    /// Holds a picture's buffer.
    /// - Parameter number: the frame's number.
    func hold(_ buffer: borrowing PixelBuffer, number: Int) {
        // Claimed under the lock, against a race with `letGoOfAll`: its caller still owns the buffer, which
        // therefore cannot return to the camera in between.
        let oldest = state.withLock { state -> PixelBufferClaim? in
            guard !state.isOver else { return nil }
            state.buffers.append((number, buffer.retain()))
            return state.buffers.count > Self.most ? state.buffers.removeFirst().claim : nil
        }
        oldest?.giveBack()
    }

    /// Releases the buffer of a picture that came out, and the buffers of pictures that the encoder lost. A
    /// picture is lost if a picture comes out that is more than `heldByReader` frames later.
    func letGo(ofNumber number: Int) {
        giveBackAll { $0 == number || $0 < number - PixelBufferPool.heldByReader }
    }

    /// Releases all buffers, and holds no buffers from now on.
    func letGoOfAll() {
        state.withLock { $0.isOver = true }
        giveBackAll { _ in true }
    }

    /// Releases buffers one at a time and without the lock: the last one may end its pool, which calls a
    /// driver.
    private func giveBackAll(_ isDone: (Int) -> Bool) {
        while true {
            let claim = state.withLock { state in
                state.buffers.firstIndex { isDone($0.number) }.map { state.buffers.remove(at: $0).claim }
            }
            guard let claim else { return }
            claim.giveBack()
        }
    }
}

// MARK: - Progress

/// Whether a session has produced anything. Outlives the session; used by the encode thread.
final class EncoderProgress {
    /// Whether at least one complete access unit came out.
    var hasProduced = false
}
