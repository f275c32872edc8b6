import CamControlProtocol
import CamPlatform
import Testing

@testable import CamWeb

@Suite("how long the disks last")
struct StorageOutlookTests {
    private static let day = 86400.0
    private static let gigabyte = 1_000_000_000

    /// A camera with so many gigabytes in ten files, and so many more each day.
    private func camera(
        _ gigabytes: Int, perDay: Double? = 10, kept: Int = 0,
        _ limit: (inout RecordingStatistics.Limits) -> Void = { _ in }
    ) -> StorageOutlook.Camera {
        var camera = StorageOutlook.Camera()
        (camera.bytes, camera.count, camera.keptBytes) = (gigabytes * Self.gigabyte, 10, kept * Self.gigabyte)
        camera.rate = perDay.map { $0 * Double(Self.gigabyte) / Self.day }
        var limits = RecordingStatistics.Limits()
        limit(&limits)
        camera.limits = limits
        return camera
    }

    /// The estimates in words and whole days.
    private func days(_ cameras: StorageOutlook.Camera..., total: Int = 1000, free: Int) -> [String] {
        StorageOutlook.estimates(for: cameras, total: total * Self.gigabyte, free: free * Self.gigabyte).map {
            switch $0 {
            case .fills(let seconds): "fills \(Int((seconds / Self.day).rounded()))"
            case .keeps(let seconds): "keeps \(Int((seconds / Self.day).rounded()))"
            case .unknown: "unknown"
            case .idle: "idle"
            case .full: "full"
            case .fullOfKept: "full of kept"
            }
        }
    }

    @Test("without limits the free space lasts as long as the rate says")
    func unlimited() {
        #expect(days(camera(50), free: 90) == ["fills 9"])
        #expect(days(camera(50), free: 0) == ["full"])
        #expect(days(camera(50), free: -5) == ["full"])
    }

    @Test("a limit of bytes, of age or of number keeps so much, if the disk has room for it")
    func limits() {
        #expect(days(camera(50) { $0.bytes = 120 * Self.gigabyte }, free: 90) == ["keeps 12"])
        #expect(days(camera(50) { $0.seconds = 7 * Self.day }, free: 90) == ["keeps 7"])
        #expect(days(camera(50) { $0.count = 20 }, free: 90) == ["keeps 10"])
        #expect(
            days(camera(50) { ($0.bytes, $0.seconds) = (120 * Self.gigabyte, 7 * Self.day) }, free: 90) == [
                "keeps 7"
            ])
        #expect(days(camera(50) { $0.bytes = 500 * Self.gigabyte }, free: 90) == ["fills 9"])
        #expect(days(camera(500) { $0.bytes = 120 * Self.gigabyte }, free: 0) == ["keeps 12"])
    }

    @Test("space that stays free is no room for recordings: what fits besides is kept")
    func minimumFree() {
        #expect(days(camera(50) { $0.freeBytes = 20 * Self.gigabyte }, free: 90) == ["keeps 12"])
        #expect(days(camera(50) { $0.freeShare = 0.05 }, free: 90) == ["keeps 9"])
        #expect(days(camera(50) { $0.freeBytes = 200 * Self.gigabyte }, free: 90) == ["keeps 5"])
    }

    @Test("what is kept makes room for less, and may fill a limit")
    func kept() {
        #expect(days(camera(50, kept: 30) { $0.bytes = 120 * Self.gigabyte }, free: 90) == ["keeps 9"])
        #expect(days(camera(50, kept: 30) { $0.freeBytes = 20 * Self.gigabyte }, free: 90) == ["keeps 9"])
        #expect(days(camera(50, kept: 50) { $0.bytes = 50 * Self.gigabyte }, free: 90) == ["full of kept"])
        #expect(days(camera(50, kept: 60) { $0.seconds = Self.day }, free: 90) == ["keeps 1"])
    }

    @Test("cameras on one disk share its space")
    func shared() {
        #expect(days(camera(50), camera(10, perDay: 20), free: 90) == ["fills 3", "fills 3"])
        // The first one stops growing after a day, so that the second one has the rest for itself.
        let limited = camera(50) { $0.bytes = 60 * Self.gigabyte }
        #expect(days(limited, camera(10), free: 90) == ["keeps 6", "fills 8"])
        let free: (inout RecordingStatistics.Limits) -> Void = { $0.freeBytes = 10 * Self.gigabyte }
        #expect(days(camera(50, free), camera(30, perDay: 30, free), free: 90) == ["keeps 4", "keeps 4"])
        #expect(days(camera(50), camera(10, perDay: 0), free: 90) == ["fills 9", "idle"])
    }

    @Test("without recordings, a rate or limits there is no estimate")
    func unknown() {
        #expect(days(StorageOutlook.Camera(), free: 90) == ["idle"])
        #expect(days(camera(50, perDay: nil), free: 90) == ["unknown"])
        #expect(days(camera(50, perDay: 0), free: 90) == ["idle"])
        var silent = camera(50)
        silent.limits = nil
        #expect(days(silent, free: 90) == ["unknown"])
        #expect(days(free: 90) == [])
    }

    @Test("hostile figures are only figures")
    func hostile() {
        for bytes in [0, -1, Int.max, Int.min] {
            for number in [0.0, -1, .infinity, 1e300, .leastNonzeroMagnitude] {
                var camera = StorageOutlook.Camera()
                (camera.bytes, camera.count, camera.keptBytes, camera.rate) = (
                    max(0, bytes), 1, max(0, bytes), number
                )
                var limits = RecordingStatistics.Limits()
                (limits.bytes, limits.count, limits.freeBytes) = (bytes, bytes, bytes)
                (limits.seconds, limits.freeShare) = (number, number)
                camera.limits = limits
                #expect(
                    StorageOutlook.estimates(for: [camera, camera], total: bytes, free: bytes).count == 2)
            }
        }
    }
}

@Suite("what the storage page is told")
struct StorageReportTests {
    private let now = WallTime(seconds: 1_800_000_000)

    private func usage(_ device: UInt64 = 1, ago: Duration = .seconds(86400), bytes: Int = 86_400_000)
        -> StorageUsage
    {
        var usage = StorageUsage(device: device, total: 1_000_000_000, free: 500_000_000)
        (usage.root, usage.bytes, usage.count) = ("/rec/door", bytes, 10)
        usage.time = now - ago..<max(now, now - ago)
        usage.recent = (bytes, now - ago)
        return usage
    }

    private func source(
        _ name: String, _ usage: StorageUsage?, limits: [(String, RecordingStatistics.Limits)] = [],
        kept: KeptReport? = nil
    ) -> StorageReport.Source {
        var statistics = RecordingStatistics(seconds: 1, isPaused: false)
        statistics.outputs = limits.map { folder, limits in
            var output = RecordingStatistics.Output(
                output: "a", written: 0, keyframes: 0, bytes: 0, lost: 0, latency: nil, folder: folder,
                receivers: nil,
                connections: nil)
            output.limits = limits
            return output
        }
        return StorageReport.Source(
            name: name, usage: usage, statistics: statistics, kept: kept, hasRecordings: true)
    }

    @Test("several cameras on one file system count its space once")
    func disks() {
        let report = StorageReport(
            [source("a", usage(1)), source("b", usage(2)), source("c", usage(1)), source("d", nil)], now: now)
        #expect(report.disks.map(\.cameras) == [["a", "c"], ["b"]])
        #expect(report.cameras.map(\.disk) == [0, 1, 0, nil])
        #expect(report.cameras[0].outlook == .init(kind: "fills", seconds: 250_000))
        #expect(report.cameras[1].outlook == .init(kind: "fills", seconds: 500_000))
        #expect(report.cameras[3].outlook.kind == "unknown")
    }

    @Test("the rate is that of the latest days, pauses included; a clock before the recordings gives none")
    func rates() {
        #expect(StorageReport([source("a", usage())], now: now).cameras[0].perDay == 86_400_000)
        #expect(usage(ago: .seconds(2 * 86400)).rate(at: now) == 500)
        #expect(usage(ago: .seconds(60)).rate(at: now) == nil)
        #expect(usage(ago: .seconds(-3600)).rate(at: now) == nil)
        #expect(usage().rate(at: WallTime(nanoseconds: .min)) == nil)
        #expect(usage().rate(at: WallTime(nanoseconds: .max)) != nil)
    }

    @Test("the limits are those of the output that writes to the camera's folder")
    func limits() {
        var (own, other) = (RecordingStatistics.Limits(), RecordingStatistics.Limits())
        (own.seconds, own.freeShare, own.freeBytes, other.count) = (3600, 0.1, 1000, 3)
        let report = StorageReport(
            [source("a", usage(), limits: [("/rec/garden", other), ("/rec", own)])], now: now)
        #expect(report.cameras[0].limits == .init(seconds: 3600, free: 100_000_000))
        let stranger = StorageReport([source("a", usage(), limits: [("/rec/do", other)])], now: now)
        #expect(stranger.cameras[0].limits == .init(count: 3))
    }

    @Test("what is kept is counted, and absurd figures do not end camweb")
    func kept() {
        let kept = KeptReport(count: 2, bytes: 1000, recordings: [])
        #expect(
            StorageReport([source("a", usage(), kept: kept)], now: now).cameras[0].kept
                == .init(count: 2, bytes: 1000))
        var limits = RecordingStatistics.Limits()
        (limits.seconds, limits.freeShare, limits.bytes) = (.infinity, .nan, .max)
        let hostile = KeptReport(count: .min, bytes: .min, recordings: [])
        let report = StorageReport(
            [source("a", usage(bytes: .max), limits: [("/", limits)], kept: hostile)],
            now: WallTime(nanoseconds: .max))
        #expect(JSON.text(of: report).hasPrefix("{"))
    }
}
