import Bitstream
import Decoder
import CamPictures
import CamSound
import CamCommandLine
import CamPlatform
import Containers

/// Reads the stream, decodes it, and delivers its pictures. Runs on one thread.
final class Player {
    private let options: ReadingOptions
    let isLive: Bool
    let input: PlayInput
    let outputs: PlayOutputs
    let presentation: Presentation?
    /// Plays the sound; nil for none.
    let sound: SoundPlayer?
    /// Takes a live stream's sound; nil for none.
    let liveSound: LiveSound?
    /// Whether pictures have times of their own.
    var hasTimes: Bool
    private let console: Console
    let cancellation: CancellationFlag
    let clock: PictureClock?
    var pipeline: Pipeline?
    /// Whether the kind of stream is still unknown.
    var isUnknown = true
    /// The first bytes of a stream whose kind is still unknown.
    var head: [UInt8] = []
    /// The container that `head` begins, if it can be read as a stream.
    private var containerKind: StreamContainer?
    /// The counts so far.
    var report: PlayReport
    /// Whether a thread hangs in a driver or in a sound library.
    private(set) var hasHungThread = false
    var isDone = false
    /// Splits a raw AVCC stream; nil for start codes.
    private var lengths: AVCC.Reader?
    private let record: DecoderConfigurationRecord?
    /// Where playing starts, at the file's own speed; earlier pictures are decoded but not played.
    var start: Duration?
    /// The current position, at the file's own speed.
    private(set) var position = Duration.zero
    /// The number of access units to skip without decoding: a later keyframe precedes the playing position.
    var unitsToPass = 0
    /// Looks for a keyframe, and receives the access units instead of the decoder.
    var search: KeyframeSearch?
    private var hasToldLoss = false
    private var hasToldOrder = false
    private var hasDescribed = false
    /// Why there is no picture; nil if nothing arrived.
    private var problem: String?
    /// When everything received had been processed and waiting for more began; nil before that.
    private var timeOfLastWait: Instant?
    /// When the connection's first bytes arrived, and how many pictures there were before.
    private var beginning: (time: Instant, pictures: Int)?

    /// The processing of a stream of one codec.
    struct Pipeline {
        let assembler: AccessUnitAssembler
        let decoder: DecompressionSession
        var rate: FrameRate?
        /// The counts that are already in the report.
        var counted = DecompressionSession.Counters()
    }

    static let chunkLength = 64 << 10
    /// How long a live stream may be without a picture before camplay reports it.
    private static let patience = Duration.seconds(5)

    /// - Parameters:
    ///   - presentation: where pictures are shown; nil without a window.
    ///   - sound: plays the sound; nil for none.
    ///   - liveSound: receives a live stream's sound; nil for none.
    ///   - clock: when pictures are shown; nil for as soon as they are available.
    init(
        _ command: Camplay, input: PlayInput, record: DecoderConfigurationRecord?, outputs: PlayOutputs,
        presentation: Presentation?, sound: SoundPlayer?, liveSound: LiveSound?, clock: PictureClock?,
        console: Console,
        cancellation: CancellationFlag
    ) {
        options = command.reading
        isLive = command.isLive
        (self.input, self.outputs, self.presentation, self.clock) = (input, outputs, presentation, clock)
        (self.sound, self.liveSound, hasTimes) = (sound, liveSound, input.hasTimes)
        (self.console, self.cancellation, self.record) = (console, cancellation, record)
        report = PlayReport(source: input.name)
    }

    /// Plays until the stream ends, enough pictures were played, or the user interrupts.
    func run() throws(PlayError) {
        let start = Instant.now
        defer { report.seconds = (.now - start).inSeconds }
        do throws(PlayError) { try playAll() } catch {
            // The report must account for pictures still in the decoder.
            giveUp()
            throw error
        }
        if report.pictures.decoded == 0, !cancellation.isRaised {
            throw .noPicture(
                input.name,
                reason: report.lastLoss ?? (report.pictures.skipped > 0 ? "it ends before --start" : problem))
        }
        // Joining a live stream between keyframes is normal, and so is beginning in an open GOP.
        if report.pictures.beforeFirstKeyframe > 0, !isLive, options.start == nil {
            console.warn(
                "\(input.name): \(Quantity.count(report.pictures.beforeFirstKeyframe, "picture")) before the first keyframe left out"
            )
        }
        if report.losses > 0, !console.isQuiet {
            console.warn(
                "\(input.name): lost the stream \(report.losses == 1 ? "once" : "\(report.losses) times"); pictures left "
                    + "out: \(report.pictures.frozen + report.pictures.lost)")
        }
    }

    private func playAll() throws(PlayError) {
        if let start = options.start {
            sound?.seek(to: start.duration)
            try seek(to: start.duration)
        }
        repeat {
            try readAll()
            try endStream(isWhole: !cancellation.isRaised)
            if !isDone, let clock { presentation?.hold(until: clock.end) }
        } while try jump()
    }

    /// Records that a thread hangs.
    func noteHungThread() { hasHungThread = true }

    /// Adds the window's counts of pictures, and the sound, to the report.
    func note(_ statistics: Presentation.Statistics) {
        report.sound = sound?.report
        report.pictures.shown = statistics.shownCount
        report.pictures.late = statistics.lateCount
        report.pictures.paused = statistics.pausedCount
    }
}

extension Player {
    private func readAll() throws(PlayError) {
        switch input {
        case .bytes(let source): try readBytes(of: source)
        case .container(let reader, _, _):
            report.connections = max(1, report.connections)
            try readPictures(of: reader)
        }
    }

    private func readBytes(of source: any ByteSource) throws(PlayError) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkLength, alignment: 16)
        defer { room.deallocate() }
        while !isDone {
            let waits = isLive && !source.isReady
            switch try source.read(into: room) {
            case .bytes(let count):
                if isUnknown, head.isEmpty, start == nil { report.connections += 1 }
                note(count, waited: waits)
                try take(UnsafeRawBufferPointer(rebasing: room[..<count]))
                if let kind = containerKind.take() {
                    try readContainer(kind, from: source)
                    continue
                }
                _ = try jump()
                if isLive { warnIfNothingPlays() }
            case .pause:
                timeOfLastWait = .now
                try anticipate()
            case .interrupted(let isWhole): try endStream(isWhole: isWhole)
            case .ended: return
            }
        }
    }

    /// Counts bytes that were read.
    func note(_ count: Int, waited: Bool) {
        report.bytes += count
        if waited || timeOfLastWait == nil { timeOfLastWait = .now }
    }

    func take(_ bytes: UnsafeRawBufferPointer) throws(PlayError) {
        guard isUnknown else { return try gather(bytes) }
        head += bytes
        if let record {
            let prefix = record.prefix(ofStreamBeginningWith: head.span.bytes)
            return try begin(record.codec, .lengthPrefixed(record.lengthSize), with: prefix + head)
        }
        try identify(isWhole: false)
    }

    /// Detects the kind of stream, and passes its first bytes on.
    private func identify(isWhole: Bool) throws(PlayError) {
        let kind = StreamKind(head: head.span.bytes, isWhole: isWhole)
        guard let kind, kind != .empty else { return }
        if case .container(let container) = kind, container != .mp4, options.record == nil, !input.isSeekable
        {
            return containerKind = container
        }
        guard let (codec, framing) = form(of: kind) else {
            let complaint = Self.complaint(of: kind)
            if case .bytes(let source) = input, source.giveUp(complaint) { return head.removeAll() }
            throw .notAStream(input.name, complaint)
        }
        try begin(codec, framing, with: head)
    }

    /// Starts with a stream's first bytes.
    private func begin(
        _ codec: Codec, _ framing: NALUnitSource.Framing, with head: [UInt8]
    ) throws(PlayError) {
        isUnknown = false
        self.head.removeAll()
        lengths =
            if case .lengthPrefixed(let size) = framing {
                AVCC.Reader(lengthSize: size, maximumUnitByteCount: AccessUnitAssembler.defaultByteLimit)
            } else { nil }
        if codec != pipeline?.assembler.codec { pipeline = makePipeline(codec) }
        try head.span.bytes.withUnsafeBytes { (bytes) throws(PlayError) in try gather(bytes) }
    }

    private func form(of kind: StreamKind) -> (Codec, NALUnitSource.Framing)? {
        guard case .stream(let codec, let framing) = kind else {
            return options.codec.map { ($0, .annexB) }
        }
        if let wanted = options.codec, codec != wanted {
            console.warn("\(input.name): this looks like \(codec), but --codec says \(wanted)")
        }
        return (options.codec ?? codec, framing)
    }

    private static func complaint(of kind: StreamKind) -> String {
        switch kind {
        case .container(let container):
            "this is \(container), which is played from a file, not a pipe; save it first"
        case .other(let kind): "this is \(kind), not a raw H.264 or H.265 stream; play it with ffplay"
        case .stream, .unknown, .empty: "not a raw H.264 or H.265 stream; if it is one, add --codec"
        }
    }

    /// Warns, once per connection, that bytes arrive but no pictures.
    func warnIfNothingPlays() {
        let now = Instant.now
        guard let beginning else { return beginning = (now, report.pictures.decoded) }
        guard now - beginning.time >= Self.patience else { return }
        self.beginning = (.distantFuture, 0)
        guard beginning.pictures == report.pictures.decoded else { return }
        console.warn(
            "\(input.name): nothing to play for \(Self.patience.components.seconds) s: no keyframe with its parameter "
                + "sets arrived")
    }

    func makePipeline(_ codec: Codec) -> Pipeline {
        var configuration = DecoderConfiguration(codec: codec)
        configuration.lossPolicy = options.onLoss
        configuration.delay = isLive ? .low : .safe
        configuration.acceleration = options.decoder.acceleration
        report.codec = codec.rawValue
        problem = "no keyframe with its parameter sets"
        return Pipeline(
            assembler: AccessUnitAssembler(codec: codec), decoder: DecompressionSession(configuration))
    }

    private func gather(_ bytes: UnsafeRawBufferPointer) throws(PlayError) {
        let now = Instant.now
        guard lengths != nil else { return try gather(bytes.bytes, arrival: now) }
        var (annexB, problem): ([UInt8], String?) = ([], nil)
        lengths?.read(bytes.bytes) { result, nalUnit in
            switch result {
            case .success:
                annexB += [0, 0, 0, 1]
                nalUnit.withUnsafeBytes { annexB += $0 }
            case .failure(let error): problem = error.problem
            }
        }
        try gather(annexB.span.bytes, arrival: now)
        if let problem { try reject(problem) }
    }

    /// Records that pictures are missing before the next one.
    func reject(_ problem: String) throws(PlayError) {
        self.problem = problem
        guard search == nil, let pipeline else { return }
        // The data before the damage is complete.
        try pipeline.assembler.finish { (unit) throws(PlayError) in try play(unit) }
        pipeline.assembler.abandon()
        pipeline.decoder.reject(because: problem)
        // Pictures held back for reordering came before the damage; the next entry point would discard them.
        try playPictures()
    }

    private func gather(_ bytes: RawSpan, arrival: Instant) throws(PlayError) {
        try pipeline?.assembler.add(bytes, arrival: arrival) { (unit) throws(PlayError) in try play(unit) }
    }

    /// Plays a picture that is probably complete, without waiting for the next one to be certain.
    private func anticipate() throws(PlayError) {
        // The last wanted picture ends the program, so its data must be saved completely.
        let isLast = report.pictures.decoded + 1 == options.frames
        guard !isUnknown, !isLast, let pipeline else { return }
        try pipeline.assembler.anticipate { (unit) throws(PlayError) in
            let picture: DecodedPicture?
            do throws(DecoderError) {
                picture = try pipeline.decoder.anticipate(unit)
            } catch { throw .decoder(error) }
            if let picture { try play(picture) }
        }
    }

    /// - Parameter isWhole: whether the last gathered unit is complete.
    func endStream(isWhole: Bool) throws(PlayError) {
        if isUnknown, !head.isEmpty { try identify(isWhole: true) }
        (isUnknown, beginning, containerKind) = (true, nil, nil)
        guard let pipeline else { return }
        var problem: String?
        // After a wrong length, the whole rest may look like one unit.
        lengths?.finish { result, _ in if case .failure(let error) = result { problem = error.problem } }
        if let problem, !isDone { try reject(problem) }
        if isWhole, !isDone {
            try pipeline.assembler.finish { (unit) throws(PlayError) in try play(unit) }
        } else {
            pipeline.assembler.abandon()
        }
        if isDone { pipeline.decoder.discard() } else { pipeline.decoder.drain() }
        try playPictures()
        outputs.interrupt()
    }

    /// - Parameter isHidden: whether the picture is only a reference for others.
    func play(_ unit: borrowing ReceivedAccessUnit, isHidden: Bool = false) throws(PlayError) {
        guard !isDone, let decoder = pipeline?.decoder else { return }
        if search != nil {
            try search?.note(unit)
            return
        }
        if unitsToPass > 0, unit.hasPicture {
            unitsToPass -= 1
            return
        }
        if unit.role.allowsEntry { pipeline?.rate = unit.format?.frameRate }
        try outputs.write(unit)
        let isSkipped: Bool
        do throws(DecoderError) {
            isSkipped = try !decoder.decode(unit, isHidden: isHidden, lateness: lateness)
        } catch { throw .decoder(error) }
        // Time also passes for a picture that is skipped.
        if isSkipped, !unit.role.isSecondField {
            _ = try clock?.next(rate: clock?.frameRate ?? pipeline?.rate)
        }
        try playPictures()
        count()
    }

    /// How late pictures in the window are: for a file, relative to their time; for a live stream, relative
    /// to the moment when nothing more was waiting to be read. A read that does not fill its buffer proves
    /// nothing: the sender may be waiting for that room.
    private var lateness: Duration {
        guard let presentation, !outputs.wantPictures else { return .zero }
        guard clock == nil else { return presentation.currentLateness }
        return timeOfLastWait.map { .now - $0 } ?? .zero
    }

    private func playPictures() throws(PlayError) {
        while !isDone, let decoder = pipeline?.decoder {
            let next: DecodedPicture?
            do throws(DecoderError) { next = try decoder.nextPicture() } catch { throw .decoder(error) }
            guard let next else { break }
            try play(next)
        }
        count()
    }

    private func play(_ picture: consuming DecodedPicture) throws(PlayError) {
        if !hasDescribed { describe(picture) }
        let rate = clock?.frameRate ?? pipeline?.rate
        let time = hasTimes ? picture.arrival.map { $0 - .start } : nil
        let due = try clock?.next(rate: rate, time: time)
        position = time ?? clock?.place.time ?? .zero
        if let start, position < start {
            report.pictures.skipped += 1
            return
        }
        start = nil
        report.pictures.decoded += 1
        if isLive, let captured = picture.captureTime {
            report.delay = report.delay ?? PlayReport.Delay()
            report.delay?.add(WallTime.now - captured)
        }
        try outputs.write(picture, rate: rate)
        isDone = report.pictures.decoded == options.frames
        presentation?.show(
            picture, at: due, notBefore: liveMoment(of: picture) ?? .start,
            StreamTotals(
                bytes: report.bytes, losses: report.losses,
                missing: report.pictures.frozen + report.pictures.lost,
                skipped: report.pictures.skipped))
    }

    /// When a live picture is due, if it waits for its sound; nil for at once.
    private func liveMoment(of picture: borrowing DecodedPicture) -> Instant? {
        guard let liveSound, let arrival = picture.arrival else { return nil }
        return liveSound.moment(ofPictureFrom: arrival)
    }

    /// Reports the kind of stream when its first picture is available.
    private func describe(_ picture: borrowing DecodedPicture) {
        hasDescribed = true
        guard let pipeline else { return }
        let decoder = pipeline.decoder
        noteDecoder(decoder)
        (report.width, report.height) = (picture.width, picture.height)
        let because = report.reasons.isEmpty ? "" : " (because: \(report.reasons.joined(separator: "; ")))"
        let rate = pipeline.rate.map { ", \($0.framesPerSecond) frames/s" } ?? ""
        console.inform(
            "\(input.name): \(pipeline.assembler.codec) \(picture.width)x\(picture.height)\(rate), decoded by "
                + "\(report.decoder ?? "")\(because)")
    }

    private func noteDecoder(_ decoder: DecompressionSession) {
        report.decoder = decoder.renderNode ?? "software"
        report.reasons = decoder.softwareReasons
    }

    /// Adds the decoder's counts since the last call to the report.
    func count() {
        guard let counters = pipeline?.decoder.counters, let counted = pipeline?.counted else { return }
        if let decoder = pipeline?.decoder {
            if hasDescribed { noteDecoder(decoder) }
            hasHungThread = hasHungThread || decoder.hasHungThread
        }
        report.pictures.received += counters.received - counted.received
        report.pictures.beforeFirstKeyframe += counters.beforeEntry - counted.beforeEntry
        report.pictures.frozen += counters.frozen - counted.frozen
        report.pictures.secondFields += counters.secondFields - counted.secondFields
        report.pictures.skipped += counters.skipped - counted.skipped
        report.pictures.lost += counters.lost - counted.lost
        report.pictures.withheld += counters.withheld - counted.withheld
        report.pictures.unplayed += counters.unplayed - counted.unplayed
        report.losses += counters.losses - counted.losses
        pipeline?.counted = counters
        guard counters.losses > counted.losses, let loss = pipeline?.decoder.lastLoss else { return }
        report.lastLoss = loss
        if !hasToldLoss {
            let consequence =
                pipeline?.decoder.isFrozenByLoss == true ? "; frozen until the next keyframe" : ""
            console.warn("\(input.name): loss: \(loss)\(consequence)")
        }
        hasToldLoss = true
        if pipeline?.decoder.hasBrokenOrder == true, !hasToldOrder {
            hasToldOrder = true
            console.warn(
                "\(input.name): its pictures are reordered further than declared; buffering more from now on"
            )
        }
    }
}
