import Bitstream
import TestSupport
import Testing

@testable import Decoder

/// Decoding begins where an H.264 stream has no IDR picture, but states from where on pictures are correct
/// (D.2.8).
@Suite struct RecoveryTests {
    /// 16 pictures, grey by their order: an IDR picture, and open GOPs at 4, 8 and 12, whose leading pictures
    /// are decoded after the I picture but shown before it.
    private func openGroups(
        hasFields: Bool = false, isBrokenLink: Bool = false, declaredDepth: Int = 2
    ) -> PCMFilm {
        var film = PCMFilm(declaredDepth: declaredDepth, hasFields: hasFields)
        film.addIDR(grey: 1)
        for order in 1...2 { film.add(.p, order: order, isReference: true, grey: 1 + order) }
        for first in [4, 8, 12] {
            film.addRecoveryPoint(order: first, grey: 1 + first, isBrokenLink: isBrokenLink)
            film.add(.b, order: first - 1, isReference: false, grey: first)
            film.add(.p, order: first + 2, isReference: true, grey: 3 + first)
            film.add(.b, order: first + 1, isReference: false, grey: 2 + first)
        }
        return film
    }

    /// P pictures after an IDR picture, grey by their order; the first one begins a gradual refresh.
    private func refreshedFilm(frameCount: Int, lastOrder: Int) -> PCMFilm {
        var film = PCMFilm(declaredDepth: 0)
        film.addIDR(grey: 1)
        film.addRecoveryPoint(.p, order: 1, grey: 2, frameCount: frameCount)
        for order in 2...lastOrder { film.add(.p, order: order, isReference: true, grey: 1 + order) }
        return film
    }

    private func receive(
        _ units: some Sequence<[UInt8]>, _ delay: DecoderConfiguration.Delay = .safe
    ) throws -> Receiver {
        try Receiver.receive(units.flatMap { $0 }, .h264) { $0.delay = delay }
    }

    private func role(_ order: Int) -> PictureRole {
        var role = PictureRole()
        role.order = order
        return role
    }

    private func greys(_ receiver: Receiver) -> [Int] { receiver.pictures.map { Int($0.planes[0][0]) } }

    @Test("shows an open GOP from its I picture on", arguments: [false, true], [false, true])
    func openGroup(hasFields: Bool, isLive: Bool) throws {
        let units = openGroups(hasFields: hasFields).accessUnits.dropFirst(hasFields ? 6 : 3)
        let receiver = try receive(units, isLive ? .low : .safe)
        let counters = receiver.decoder.counters
        #expect(greys(receiver) == Array(5...15))
        #expect(counters.beforeEntry == (hasFields ? 2 : 1))
        #expect(counters.losses == 0)
        #expect(counters.isBalanced)
    }

    @Test("skips nothing if decoding continues")
    func goingOn() throws {
        let receiver = try receive(openGroups().accessUnits)
        #expect(greys(receiver) == Array(1...15))
        #expect(receiver.decoder.counters.received == 15)
    }

    @Test(
        "a loss ends at the next I picture, and includes the pictures before it")
    func loss() throws {
        var units = openGroups().accessUnits
        units.remove(at: 1)
        let receiver = try receive(units)
        let counters = receiver.decoder.counters
        #expect(greys(receiver) == [1] + Array(5...15))
        #expect(counters.frozen == 2)
        #expect(counters.losses == 1)
        #expect(counters.isBalanced)
    }

    @Test("withholds leading pictures after a broken link")
    func brokenLink() throws {
        let receiver = try receive(openGroups(isBrokenLink: true).accessUnits)
        let counters = receiver.decoder.counters
        #expect(greys(receiver) == (1...15).filter { ![4, 8, 12].contains($0) })
        #expect(counters.withheld == 3)
        #expect(counters.losses == 0)
        #expect(counters.isBalanced)
    }

    @Test("shows a gradually refreshed picture once it is complete", arguments: [0, 1, 5])
    func gradual(frameCount: Int) throws {
        let film = refreshedFilm(frameCount: frameCount, lastOrder: 9)
        let receiver = try receive(film.accessUnits.dropFirst())
        #expect(greys(receiver) == Array(2 + frameCount...10))
        #expect(receiver.decoder.counters.beforeEntry == frameCount)
        #expect(receiver.decoder.counters.losses == 0)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("does not count unreferenced pictures as refreshed frames, nor shows one out of turn")
    func gradualWithBPictures() throws {
        var film = PCMFilm(declaredDepth: 1)
        film.addIDR(grey: 1)
        film.addRecoveryPoint(.p, order: 2, grey: 3, frameCount: 2)
        for order in [4, 6, 8, 10] {
            film.add(.p, order: order, isReference: true, grey: 1 + order)
            film.add(.b, order: order - 1, isReference: false, grey: order)
        }
        // The frames shown at 2 and 4 are refreshed; the one at 6 is correct, and the B picture before it
        // refers to 4.
        let receiver = try receive(film.accessUnits.dropFirst())
        #expect(greys(receiver) == [7, 8, 9, 10, 11])
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("damage after a recovery point is a loss")
    func damage() throws {
        var units = Array(openGroups().accessUnits.dropFirst(3))
        units.remove(at: 2)
        let receiver = try receive(units)
        #expect(greys(receiver) == [5] + Array(9...15))
        #expect(receiver.decoder.counters.losses == 1)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("a loss right before an I picture costs only the pictures before that")
    func gapAtThePoint() throws {
        var units = openGroups().accessUnits
        units.remove(at: 2)
        let receiver = try receive(units)
        #expect(greys(receiver) == [1, 2] + Array(5...15))
        #expect(receiver.decoder.counters.frozen == 1)
        #expect(receiver.decoder.counters.losses == 1)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("withholds leading pictures if another stream continues with an open GOP")
    func splice() throws {
        let others = openGroups(declaredDepth: 3).accessUnits.dropFirst(3)
        let receiver = try receive(openGroups().accessUnits.prefix(3) + others)
        #expect(greys(receiver) == [1, 2, 3] + Array(5...15))
        #expect(receiver.decoder.counters.withheld == 1)
        #expect(receiver.decoder.counters.losses == 0)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("an earlier recovery point replaces one before it")
    func earlierPoint() throws {
        var film = PCMFilm(declaredDepth: 0)
        film.addIDR(grey: 1)
        film.addRecoveryPoint(.p, order: 1, grey: 2, frameCount: 200)
        film.add(.p, order: 2, isReference: true, grey: 3)
        film.addRecoveryPoint(order: 3, grey: 4)
        film.addRecoveryPoint(.p, order: 4, grey: 5, frameCount: 200)
        let receiver = try receive(film.accessUnits.dropFirst())
        #expect(greys(receiver) == [4, 5])
        #expect(receiver.decoder.counters.beforeEntry == 2)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test("ignores an impossible recovery count", arguments: [256, 65535])
    func impossibleCount(frameCount: Int) throws {
        var film = PCMFilm(declaredDepth: 0)
        film.addIDR(grey: 1)
        film.addRecoveryPoint(.p, order: 1, grey: 2, frameCount: frameCount, isBrokenLink: true)
        film.add(.p, order: 2, isReference: true, grey: 3)
        #expect(greys(try receive(film.accessUnits)) == [1, 2, 3])
    }

    @Test("damage in a hidden picture is a loss: shown ones refer to it")
    func hiddenDamage() throws {
        var film = refreshedFilm(frameCount: 3, lastOrder: 6)
        film.addRecoveryPoint(order: 7, grey: 8)
        var units = Array(film.accessUnits.dropFirst())
        units[1].removeLast(units[1].count / 2)
        let receiver = try receive(units)
        #expect(greys(receiver) == [8])
        #expect(receiver.decoder.counters.losses == 1)
        #expect(receiver.decoder.counters.isBalanced)
    }

    @Test(
        "H.265 counts in output order",
        arguments: [
            (2, [true, false, false, true, false, false]), (-3, [false, false, false, false, false, false]),
        ])
    func h265(count: Int, hidden: [Bool]) throws {
        var message = BitWriter()
        message.se(count)
        message.flag(true)
        message.flag(false)
        let payload = message.rbsp
        let unit: [UInt8] = [39 << 1, 1, 6, UInt8(payload.count)] + payload + [0x80]
        let found = SupplementalEnhancementInformation.recoveryPoint(in: unit.span.bytes, .hevc)
        let point = try #require(found)
        let roles = [10, 16, 12, 11, 20, 18].map(role)
        var recovery = RecoveryPointTracker(at: roles[0], point, .hevc, countedAs: .frozen)
        #expect(roles.map { recovery.hides($0) } == hidden)
    }

    @Test("once a later picture is correct, so are all that follow, even if the order starts over")
    func orderBeginsAnew() throws {
        let found = SupplementalEnhancementInformation.recoveryPoint(
            in: ([6, 6, 1, 0b1100_1000, 0x80] as [UInt8]).span.bytes, .h264)
        let roles = [8, 5, 12, 3].map(role)
        var recovery = RecoveryPointTracker(at: roles[0], try #require(found), .h264, countedAs: .frozen)
        #expect(roles.map { recovery.hides($0) } == [false, true, false, false])
    }

    @Test("finds the recovery point after other messages; a truncated message hides it")
    func messages() {
        func point(_ unit: [UInt8]) -> RecoveryPoint? {
            SupplementalEnhancementInformation.recoveryPoint(in: unit.span.bytes, .h264)
        }
        // User data of 255 + 1 bytes before it, and another message after.
        let others: [UInt8] = [5, 255, 1] + [UInt8](repeating: 7, count: 256)
        #expect(point([6] + others + [6, 1, 0b0111_0001, 4, 1, 0, 0x80])?.count == 2)
        #expect(point([6] + others + [6, 9, 0b0111_0001, 0x80]) == nil)
        #expect(point([6] + others + [0x80]) == nil)
        #expect(point([6, 255, 255]) == nil)
        #expect(point([7, 6, 1, 0b0111_0001, 0x80]) == nil)
    }
}
