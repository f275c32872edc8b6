import Bitstream
import CamPlatform

/// The pictures of a live Annex B stream, in the guaranteed shape. Pictures that cannot be decoded are dropped.
///
/// The end of a picture is certain only when the next picture begins, one frame later. Senders write a
/// picture at once, so a pause counts as the end, too. If the picture continues after all, pictures are
/// dropped until the next keyframe, and `splitCount` grows: the caller should wait longer. Memory
/// is bounded, and any input is safe.
///
/// Use it in one thread.
final class LivePictures {
    private let assembler: AccessUnitAssembler
    private var shaper: StreamShaper
    /// The picture that was delivered before its end was certain.
    private var early: (number: Int, byteCount: Int)?
    /// The latest picture before which one was left out.
    private var numberAfterOmission: Int?
    /// The highest order count in the current sequence.
    private var highestOrder: Int?
    private var number = 0
    /// The number of pictures that continued after a pause.
    private(set) var splitCount = 0
    /// Whether a picture arrived that is shown before an earlier one.
    private(set) var isReordered = false

    /// Begins at the start of a stream.
    /// - Parameter byteLimit: the largest accepted picture, in bytes.
    init(codec: Codec, byteLimit: Int = AccessUnitAssembler.defaultByteLimit) {
        assembler = AccessUnitAssembler(codec: codec, byteLimit: byteLimit)
        // Each picture is copied before the next one is shaped.
        shaper = StreamShaper(pool: AccessUnitPool(codec: codec, limit: 1))
    }

    /// Adds the next bytes, and calls `body` for each picture that has ended.
    func add(_ chunk: RawSpan, arrival: Instant, _ body: (AccessUnit) -> Void) {
        assembler.add(chunk, arrival: arrival) { end($0, body) }
    }

    /// Records a pause: the current picture is probably complete.
    func pause(_ body: (AccessUnit) -> Void) {
        assembler.anticipate { unit in
            noteOmission(before: unit)
            guard early == nil, !unit.lacksUnits else { return }
            early = (unit.number, unit.pictureByteCount)
            deliver(unit, body)
        }
    }

    /// Ends the stream after a whole picture.
    func finish(arrival: Instant, _ body: (AccessUnit) -> Void) {
        assembler.finish(arrival: arrival) { end($0, body) }
    }

    /// Delivers a picture that has ended, unless that was done before.
    private func end(_ unit: borrowing ReceivedAccessUnit, _ body: (AccessUnit) -> Void) {
        noteOmission(before: unit)
        if let early = early.take(), early.number == unit.number {
            guard unit.lacksUnits || early.byteCount != unit.pictureByteCount else { return }
            splitCount += 1
            shaper.expectIDR()
            return
        }
        deliver(unit, body)
    }

    /// Pictures may refer to one that was left out because it was too large, even if it was delivered before its end.
    private func noteOmission(before unit: borrowing ReceivedAccessUnit) {
        guard unit.followsOmission, unit.number != numberAfterOmission else { return }
        numberAfterOmission = unit.number
        if early.take() != nil { splitCount += 1 }
        shaper.expectIDR()
    }

    private func deliver(_ unit: borrowing ReceivedAccessUnit, _ body: (AccessUnit) -> Void) {
        if let order = unit.order { note(order) }
        // Later pictures may refer to what is missing.
        guard !unit.lacksUnits else { return shaper.expectIDR() }
        guard let picture = shape(unit) else { return }
        number += 1
        body(picture)
    }

    private func note(_ order: PictureOrderCounter.Order) {
        if let highestOrder, !order.beginsSequence, order.count < highestOrder { isReordered = true }
        highestOrder = order.beginsSequence ? order.count : max(order.count, highestOrder ?? .min)
    }

    /// - Returns: nil for units without a picture, and for a picture that cannot be decoded.
    private func shape(_ unit: borrowing ReceivedAccessUnit) -> AccessUnit? {
        let arrival = unit.arrival ?? .start
        do throws(StreamShapeError) {
            return try unit.withUnsafeBytes { (bytes) throws(StreamShapeError) in
                try shaper.shape(bytes.bytes, frameNumber: number, sequence: 0, timestamp: arrival)
            }
        } catch {
            shaper.expectIDR()
            return nil
        }
    }
}
