import Bitstream
import TestSupport
import Testing

@testable import Decoder

/// Pictures that are shown in another order than they are decoded.
@Suite struct OrderTests {
    /// A picture of a group: its place in output order, and its kind.
    private typealias Place = (order: Int, kind: PCMFilm.Kind, isReference: Bool)

    /// The greys, in output order, of a film of such groups, each after an IDR picture.
    private func film(
        _ groups: [[Place]], declaredDepth: Int?, hasFields: Bool = false
    ) -> (film: PCMFilm, greys: [Int]) {
        var film = PCMFilm(declaredDepth: declaredDepth, hasFields: hasFields)
        var (greys, next): ([Int], Int) = ([], 0)
        func grey() -> Int {
            next += 1
            return 1 + next % 254
        }
        for group in groups {
            var shown = [(order: 0, grey: grey())]
            film.addIDR(grey: shown[0].grey)
            for place in group {
                shown.append((place.order, grey()))
                film.add(
                    place.kind, order: place.order, isReference: place.isReference,
                    grey: shown[shown.count - 1].grey)
            }
            greys += shown.sorted { $0.order < $1.order }.map(\.grey)
        }
        return (film, greys)
    }

    private func receive(_ film: PCMFilm, _ delay: DecoderConfiguration.Delay) throws -> Receiver {
        try Receiver.receive(film.accessUnits.flatMap { $0 }, .h264) { $0.delay = delay }
    }

    private func greys(_ receiver: Receiver) -> [Int] { receiver.pictures.map { Int($0.planes[0][0]) } }

    /// P pictures with B pictures between them, in decoding order, coded from the middle outwards.
    private static func pyramid(depth: Int, count: Int) -> [Place] {
        let step = 1 << depth
        return (0..<count).flatMap { index in
            let base = index * step
            return [(base + step, .p, true)] + between(base, base + step)
        }
    }

    private static func between(_ first: Int, _ last: Int) -> [Place] {
        guard last - first > 1 else { return [] }
        let middle = (first + last) / 2
        return [(middle, .b, last - first > 2)] + between(first, middle) + between(middle, last)
    }

    /// How many pictures must be held back: the most that precede one and are shown after it.
    private static func depth(_ group: [Place]) -> Int {
        group.indices.map { index in group[..<index].count { $0.order > group[index].order } }.max() ?? 0
    }

    @Test(
        "delivers B pictures before their IDR picture, even if the stream leaves its order open or breaks it",
        arguments: [nil, 0, 1])
    func leading(declaredDepth: Int?) throws {
        let group = (0..<7).map { (order: $0 - 8, kind: PCMFilm.Kind.b, isReference: false) }
        let (film, greys) = film([[], group], declaredDepth: declaredDepth)
        let receiver = try receive(film, .safe)
        #expect(self.greys(receiver) == greys)
        #expect(receiver.decoder.counters.losses == 0)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("delivers pyramids of any depth in order", arguments: [0, 1, 2, 3], [false, true])
    func pyramids(depth: Int, hasFields: Bool) throws {
        let group = Self.pyramid(depth: depth, count: 4)
        for declared in [nil, Self.depth(group)] {
            let (film, greys) = film([group, group], declaredDepth: declared, hasFields: hasFields)
            for delay in [DecoderConfiguration.Delay.safe, .low] where declared != nil || delay == .safe {
                let receiver = try receive(film, delay)
                #expect(self.greys(receiver) == greys)
                #expect(receiver.decoder.counters.losses == 0)
                #expect(receiver.decoder.counters.secondFields == (hasFields ? greys.count : 0))
                #expect(receiver.decoder.counters.isBalanced)
            }
        }
    }

    @Test("delivers groups of any order in order", arguments: 0..<30)
    func anyOrder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let groups = (0..<3).map { _ in
            var group: [Place] = []
            for order in 1...12 {
                let kind: PCMFilm.Kind = Bool.random(using: &generator) ? .b : .p
                let place = Int.random(in: max(0, group.count - 5)...group.count, using: &generator)
                group.insert((order, kind, Bool.random(using: &generator)), at: place)
            }
            return group
        }
        let depth = groups.map(Self.depth).max() ?? 0
        for (declared, delay) in [
            (nil, DecoderConfiguration.Delay.safe), (0, .safe), (depth, .safe), (depth, .low),
        ] {
            let (film, greys) = film(groups, declaredDepth: declared)
            let receiver = try receive(film, delay)
            #expect(
                self.greys(receiver) == greys, "declared \(declared.map(String.init) ?? "nothing"), \(delay)")
            #expect(receiver.decoder.counters.losses == 0)
        }
    }

    @Test(
        "without delay, counts pictures that come too late, and keeps later groups whole",
        arguments: [nil, 0, 1])
    func brokenOrder(declaredDepth: Int?) throws {
        let group = Self.pyramid(depth: 3, count: 3)
        let (film, greys) = film(Array(repeating: group, count: 4), declaredDepth: declaredDepth)
        let receiver = try receive(film, .low)
        let counters = receiver.decoder.counters
        #expect(counters.lost > 0)
        #expect(counters.losses > 0)
        #expect(counters.frozen == 0)
        #expect(counters.isBalanced)
        #expect(receiver.decoder.lastLoss?.isEmpty == false)
        #expect(receiver.decoder.hasBrokenOrder == (declaredDepth != nil))
        let lastGroup = group.count + 1
        #expect(self.greys(receiver).suffix(lastGroup) == greys.suffix(lastGroup))
    }

    @Test("a stream that declares no reordering has no delay")
    func noDelay() throws {
        let group = (1...10).map { (order: $0, kind: PCMFilm.Kind.p, isReference: true) }
        for declaredDepth in [nil, 0] {
            let receiver = Receiver(.h264)
            let units = film([group], declaredDepth: declaredDepth).film.accessUnits
            for (index, unit) in units.enumerated() {
                try receiver.take(unit)
                #expect(receiver.pictures.count == index)
            }
        }
    }

    @Test("counts the pending pictures when enough were played")
    func unplayed() throws {
        let (film, _) = film([Self.pyramid(depth: 2, count: 4)], declaredDepth: nil)
        let receiver = Receiver(.h264) { $0.delay = .safe }
        for unit in film.accessUnits { try receiver.take(unit) }
        receiver.decoder.discard()
        #expect(receiver.decoder.counters.unplayed > 0)
        #expect(receiver.decoder.counters.isBalanced)
        let hasNext = try receiver.decoder.nextPicture() != nil
        #expect(!hasNext)
    }
}

extension DecompressionSession.Counters {
    /// Whether every received access unit was accounted for.
    var isBalanced: Bool {
        received == decoded + secondFields + beforeEntry + frozen + skipped + lost + withheld + unplayed
    }
}
