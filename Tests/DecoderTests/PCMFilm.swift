import Bitstream
import TestSupport

/// H.264 pictures of 32x32, each in one grey, as PCM: whatever their order and kind, each can be decoded by
/// itself.
struct PCMFilm {
    /// What a coded picture is.
    enum Kind: Int { case p = 5, b, i }

    /// `max_num_reorder_frames`; nil for no VUI.
    var declaredDepth: Int?
    /// Whether each picture is coded as two fields.
    var hasFields = false
    private var bytes: [[UInt8]] = []
    private var frameNumber = 0
    private var idrCount = 0

    init(declaredDepth: Int?, hasFields: Bool = false) {
        (self.declaredDepth, self.hasFields) = (declaredDepth, hasFields)
    }

    /// An access unit each.
    var accessUnits: [[UInt8]] { bytes }

    /// Adds an IDR picture, with the parameter sets.
    mutating func addIDR(grey: Int) {
        idrCount += 1
        frameNumber = 0
        add(.i, order: 0, isReference: true, grey: grey, isIDR: true)
    }

    /// Adds another picture; `order` counts from the last IDR picture.
    mutating func add(_ kind: Kind, order: Int, isReference: Bool, grey: Int) {
        add(kind, order: order, isReference: isReference, grey: grey, isIDR: false)
    }

    /// Adds a picture at which decoding can begin, with the parameter sets before it.
    /// - Parameter frameCount: how many frames later pictures are correct.
    mutating func addRecoveryPoint(
        _ kind: Kind = .i, order: Int, grey: Int, frameCount: Int = 0, isBrokenLink: Bool = false
    ) {
        let place = bytes.count
        add(kind, order: order, isReference: true, grey: grey, isIDR: false)
        var message = BitWriter()
        message.ue(frameCount)
        message.flag(true)
        message.flag(isBrokenLink)
        message.u(2, 0)
        let payload = message.rbsp
        let units = [sequenceSet, pictureSet, [6, 6, UInt8(payload.count)] + payload + [0x80]]
        bytes[place] = units.flatMap { [0, 0, 0, 1] + $0 } + bytes[place]
    }

    private mutating func add(_ kind: Kind, order: Int, isReference: Bool, grey: Int, isIDR: Bool) {
        if !isIDR { frameNumber += 1 }
        let header = UInt8((isReference ? 0x20 : 0) | (isIDR ? 5 : 1))
        for field in 0..<(hasFields ? 2 : 1) {
            let isField = hasFields ? field == 1 : nil
            // A field that follows an IDR one is another kind of picture.
            let isFirst = field == 0
            let type = isIDR && isFirst ? header : header & 0x60 | 1
            var slice = slice(
                isIDR && !isFirst ? .p : kind, order: order * 2 + field, isReference: isReference,
                isIDR: isIDR && isFirst, isBottom: isField)
            for _ in 0..<(hasFields ? 2 : 4) { slice.addPCM(isIDR && !isFirst ? .p : kind, grey: grey) }
            let sets = isIDR && isFirst ? [sequenceSet, pictureSet] : []
            bytes.append(
                (sets + [[type] + slice.rbsp]).flatMap {
                    [0, 0, 0, 1] + EmulationPrevention.escape($0.span.bytes)
                })
        }
        if !isReference { frameNumber -= 1 }
    }

    private func slice(
        _ kind: Kind, order: Int, isReference: Bool, isIDR: Bool, isBottom: Bool?
    ) -> BitWriter {
        var bits = BitWriter()
        bits.ue(0)
        bits.ue(kind.rawValue)
        bits.ue(0)
        bits.u(8, frameNumber & 255)
        if let isBottom {
            bits.flag(true)
            bits.flag(isBottom)
        }
        if isIDR { bits.ue(idrCount & 1) }
        bits.u(10, order & 1023)
        if kind == .b { bits.flag(true) }
        // As many references as the parameter set states, in the standard's order.
        if kind != .i { bits.u(2, 0) }
        if kind == .b { bits.flag(false) }
        if isIDR { bits.u(2, 0) } else if isReference { bits.flag(false) }
        bits.se(0)
        return bits
    }

    private var sequenceSet: [UInt8] {
        var bits = BitWriter()
        for value in [77, 0, 30] { bits.u(8, value) }
        // frame_num of 8 bits, pic_order_cnt_lsb of 10
        for value in [0, 4, 0, 6, 4] { bits.ue(value) }
        bits.flag(false)
        bits.ue(1)
        bits.ue(hasFields ? 0 : 1)
        bits.flag(!hasFields)
        if hasFields { bits.flag(false) }
        bits.flag(true)
        bits.flag(false)
        bits.flag(declaredDepth != nil)
        if let declaredDepth {
            bits.u(8, 0)
            bits.flag(true)
            bits.flag(true)
            for value in [0, 0, 10, 10, declaredDepth, max(4, declaredDepth)] { bits.ue(value) }
        }
        return [0x67] + bits.rbsp
    }

    private var pictureSet: [UInt8] {
        var bits = BitWriter()
        for value in [0, 0] { bits.ue(value) }
        bits.u(2, 0)
        for value in [0, 0, 0] { bits.ue(value) }
        bits.u(3, 0)
        for _ in 0..<3 { bits.se(0) }
        bits.u(3, 0)
        return [0x68] + bits.rbsp
    }
}

extension BitWriter {
    /// A PCM macroblock, with none skipped before it.
    fileprivate mutating func addPCM(_ kind: PCMFilm.Kind, grey: Int) {
        if kind != .i { ue(0) }
        ue(kind == .i ? 25 : kind == .p ? 30 : 48)
        align()
        for _ in 0..<384 { u(8, grey) }
    }
}
