import Bitstream

/// Determines the correct pictures if decoding began at a recovery point.
///
/// Pictures before that point in output order may refer to pictures never decoded (H.264, D.2.8: leading
/// pictures of an open GOP, and pictures being refreshed; H.265, D.3.8).
struct RecoveryPointTracker {
    /// The reason to count for pictures that are not correct yet.
    let omission: Omission
    private let codec: Codec
    /// The number of frames still to be refreshed (H.264).
    private var framesLeft: Int
    /// The place in output order from which pictures are correct; nil if not known yet.
    private var order: Int?
    /// The place in output order of the first correct picture in decoding order.
    private var orderOfFirstRight: Int?
    private var isOver = false
    private var followsReference = false
    private var isRight = false

    /// - Parameters:
    ///   - role: the role of the first decoded picture, which must be passed to `hides` next.
    ///   - point: the recovery point in its access unit.
    init(at role: PictureRole, _ point: RecoveryPoint, _ codec: Codec, countedAs omission: Omission) {
        (self.codec, self.omission) = (codec, omission)
        switch codec {
        case .h264: framesLeft = point.count
        case .hevc: (framesLeft, order) = (0, role.order.map { $0 &+ point.count })
        }
    }

    /// Whether pictures become correct later than by another recovery point, in the current access unit.
    func isLater(than point: RecoveryPoint, at role: PictureRole) -> Bool {
        guard orderOfFirstRight == nil else { return false }
        switch codec {
        case .h264: return framesLeft > point.count
        case .hevc: return (order ?? .max) > (role.order ?? .max) &+ point.count
        }
    }

    /// Whether the next picture, in decoding order, is not correct yet.
    mutating func hides(_ role: PictureRole) -> Bool {
        if isOver { return false }
        // The second field of a frame is treated like its first.
        if !role.isSecondField { isRight = isRight(role) }
        return !isRight
    }

    private mutating func isRight(_ role: PictureRole) -> Bool {
        // `frame_num`, by which H.264 counts, grows after each reference frame (7.4.3).
        if followsReference, framesLeft > 0 { framesLeft -= 1 }
        followsReference = !role.isDisposable
        guard let count = role.order else { return framesLeft == 0 }
        if framesLeft > 0 {
            // No shown picture may precede a hidden one.
            order = max(order ?? .min, count &+ 1)
            return false
        }
        guard count >= order ?? .min else { return false }
        // Pictures shown before the first correct one follow it directly, if at all.
        if let orderOfFirstRight {
            isOver = count > orderOfFirstRight
        } else {
            orderOfFirstRight = count
            if codec == .h264 { order = count }
        }
        return true
    }
}
