import ArgumentParser
import CamCommandLine
import CamPlatform
import CamRecorder
import Encoder
import CamStorage
import Containers
import CamConversion

/// Options for splitting a recording into files and removing old ones.
struct SegmentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Start a new file after a time, a size or a number of frames: 10m, 500M, 1000f. Names may contain strftime's %Y, %m, ...",
            valueName: "TIME|BYTES|FRAMES"), transform: SegmentLength.read)
    var segment: SegmentLength?

    @Flag(help: "With --segment TIME, start files on the clock: with 10m at :00, :10, :20 ... of every hour.")
    var align = false

    @Flag(help: "Use UTC instead of local time, in names, for --align and in --overlay.")
    var utc = false

    @Option(
        help: ArgumentHelp(
            "Remove the oldest segments beyond an age, a total size or a number of files: 7d, 100G, 50. May be repeated.",
            valueName: "TIME|BYTES|N"), transform: SegmentLimit.read)
    var keep: [SegmentLimit] = []

    @Option(
        help: ArgumentHelp(
            "Remove the oldest segments while less disk space is free: 5G, 10%.", valueName: "BYTES|%"),
        transform: FreeSpace.read)
    var minFree: FreeSpace?

    @Option(
        help: ArgumentHelp("Flush files to the disk this often, against power cuts.", valueName: "TIME"),
        transform: TimeSpan.reader(0.1...3600, "100ms to 1h"))
    var sync: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Keep the latest pictures in memory, at most 256 MiB; write them to a file on SIGUSR2 or 'camrec ctl trigger'.",
            valueName: "TIME"), transform: TimeSpan.reader(Self.upToADay, "at most 24h"))
    var ring: TimeSpan?

    @Option(
        help: ArgumentHelp("Time to record after a trigger. Default: 30s.", valueName: "TIME"),
        transform: TimeSpan.reader(Self.upToADay, "at most 24h"))
    var post: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Start PROGRAM with each finished file: PROGRAM PATH START END FRAMES, without a shell, two at a time. Its failures are warnings. At the end camrec waits 10 s, then leaves it running.",
            valueName: "PROGRAM"),
        completion: .file(), transform: PlainValue.text("expected a program's path, or its name in PATH"))
    var onSegment: String?

    /// The limits of `--ring` and `--post`, in seconds.
    private static let upToADay = 0.0...86400

    /// Whether names are patterns for any number of files.
    var isSegmented: Bool { segment != nil || ring != nil }

    /// Whether old files are removed.
    var isLimited: Bool { !keep.isEmpty || minFree != nil }

    /// Aligns the starts of files with the clock if `--align` is given, at the same moments for encoders and
    /// outputs.
    mutating func putOnClock() {
        guard align, case .time(let time)? = segment?.length else { return }
        segment = SegmentLength(.clock(ClockGrid(every: time, isUTC: utc)))
    }

    /// The starts of files, for both encoders and outputs.
    var schedule: SegmentSchedule? { segment.map { SegmentSchedule($0.length) } }

    /// Returns the plan for an output's segments.
    /// - Parameters:
    ///   - path: the pattern of the segments' names.
    ///   - timestamps: the pattern of the timestamp files' names; nil for none.
    func plan(path: String, timestamps: String?) -> SegmentPlan {
        var plan = SegmentPlan(names: names(path), length: segment?.length)
        plan.timestamps = timestamps.map(names)
        for limit in keep { plan.retention.tighten(to: limit.retention) }
        plan.retention.free = minFree?.floor
        return plan
    }

    /// The ring to keep in memory until a trigger; nil if everything is written.
    var ringPlan: EventRing.Plan? {
        ring.map { EventRing.Plan(before: $0.duration, after: postDuration) }
    }

    /// How much to write after a trigger.
    var postDuration: Duration { post?.duration ?? .seconds(30) }

    /// Returns the names made by a pattern.
    func names(_ pattern: String) -> FileNamePattern {
        FileNamePattern(pattern, expandsTime: true, isUTC: utc)
    }
}

// MARK: Values of options

/// `10m`, `90s`; `500M`, `500MB`, `2GiB`; `1000f`.
struct SegmentLength: ExplainedArgument {
    static let requirement =
        "expected a time (100ms to 2777h), a size (4096B to 1000T) or frames, as in 10m, 500M or 1000f"

    let length: SegmentSchedule.Length
    /// The value, if it is a number that could be meant as frames; it is taken as seconds.
    private(set) var bareNumber: String?

    init(_ length: SegmentSchedule.Length) { self.length = length }

    init?(argument: String) {
        if Double(argument) != nil { bareNumber = argument }
        if argument.hasSuffix("f"), let frames = Int(argument.dropLast()) {
            guard (1...1_000_000_000).contains(frames) else { return nil }
            length = .frames(frames)
        } else if let bytes = ByteCount(argument: argument) {
            guard bytes.value >= 4096 else { return nil }
            length = .bytes(bytes.value)
        } else {
            guard let time = TimeSpan(argument: argument), (0.1...1e7).contains(time.seconds) else {
                return nil
            }
            length = .time(time.duration)
        }
    }
}

/// `7d`, `12h`; `100G`; `50`.
struct SegmentLimit: ExplainedArgument {
    static let requirement =
        "expected an age of 1s or more, a size, or a number of files from 1, as in 7d, 100G or 50"

    let retention: SegmentRetention

    init?(argument: String) {
        var retention = SegmentRetention()
        if let count = Int(argument) {
            guard count >= 1 else { return nil }
            retention.count = count
        } else if let bytes = ByteCount(argument: argument) {
            retention.bytes = bytes.value
        } else {
            guard let seconds = TimeSpan.seconds(of: argument), (1...1e10).contains(seconds) else {
                return nil
            }
            retention.age = .seconds(seconds)
        }
        self.retention = retention
    }
}

/// `5G`, `10%`.
struct FreeSpace: ExplainedArgument {
    static let requirement = "expected a size up to 1000T, or 0% to 99% of the disk, as in 5G or 10%"

    let floor: SegmentRetention.Floor

    init?(argument: String) {
        let (number, unit) = argument.splitUnit()
        if unit == "%" {
            guard let number, (0...99).contains(number) else { return nil }
            floor = .share(number / 100)
        } else {
            guard let bytes = ByteCount(argument: argument) else { return nil }
            floor = .bytes(bytes.value)
        }
    }
}

/// A number of bytes with a unit: `500M`, `500MB`, `2G`, `1T`, `512MiB`.
struct ByteCount: ExpressibleByArgument {
    let value: Int

    init?(argument: String) {
        let (number, unit) = argument.splitUnit()
        // A lower-case m means minutes.
        let factor: Double? =
            switch unit {
            case "B": 1
            case "k", "K", "kB", "KB": 1e3
            case "KiB": 1024
            case "M", "MB": 1e6
            case "MiB": 1_048_576
            case "G", "GB": 1e9
            case "GiB": 1_073_741_824
            case "T", "TB": 1e12
            case "TiB": 1_099_511_627_776
            default: nil
            }
        guard let number, let factor, number > 0, number * factor >= 1, number * factor <= 1e15 else {
            return nil
        }
        value = Int(number * factor)
    }
}

// MARK: Motion

/// Options for a ring that motion triggers.
struct MotionOptions: ParsableArguments {
    @Flag(
        help:
            "With --ring, trigger while something moves. Noise, flicker and changes of the light do not trigger."
    )
    var onMotion = false

    @Option(
        help: ArgumentHelp(
            "How small and faint a thing triggers --on-motion, from 1 (only large and clear ones) to 10. Default: 5.",
            valueName: "N"), transform: PlainValue.number(MotionSensitivity.levels))
    var motionSensitivity: Int?

    @Option(
        help: ArgumentHelp(
            "A PGM or PNG picture of any size: nothing triggers --on-motion where it is black.",
            valueName: "FILE"),
        completion: .file(extensions: ["pgm", "png"]))
    var motionMask: String?

    /// The motion to watch for; nil without `--on-motion`.
    /// - Parameter crop: the part of the camera's picture that is recorded.
    /// - Throws: if the mask cannot be used.
    func plan(crop: CropRectangle?) throws(RecordingError) -> MotionPlan? {
        guard onMotion else { return nil }
        do throws(InputError) {
            return MotionPlan(
                sensitivity: motionSensitivity.flatMap(MotionSensitivity.init) ?? .usual,
                mask: try motionMask.map { path throws(InputError) in try MotionMask(path: path) },
                crop: crop)
        } catch { throw .input(error) }
    }
}
