import Testing
import CamPlatform

@testable import Bitstream

@Suite struct AccessUnitTests {
    @Test func unitsStandBehindStartCodesOfFourBytes() {
        let pool = AccessUnitPool(codec: .h264)
        let accessUnit = pool.make([Sample.sps, Sample.pps, Sample.idr], isIDR: true, frameNumber: 7)
        #expect(accessUnit.copy == annexB([Sample.sps, Sample.pps, Sample.idr]))
        #expect(accessUnit.count == accessUnit.copy.count)
        #expect(accessUnit.nalUnits == [Sample.sps, Sample.pps, Sample.idr])
        #expect(
            accessUnit.units.map(\.header)
                == [0x67, 0x68, 0x65].map { .h264(H264.NALUnitHeader(byte: $0)) })
        #expect(accessUnit.isIDR)
        #expect(accessUnit.frameNumber == 7)
        #expect(accessUnit.sequence == 1007)
        #expect(accessUnit.timestamp == .start + .milliseconds(7))
    }

    @Test func storageGrowsAndKeepsItsContent() {
        let pool = AccessUnitPool(codec: .h264)
        let units = (1...200).map { count in [0x41] + [UInt8](repeating: UInt8(count), count: count * 10) }
        #expect(pool.make(units).nalUnits == units)
    }

    @Test func anUnfinishedBuilderLeavesNothingBehind() {
        let pool = AccessUnitPool(codec: .h264)
        do {
            var builder = pool.makeBuilder()
            let idr = Sample.idr
            builder.append(idr.span.bytes)
        }
        let accessUnit = pool.make([Sample.p])
        #expect(accessUnit.copy == annexB([Sample.p]))
        #expect(pool.retainedCount == 1)
    }
}

@Suite struct AccessUnitPoolTests {
    @Test func storageIsUsedAgainOnceNobodyElseHoldsIt() {
        let pool = AccessUnitPool(codec: .h264)
        var identities: Set<ObjectIdentifier> = []
        var addresses: Set<UnsafeRawPointer?> = []
        for number in 0..<100 {
            let accessUnit = pool.make([Sample.p], frameNumber: number)
            identities.insert(ObjectIdentifier(accessUnit))
            addresses.insert(accessUnit.withUnsafeBytes { $0.baseAddress })
        }
        #expect(identities.count == 1)
        #expect(addresses.count == 1)
    }

    @Test func whatIsHeldIsLeftAlone() {
        let pool = AccessUnitPool(codec: .h264)
        let held = (0..<10).map { pool.make([[0x41, UInt8($0)]], frameNumber: $0) }
        for _ in 0..<20 { _ = pool.make([Sample.idr]) }
        #expect(held.map(\.copy) == (0..<10).map { annexB([[0x41, UInt8($0)]]) })
        #expect(held.map(\.frameNumber) == Array(0..<10))
        #expect(Set(held.map(ObjectIdentifier.init)).count == 10)
    }

    @Test func noMoreThanTheLimitIsKept() {
        let pool = AccessUnitPool(codec: .h264, limit: 3)
        let held = (0..<8).map { pool.make([Sample.p], frameNumber: $0) }
        #expect(pool.retainedCount == 3)
        #expect(held.map(\.frameNumber) == Array(0..<8))
    }

    @Test func storageThatAnOutlierMadeEnormousShrinks() {
        let pool = AccessUnitPool(codec: .h264, limit: 1)
        let enormous = [0x65] + [UInt8](repeating: 0x55, count: 16 << 20)
        _ = pool.make([enormous])
        #expect(pool.make([Sample.p]).capacity > 16 << 20, "an outlier is remembered for a while")
        for _ in 0..<10_000 { _ = pool.make([Sample.p]) }
        #expect(pool.make([Sample.p]).capacity <= AccessUnitPool.minimumRetainedCapacity)
    }

    @Test func keyFramesDoNotMakeStorageShrink() {
        let pool = AccessUnitPool(codec: .h264, limit: 1)
        let keyFrame = [0x65] + [UInt8](repeating: 0x55, count: 400_000)
        var addresses: Set<UnsafeRawPointer?> = []
        _ = pool.make([keyFrame])
        for number in 1...3000 {
            let accessUnit = pool.make(number % 300 == 0 ? [keyFrame] : [Sample.p])
            addresses.insert(accessUnit.withUnsafeBytes { $0.baseAddress })
        }
        #expect(addresses.count == 1)
    }

    @Test func readersOnOtherThreadsSeeWhatWasWritten() async {
        await withTaskGroup(of: Bool.self) { readers in
            let pool = AccessUnitPool(codec: .h264, limit: 4)
            for number in 0..<500 {
                let fill = UInt8(number % 200 + 1)
                let accessUnit = pool.make([[UInt8](repeating: fill, count: 4000)], frameNumber: number)
                readers.addTask {
                    accessUnit.frameNumber == number
                        && accessUnit.withUnsafeBytes { $0.dropFirst(4).allSatisfy { $0 == fill } }
                }
                if number >= 8 { #expect(await readers.next() == true) }
            }
            #expect(await readers.allSatisfy { $0 })
        }
    }
}

extension AccessUnitPool {
    /// A finished access unit of these NAL units.
    func make(_ units: [[UInt8]], isIDR: Bool = false, frameNumber: Int = 0) -> AccessUnit {
        var builder = makeBuilder()
        for unit in units { builder.append(unit.span.bytes) }
        return builder.finish(
            isIDR: isIDR, frameNumber: frameNumber, sequence: UInt32(1000 + frameNumber),
            timestamp: .start + .milliseconds(frameNumber))
    }
}
