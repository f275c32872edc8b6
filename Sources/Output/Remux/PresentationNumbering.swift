import Bitstream

/// Numbers pictures, which arrive in decoding order, by their place in presentation order.
struct PresentationNumbering {
    /// The order counts of pictures without a number, the smallest first, with their place in decoding order.
    private var waiting: [(count: Int, index: Int)] = []
    private var nextIndex = 0
    private var nextNumber = 0
    /// How many pictures at most precede another in decoding order and follow it in presentation order.
    private let reordering: Int

    init(reordering: Int) { self.reordering = reordering }

    /// Takes the next picture in decoding order.
    /// - Parameter assign: called for each picture that now gets a number, in presentation order, with its
    ///   place in decoding order.
    mutating func append<Failure: Error>(
        _ order: PictureOrderCounter.Order, assign: (_ index: Int, _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        if order.beginsSequence { try finish(assign: assign) }
        let place = waiting.firstIndex { $0.count > order.count } ?? waiting.endIndex
        waiting.insert((order.count, nextIndex), at: place)
        nextIndex += 1
        if waiting.count > reordering { try assignFirst(assign) }
    }

    /// Numbers the remaining pictures, because no more will arrive.
    mutating func finish<Failure: Error>(
        assign: (_ index: Int, _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        while !waiting.isEmpty { try assignFirst(assign) }
    }

    private mutating func assignFirst<Failure: Error>(
        _ assign: (_ index: Int, _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        try assign(waiting.removeFirst().index, nextNumber)
        nextNumber += 1
    }
}

/// Measures how far a stream reorders.
struct ReorderingMeter {
    /// How many pictures at most precede another in decoding order and follow it in presentation order; never
    /// more than the standards allow.
    private(set) var reordering = 0
    /// The highest order counts of the current sequence, in ascending order.
    private var highest: [Int] = []

    mutating func append(_ order: PictureOrderCounter.Order) {
        if order.beginsSequence { highest.removeAll(keepingCapacity: true) }
        let place = highest.firstIndex { $0 > order.count } ?? highest.endIndex
        reordering = max(reordering, highest.count - place)
        highest.insert(order.count, at: place)
        if highest.count > PresentationOrder.largestReordering { highest.removeFirst() }
    }
}
