import Testing

@testable import Encoder
@testable import CamPictures

/// What decides, buffer by buffer, whether a GPU reads the camera's pictures where they are.
@Suite struct SharingVerdictTests {
    private static let node = "/dev/dri/renderD128"
    private let record = SharingRecord()

    private func verdict(_ way: ZeroCopyMode = .auto) -> (SharingVerdict, InputSession) {
        let session = record.begin(on: Self.node).session
        return (SharingVerdict(way, record, session), session)
    }

    @Test("the first picture with something in it decides")
    func telling() throws {
        let (verdict, _) = verdict()
        #expect(try verdict.allowsUse(isShared: true) && verdict.isOpen && verdict.isLikely)
        try verdict.follow(.same(isTelling: false))
        #expect(verdict.isOpen, "grey pictures are the same anyway")
        try verdict.follow(.same(isTelling: true))
        #expect(try !verdict.isOpen && verdict.isLikely && verdict.allowsUse(isShared: true))
        #expect(record.outcome?.reason == nil)
    }

    @Test("a camera at night has grey pictures only, which decide after ten")
    func grey() throws {
        let (verdict, _) = verdict()
        for _ in 0..<9 { try verdict.follow(.same(isTelling: false)) }
        #expect(verdict.isOpen)
        try verdict.follow(.same(isTelling: false))
        #expect(!verdict.isOpen && verdict.isLikely)
    }

    @Test(
        "a GPU that sees another picture, or none, is given up for the recording, with the reason",
        arguments: [SharedComparison.Result.different, nil])
    func different(result: SharedComparison.Result?) throws {
        let (verdict, _) = verdict()
        try verdict.follow(result)
        #expect(!verdict.isLikely && !verdict.isOpen)
        let reason = try #require(record.outcome?.reason)
        #expect(reason.contains(result == nil ? "cannot be read back" : "sees another picture"))
        #expect(record.obstacle(on: Self.node) == reason, "for the encoders to come, too")
        #expect(try !verdict.allowsUse(isShared: true))
    }

    @Test("what must not be copied ends the recording instead, with the reason")
    func on() throws {
        let (verdict, _) = verdict(.on)
        let error = #expect(throws: EncoderError.self) { try verdict.giveUp("why") }
        #expect(error?.kind == .unsupported("--zero-copy on: why; use --zero-copy auto"))
        #expect(record.hasGivenUp(Self.node))
    }

    @Test("a camera that is opened again is compared again, unless the GPU was given up")
    func again() throws {
        let pools = try (0..<3).map { _ in try sharedPool(count: 1, length: 4096) }
        let (verdict, session) = verdict()
        #expect(verdict.begin(pools[0]))
        try verdict.follow(.same(isTelling: true))
        #expect(!verdict.begin(pools[0]) && !verdict.isOpen, "the same buffers")
        #expect(verdict.begin(pools[1]) && verdict.isOpen, "what was imported is not theirs")
        for _ in 0..<9 { try verdict.follow(.same(isTelling: false)) }
        #expect(verdict.begin(pools[0]))
        try verdict.follow(.same(isTelling: false))
        #expect(verdict.isOpen, "comparisons are counted from the beginning")
        record.giveUp("why", by: session)
        #expect(try !verdict.allowsUse(isShared: true))
        #expect(verdict.begin(pools[2]) && !verdict.isLikely && !verdict.isOpen)
    }

    @Test("a camera that keeps its memory to itself is not the GPU's fault")
    func unshared() throws {
        let (verdict, session) = verdict()
        #expect(try !verdict.allowsUse(isShared: false))
        #expect(record.outcome?.reason == "the camera does not share its memory")
        #expect(!record.hasGivenUp(Self.node) && !record.disable(for: session), "no failure is due to it")
        let pool = try sharedPool(count: 1, length: 4096)
        #expect(verdict.begin(pool) && verdict.isLikely, "opened again, it may share it")
        #expect(try verdict.allowsUse(isShared: true) && record.disable(for: session))
    }

    @Test("the reported reason is why the camera's memory was not shared")
    func refusal() throws {
        record.refuse("software encodes")
        let (verdict, _) = verdict()
        #expect(try !verdict.allowsUse(isShared: false))
        #expect(record.outcome?.reason == "software encodes")
    }

    @Test("an encoder stops reading when another's failure was blamed on that, or when it was replaced")
    func others() throws {
        let (verdict, session) = verdict()
        #expect(try verdict.allowsUse(isShared: true) && record.disable(for: session))
        #expect(try !verdict.allowsUse(isShared: true))
        #expect(!verdict.isLikely && record.outcome?.reason?.contains("failed while") == true)

        let another = SharingRecord()
        let former = another.begin(on: Self.node).session
        let replaced = SharingVerdict(.auto, another, former)
        _ = another.begin(on: Self.node)
        #expect(try !replaced.allowsUse(isShared: true))
        #expect(!another.disable(for: former) && another.outcome?.reason == nil)
    }
}
