@_exported import Bitstream
import CamConversion
@_exported import CamPictures
import CamPlatform

/// A compression session: pictures in, access units of the guaranteed shape out, for one or more renditions
/// that share each picture's conversion.
///
/// The session opens the encoders, watches the calls that may hang, replaces an encoder that fails or hangs,
/// follows changes of rate and of the source's format, and places the keyframes. What comes out, and what
/// happened to the encoders, is delivered to the renditions' `Event` handlers on the caller's thread, in order.
///
/// Used by one thread at a time; handlers must not use the session. For tasks, see `AsyncCompressionSession`. Calls that
/// may wait for a driver are made on a thread of the session's own, which is replaced when a driver never answers; the
/// caller waits meanwhile. The first encoders are opened on the caller's thread, for 15 seconds at most.
public final class CompressionSession {
    /// The renditions, in the order of the providers.
    public let renditions: [Rendition]
    /// The number of times that a thread was abandoned because a driver never answered.
    public private(set) var hangCount = 0
    /// Called on the session's thread when a picture is converted for all renditions that can use it, and before
    /// any of them encodes it: the time to take its thumbnail, and to offer slots for later pictures.
    package var onConversion: ((borrowing PixelBuffer) -> Void)?

    /// Ends the pauses between restarts when no more pictures will come. Set it before the first picture.
    package var clock: any InterruptibleClock = StoppableTime() {
        didSet { for rendition in renditions { rendition.clock = clock } }
    }

    private let watch = CallWatch()
    private let isWatched: Bool
    private var thread: ReplaceableThread?
    private var task = Task.none
    /// The picture being encoded. A thread that hangs keeps it, so another takes its place.
    private var current = Current()
    private var verdict = Verdict.unused
    /// The format of the last picture.
    private var format: PictureFormat?
    private var isFinishing = false
    /// Whether a handler runs, which must not use the session.
    private var isDelivering = false
    /// What a call that passes access units on has received.
    private var collected: [AccessUnit] = []

    deinit { thread?.end() }

    /// Each hung thread leaks its stack and encoders; after this many, hardware drivers are no longer used.
    private static let mostHangs = 8

    private enum Task {
        case none
        case encode(slot: Int)
        case follow(PictureFormat)
        case change(RateChange)
        /// Takes what the encoders hold back; nil for those of all renditions.
        case returnHeldBack(Rendition?)
        /// Nil for all renditions.
        case finish(Rendition?)
        case fail(EncoderError)
    }

    private final class Current {
        var picture: PixelBuffer?
        var claim: PixelBufferClaim?

        /// Not inlined: the optimizer of Swift 6.3.1 would crash.
        @inline(never) func withPicture(_ body: (borrowing PixelBuffer) -> Void) {
            switch picture {
            case .some(let picture): body(picture)
            case .none: break
            }
        }
    }

    /// What became of a picture.
    public enum Verdict: Sendable {
        case taken
        /// No encoder took it: it cannot be decoded yet, or the encoders take no more pictures.
        case unused
        /// The picture's data is damaged, so no encoder can use it.
        case damaged(EncoderError)
    }

    /// Opens the encoders, so that a failure is reported before the first picture.
    /// - Parameters:
    ///   - providers: open the encoders of each rendition.
    ///   - format: the format that they are opened for; nil: that of the first picture.
    ///   - isWatched: false if `look` is called by others, as in tests.
    package init(
        _ providers: [any EncoderProvider], format: PictureFormat? = nil, isWatched: Bool = true
    ) throws(EncoderError) {
        var renditions: [Rendition] = []
        for provider in providers {
            renditions.append(try Rendition(provider, index: renditions.count, watch, clock))
        }
        (self.renditions, self.format, self.isWatched) = (renditions, format, isWatched)
        for rendition in renditions { rendition.handOver = { [unowned self] in thread?.handOver() } }
    }

    /// Whether a thread still hangs, in which case exit handlers may hang too.
    public var hasHungThread: Bool { hangCount > 0 }
}

// MARK: - The caller's thread

extension CompressionSession {
    /// Encodes a picture for each rendition that wants it.
    /// - Parameter slot: the number of the slot that may hold its conversions.
    package func encode(_ picture: consuming PixelBuffer, in slot: Int = 0) -> Verdict {
        follow(picture.format)
        current.claim = picture.claim
        current.picture = consume picture
        verdict = .taken
        perform(.encode(slot: slot))
        current.claim = nil
        current.picture = nil
        return verdict
    }

    /// Encodes pictures of this format from now on. If it is another object than before, takes what the encoders hold
    /// back, and opens others: all are closed before any is opened, because they share resources.
    package func follow(_ format: PictureFormat) {
        if let last = self.format, last !== format { perform(.follow(format)) }
        self.format = format
    }

    /// Changes a rate from the next picture on. Most encoders need to be opened again for that, and begin with
    /// an IDR.
    public func change(_ change: RateChange) { perform(.change(change)) }

    /// The rate changes that the encoders of all renditions support that follow them.
    public var rateChanges: RateChanges {
        var possible = RateChanges(rawValue: ~0)
        for rendition in renditions where !rendition.isOver && rendition.followsRateChanges {
            possible.formIntersection(rendition.rateChanges)
        }
        return possible
    }

    /// Delivers the pictures that encoders hold back now, however long the next picture takes. Their
    /// encoders are opened again for that.
    /// - Parameter rendition: nil for all.
    public func returnHeldBack(of rendition: Rendition? = nil) { perform(.returnHeldBack(rendition)) }

    /// Ends the stream: delivers what the encoders hold back, and closes them. Call nothing else afterwards.
    public func finish() {
        isFinishing = true
        perform(.finish(nil))
        thread?.end()
    }

    /// Ends one rendition, while the others continue.
    public func finish(_ rendition: Rendition) { perform(.finish(rendition)) }

    /// Ends every rendition with an error.
    package func fail(_ error: EncoderError) { perform(.fail(error)) }

    private func perform(_ task: Task) {
        precondition(!isDelivering, "a handler must not use its session")
        self.task = task
        let thread = thread ?? makeThread()
        self.thread = thread
        thread.perform()
        deliver()
    }

    private func deliver() {
        isDelivering = true
        defer { isDelivering = false }
        for rendition in renditions { rendition.deliver() }
    }

    private func makeThread() -> ReplaceableThread {
        // The session outlives its tasks.
        ReplaceableThread(watch, isWatched: isWatched) { [unowned self] in
            performTask()
        } takeOver: { [unowned self] in
            deliver()
        } recover: { [unowned self] isLast in
            recover(isLast: isLast)
        }
    }

    /// Checks for a hang, if the session is not watched.
    package func look() { thread?.look() }
}

// MARK: - Access units for one receiver

extension CompressionSession {
    /// Opens an encoder for each set of properties. They share the conversion of each picture; codecs, sizes and
    /// rates may differ.
    /// - Parameters:
    ///   - source: the format of the pictures.
    ///   - request: which encoders may be used.
    /// - Throws: `EncoderError` if no encoder of this machine accepts the properties.
    public convenience init(
        for source: PictureFormat, _ properties: [CompressionProperties],
        encoders request: EncoderRequest = EncoderRequest()
    ) throws(EncoderError) {
        try self.init(
            BackendEncoderProvider.providers(request, configurations: properties, source: source),
            format: source)
    }

    /// Encodes a picture, and passes on each access unit that comes out: of this picture, or of earlier ones that an
    /// encoder held back. Replaces the renditions' `onAccessUnit`.
    /// - Parameter forcesKeyframe: whether its access units are IDRs, in addition to the regular ones.
    /// - Returns: what became of the picture. Damaged ones, such as a camera's broken JPEG, are left out.
    /// - Throws: the receiver's error, or `EncoderError` if no encoder is left. A rendition that fails alone has its
    ///   `error`.
    @discardableResult public func encode(
        _ picture: consuming PixelBuffer, forcingKeyframe forcesKeyframe: Bool = false,
        _ receive: (AccessUnit) throws -> Void
    ) throws -> Verdict {
        collect()
        if forcesKeyframe { for rendition in renditions { rendition.requestKeyframe() } }
        let verdict = encode(picture)
        try passOn(receive)
        return verdict
    }

    /// Ends the stream, and passes on what the encoders held back.
    /// - Throws: the receiver's error, or the `EncoderError` of a rendition that failed.
    public func finish(_ receive: (AccessUnit) throws -> Void) throws {
        collect()
        finish()
        try passOn(receive)
    }

    private func collect() {
        for rendition in renditions {
            rendition.onAccessUnit = { [unowned self] unit in
                collected.append(unit)
                return .more
            }
        }
    }

    private func passOn(_ receive: (AccessUnit) throws -> Void) throws {
        defer { collected.removeAll(keepingCapacity: true) }
        for unit in collected { try receive(unit) }
        if renditions.allSatisfy(\.isOver), let error = renditions.lazy.compactMap(\.error).first {
            throw error
        }
    }
}

// MARK: - The session's thread

extension CompressionSession {
    private func performTask() {
        switch task {
        case .none: break
        case .encode(let slot): current.withPicture { verdict = code($0, in: slot) }
        case .follow(let format):
            for rendition in renditions { rendition.endSource() }
            for rendition in renditions { rendition.beginSource(format) }
        case .change(let change):
            for rendition in renditions where rendition.followsRateChanges { rendition.change(change) }
        case .returnHeldBack(let rendition?): rendition.returnHeldBack()
        case .returnHeldBack(nil): for rendition in renditions { rendition.returnHeldBack() }
        case .finish(let rendition?): rendition.finish()
        case .finish(nil): for rendition in renditions { rendition.finish() }
        case .fail(let error): for rendition in renditions { rendition.fail(error) }
        }
    }

    private func code(_ picture: borrowing PixelBuffer, in slot: Int) -> Verdict {
        for rendition in renditions { rendition.pick(picture) }
        let isPassedOver = renditions.contains { $0.takesPictures && !$0.isPictureDue }
        guard let conversion = sourceConversion, renditions.contains(where: \.isPictureDue) else {
            let verdict = code(picture, of: picture, in: slot)
            // A picture between those that a lower rate takes was not in vain.
            if case .unused = verdict, isPassedOver { return .taken }
            return verdict
        }
        do throws(EncoderError) {
            return code(try conversion.take(picture, in: slot), of: picture, in: 0)
        } catch {
            let isDamaged = error.recovery == .skipFrame
            for rendition in renditions {
                rendition.endPicture(isLost: isDamaged)
                if !isDamaged { rendition.fail(error) }
            }
            return isDamaged ? .damaged(error) : .taken
        }
    }

    /// All conversions come before any encoding, so that the next picture can be converted during the encoding.
    /// - Parameter original: the source's picture, of which `picture` may be a conversion.
    private func code(
        _ picture: borrowing PixelBuffer, of original: borrowing PixelBuffer, in slot: Int
    ) -> Verdict {
        var (isTaken, damage) = (false, EncoderError?.none)
        for rendition in renditions where damage == nil {
            switch rendition.prepare(picture, in: slot) {
            case .taken: isTaken = true
            case .unused: break
            case .damaged(let error):
                damage = isTaken || renditions.contains(where: \.isPictureReady) ? nil : error
            }
        }
        onConversion?(original)
        for rendition in renditions where damage == nil && rendition.isPictureReady {
            // What is ready does not wait for another encoder.
            if renditions.contains(where: \.hasItems) { thread?.handOver() }
            switch rendition.encode(picture) {
            case .taken: isTaken = true
            case .unused: break
            case .damaged(let error): damage = isTaken ? nil : error
            }
        }
        for rendition in renditions { rendition.endPicture(isLost: damage != nil) }
        if let damage { return .damaged(damage) }
        return isTaken ? .taken : .unused
    }

    private var sourceConversion: SourceConversion? {
        for rendition in renditions where !rendition.isOver { return rendition.sourceConversion }
        return nil
    }

    /// The current picture's thumbnail; nil if none is made. Call it from `onConversion`.
    package var thumbnail: LumaThumbnail? {
        if let sourceConversion {
            return renditions.contains(where: \.isPictureDue) ? sourceConversion.thumbnail : nil
        }
        return renditions.lazy.compactMap(\.thumbnail).first
    }

    /// Appends the slots that may hold the conversions of a later picture; none if converting ahead gains nothing.
    /// Call it from `onConversion`.
    /// - Parameter isWanted: whether a rendition takes more pictures.
    package func addSlots(
        _ number: Int, to slots: inout [ConversionSlot], where isWanted: (Rendition) -> Bool
    ) {
        if let sourceConversion {
            guard renditions.contains(where: isWanted), let slot = sourceConversion.slot(number) else {
                return
            }
            slots.append(slot)
        } else {
            for rendition in renditions where isWanted(rendition) {
                if let slot = rendition.slot(number) { slots.append(slot) }
            }
        }
    }

    /// Abandons all encoders in place of a hung thread, because they share a display and converted pictures,
    /// and opens others. Does not close them, which might hang as well.
    /// - Parameter isLast: whether no thread is left to open others on.
    private func recover(isLast: Bool) {
        hangCount += 1
        let hasPicture = current.claim != nil
        for rendition in renditions { rendition.abandonEncoder(hasPicture: hasPicture) }
        // The hung thread keeps the picture, which another must not touch.
        current.claim?.giveBack()
        current = Current()
        if case .follow(let format) = task { for rendition in renditions { rendition.follow(format) } }
        for rendition in renditions {
            rendition.replaceEncoder(
                isLast: isLast || isFinishing || clock.isStopRequested,
                areDriversGivenUp: hangCount >= Self.mostHangs)
        }
        switch task {
        case .encode: verdict = .taken
        case .follow: for rendition in renditions { rendition.noteSource() }
        // Whatever else it was doing is done again.
        default: performTask()
        }
    }
}
