import Testing

@testable import camrec

/// Every pair of options works, is refused, or warns: nothing that is asked for is left undone without a word.
@Suite struct OptionPairTests {
    enum Verdict { case works, refused, warns }

    /// How each option is given, with what it needs besides. An option that is not here fails the test of the table.
    private static let samples: [String: [String]] = [
        "device": ["--device=/dev/video0"], "size": ["--size=640x480"], "fps": ["--fps=30"],
        "format": ["--format=nv12"], "input": ["--input=0"], "standard": ["--standard=PAL"],
        "pace": ["--pace", "--device=test"], "wait": ["--wait=1s"], "device-timeout": ["--device-timeout=1s"],
        "control": ["--control=brightness=1"],
        "restore-controls": ["--restore-controls", "--control=brightness=1"],
        "frames": ["--frames=9"], "duration": ["--duration=9s"], "encoder": ["--encoder=software"],
        "render-node": ["--render-node=/dev/dri/renderD128"], "low-power": ["--low-power=on"],
        "upload": ["--upload=put"],
        "bitrate": ["--bitrate=2M"], "max-bitrate": ["--max-bitrate=4M"], "rate-window": ["--rate-window=2s"],
        "qp": ["--qp=24"], "quality": ["--quality=24"], "rate-control": ["--rate-control=vbr"],
        "codec": ["--codec=h264"], "keyframe-interval": ["--keyframe-interval=1s"],
        "profile": ["--profile=high"],
        "level": ["--level=4.1"], "entropy": ["--entropy=cabac"], "bframes": ["--bframes=2"],
        "max-frame-delay": ["--max-frame-delay=4"], "latency": ["--latency=quality"],
        "color-range": ["--color-range=full"], "color-matrix": ["--color-matrix=bt709"],
        "slices": ["--slices=4"],
        "segment": ["--segment=10m"], "utc": ["--utc", "--segment=10m"],
        "keep": ["--keep=7d", "--segment=10m"],
        "min-free": ["--min-free=1G", "--segment=10m"], "sync": ["--sync=5s"], "ring": ["--ring=1m"],
        "post": ["--post=1m", "--ring=1m"], "listen": ["--listen=9982"],
        "max-clients": ["--max-clients=4", "--listen=9982"],
        "max-clients-per-address": ["--max-clients-per-address=2", "--listen=9982"],
        "client-buffer": ["--client-buffer=1s", "--listen=9982"],
        "client-timeout": ["--client-timeout=9s", "--listen=9982"],
        "control-socket": ["--control-socket=/tmp/x"],
        "overwrite": ["--overwrite"], "report": ["--report=r.json"], "timestamps": ["--timestamps=t.txt"],
        "quiet": ["--quiet"], "verbose": ["--verbose"],
    ]

    /// The pairs that do not just work.
    private static let exceptions: [Set<String>: Verdict] = [
        ["quiet", "verbose"]: .refused,
        // Test pictures are no camera.
        ["pace", "device"]: .warns, ["pace", "wait"]: .refused, ["pace", "device-timeout"]: .refused,
        ["pace", "input"]: .refused, ["pace", "standard"]: .refused, ["pace", "control"]: .refused,
        ["pace", "restore-controls"]: .refused,
        // Hardware and software.
        ["encoder", "render-node"]: .refused, ["encoder", "low-power"]: .refused,
        ["encoder", "upload"]: .refused,
        // Ways to bound the rate.
        ["qp", "quality"]: .refused, ["qp", "bitrate"]: .refused, ["qp", "max-bitrate"]: .refused,
        ["qp", "rate-window"]: .refused, ["qp", "rate-control"]: .refused,
        ["quality", "rate-control"]: .refused,
        ["quality", "rate-window"]: .refused,
        // Segments are never replaced.
        ["overwrite", "segment"]: .warns, ["overwrite", "utc"]: .warns, ["overwrite", "keep"]: .warns,
        ["overwrite", "min-free"]: .warns, ["overwrite", "ring"]: .warns, ["overwrite", "post"]: .warns,
    ]

    private func verdict(_ arguments: [String]) -> Verdict {
        guard let command = try? RecordCommand.parse(arguments) else { return .refused }
        return OptionRules(command).warnings.isEmpty ? .works : .warns
    }

    @Test("the table has every option of recording")
    func tableIsWhole() {
        let options = Set(RecordCommand.longOptions).subtracting([
            "help", "version", "settings", "output", "no-pace",
        ])
        #expect(options == Set(Self.samples.keys))
    }

    @Test("each option works by itself, with what it needs")
    func alone() {
        for (name, sample) in Self.samples { #expect(verdict(sample + ["a.h264"]) == .works, "\(name)") }
    }

    @Test("each pair does what the table says")
    func pairs() {
        let names = Self.samples.keys.sorted()
        for (index, first) in names.enumerated() {
            for second in names[(index + 1)...] {
                // A value that is given last counts, and what both need is given once.
                var arguments = Self.samples[second] ?? []
                arguments += (Self.samples[first] ?? []).filter { !arguments.contains($0) }
                if first == "device" || second == "device" { arguments.append("--device=/dev/video0") }
                let expected = Self.exceptions[[first, second]] ?? .works
                #expect(verdict(arguments + ["a.h264"]) == expected, "\(first) and \(second)")
            }
        }
    }

    @Test(
        "an option without what it needs is refused, and says what that is",
        arguments: [
            (["--max-clients=4", "a.h264"], "--max-clients needs --listen"),
            (["--max-clients=4", "tcp://host:1"], "--max-clients needs --listen"),
            (["--client-buffer=1s", "a.h264"], "--client-buffer needs --listen or an output tcp://"),
            (["--client-timeout=1s", "a.h264"], "--client-timeout needs --listen or an output tcp://"),
            (["--sync=5s", "-"], "--sync needs an output that is a file"),
            (["--sync=5s", "--listen=1"], "--sync needs an output that is a file"),
            (["--rate-window=2s", "--quality=24", "a.h264"], "needs --max-bitrate"),
            (["--device=test", "--wait=1s", "a.h264"], "--wait is for cameras"),
            (["--device=a.y4m", "--device-timeout=1s", "a.h264"], "--device-timeout is for cameras"),
            (["--device=test", "--control=a=1", "a.h264"], "only cameras have controls"),
            (["--device=test", "--standard=PAL", "a.h264"], "only cameras have inputs and standards"),
            (["--utc", "a.h264"], "a date in its name"), (["--post=1s", "a.h264"], "--post needs --ring"),
            (["--keep=3", "a.h264"], "need --segment or --ring"),
            (["--restore-controls", "a.h264"], "without --control"),
            (["--format=h264", "a.h265"], "cannot be written as H.265"),
            (["--format=h264", "--render-node=/dev/dri/renderD128", "a.h264"], "leave out --render-node"),
            (["--format=h264", "--low-power=on", "a.h264"], "leave out --low-power"),
            (["--format=h264", "--upload=map", "a.h264"], "leave out --upload"),
            (["--listen=unix:/tmp/x", "--max-clients-per-address=2", "a.h264"], "have no address"),
            (["--listen=yes", "a.h264"], "--listen cannot be 'yes': it is a port"),
        ])
    func needs(arguments: [String], reason: String) throws {
        let error = try #require(throws: (any Error).self) { try RecordCommand.parse(arguments) }
        #expect(RecordCommand.message(for: error).contains(reason))
    }

    @Test(
        "with what it needs it works",
        arguments: [
            ["--client-buffer=1s", "--client-timeout=9s", "tcp://host:1"], ["--sync=5s", "-", "a.h264"],
            ["--rate-window=2s", "--quality=24", "--max-bitrate=4M", "a.h264"], ["--utc", "%H.h264"],
            ["--overwrite", "--segment=1s", "--report=r", "a.h264"],
            ["--no-pace", "--device=a.y4m", "a.h264"],
        ])
    func sound(arguments: [String]) { #expect(verdict(arguments) == .works) }

    @Test(
        "what has no effect is told",
        arguments: [
            ["--no-pace", "a.h264"], ["--overwrite", "-"], ["--overwrite", "--listen=1"],
        ])
    func useless(arguments: [String]) { #expect(verdict(arguments) == .warns) }

    @Test(
        "what no encoder can do is refused ahead of any device",
        arguments: [
            (
                ["--entropy=cabac", "--profile=constrained-baseline", "a.h264"],
                "CABAC needs profile main or high"
            ),
            (["--profile=high", "a.h265"], "H.265 has no profile high"),
            (["--entropy=cavlc", "a.h265"], "H.265 has no CAVLC"),
            (["--level=1.2", "a.h265"], "H.265 has no level 1.2"),
            (
                ["--bframes=2", "--profile=constrained-baseline", "a.h264"],
                "B frames need profile main or high"
            ),
            (["--bframes=3", "--max-frame-delay=1", "a.h264"], "raise --max-frame-delay"),
            (["--level=1", "--bitrate=5M", "a.h264"], "level 1 allows"),
        ])
    func contradictions(arguments: [String], reason: String) throws {
        let error = try #require(throws: (any Error).self) { try RecordCommand.parse(arguments) }
        #expect(RecordCommand.message(for: error).contains(reason))
    }
}

/// Lengths that a stream's rate and keyframes change.
@Suite struct SegmentAdviceTests {
    private func advice(_ options: String..., bitRate: Double = 5.5e6, keyframes: Double = 1) throws
        -> SegmentAdvice
    {
        SegmentAdvice(
            segments: try SegmentOptions.parse(options), bitRate: bitRate, keyframeDistance: keyframes)
    }

    @Test("a ring says how much memory it takes, or how little it holds")
    func ring() throws {
        let fits = try advice("--ring", "30s", "--post", "30s")
        #expect(fits.notes == ["ring: 30 s, some 21 MB in memory"] && fits.warnings.isEmpty)
        let day = try advice("--ring", "24h")
        #expect(day.notes.isEmpty)
        #expect(try #require(day.warnings.first).contains("268 MB of memory hold some 7 min at 5.5 Mbit/s"))
    }

    @Test("--post that ends between two keyframes is told")
    func post() throws {
        #expect(try advice("--ring", "30s", "--post", "1s", keyframes: 1).warnings.isEmpty)
        let warning = try #require(try advice("--ring", "30s", "--post", "1s", keyframes: 10).warnings.first)
        #expect(warning.contains("--post 1.0 s becomes up to 11 s"))
    }

    @Test("a size that is smaller than a group of pictures is told")
    func size() throws {
        let warning = try #require(try advice("--segment", "8k", keyframes: 2).warnings.first)
        #expect(warning.contains("files become some 1 MB"))
        #expect(try advice("--segment", "500M").warnings.isEmpty)
        #expect(try advice("--segment", "10m", keyframes: 600).warnings.isEmpty)
    }
}
