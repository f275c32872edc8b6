import Bitstream
import CamPlatform

extension Inspection {
    /// The rate that players assume for a raw stream without a stated rate.
    static let assumedFramesPerSecond = 25.0

    /// The first line: codec, frames, duration.
    package var headline: String {
        let format = summary.format.map { ", \($0.width)x\($0.height)" } ?? ""
        let duration = duration.map { " in \(Quantity.duration($0))" } ?? ""
        return "\(summary.codec)\(format), \(Quantity.count(summary.frameCount, "frame"))\(duration)"
    }

    /// The summary, row by row.
    package var facts: [InspectionFact] {
        var facts = [InspectionFact(label: "codec", value: codecText)]
        if let container { facts.append(InspectionFact(label: "container", value: container.text)) }
        if let sound = container?.sound { facts.append(InspectionFact(label: "sound", value: sound.text)) }
        if let start = container?.start {
            facts.append(InspectionFact(label: "recorded", value: start.iso8601))
        }
        if let camera = container?.camera { facts.append(InspectionFact(label: "camera", value: camera)) }
        if let program = container?.program { facts.append(InspectionFact(label: "program", value: program)) }
        if let format = summary.format {
            facts.append(InspectionFact(label: "size", value: Self.sizeText(format)))
            facts.append(InspectionFact(label: "samples", value: Self.sampleText(format)))
            facts.append(InspectionFact(label: "colour", value: colorText(format)))
        }
        facts.append(InspectionFact(label: "rate", value: rateText))
        facts.append(InspectionFact(label: "duration", value: durationText))
        facts.append(InspectionFact(label: "bit rate", value: bitRateText))
        facts.append(InspectionFact(label: "frames", value: frameText))
        facts.append(InspectionFact(label: "order", value: orderText))
        facts.append(InspectionFact(label: "GOP", value: groupText))
        facts.append(InspectionFact(label: "NAL units", value: unitText))
        facts.append(InspectionFact(label: framing == .annexB ? "start codes" : "lengths", value: prefixText))
        facts.append(InspectionFact(label: "parameter sets", value: parameterSetText))
        if let times = summary.captureTimes {
            facts.append(InspectionFact(label: "captured", value: captureText(times)))
        }
        if !summary.messages.isEmpty { facts.append(InspectionFact(label: "SEI", value: messageText)) }
        facts.append(InspectionFact(label: "bytes", value: "\(summary.byteCount)"))
        return facts
    }

    /// The problems, one line each.
    package var problemLines: [String] {
        var lines = summary.problems.map(\.description)
        if summary.omittedProblemCount > 0 {
            lines.append("\(summary.omittedProblemCount) more that are not listed")
        }
        if summary.parameterSetsAreIncomplete {
            lines.append("there are more distinct parameter sets than are listed")
        }
        if summary.accessUnitCount > pictures.count {
            lines.append("pictures after the first \(pictures.count) are counted, but not listed")
        }
        if let failure { lines.append(failure) }
        return lines
    }

    private var codecText: String {
        guard let format = summary.format else {
            return "\(summary.codec); no sequence parameter set that can be read is in use"
        }
        let tier = format.tier.map { ", \($0) tier" } ?? ""
        return "\(summary.codec), \(format.profile) profile, level \(format.level)\(tier)"
    }

    private func captureText(_ times: CaptureTimes) -> String {
        let isComplete = times.count == summary.accessUnitCount
        return "from \(times.first.iso8601) to \(times.last.iso8601), stated by "
            + (isComplete ? "each picture" : "\(times.count) of \(summary.accessUnitCount) pictures")
    }

    private static func sizeText(_ format: StreamFormat) -> String {
        let size = "\(format.width)x\(format.height)"
        let coded = "\(format.codedWidth)x\(format.codedHeight)"
        let crop = size == coded ? "" : " (cropped from \(coded))"
        let shape = format.sampleAspectRatio.flatMap { $0 == "1:1" ? nil : ", samples of \($0)" }
        return "\(size)\(crop)\(shape ?? "")"
    }

    private static func sampleText(_ format: StreamFormat) -> String {
        let depth =
            format.lumaBitDepth == format.chromaBitDepth || format.chromaFormat == .monochrome
            ? "\(format.lumaBitDepth) bit"
            : "\(format.lumaBitDepth) bit luma, \(format.chromaBitDepth) bit chroma"
        return "\(format.chromaFormat), \(depth), \(format.isInterlaced ? "interlaced" : "progressive")"
    }

    private func colorText(_ format: StreamFormat) -> String {
        let parts = [
            ("matrix", "matrix_coefficients"), ("matrix", "matrix_coeffs"), ("primaries", "colour_primaries"),
            ("transfer", "transfer_characteristics"),
        ].compactMap { label, element in summary.meaning(of: element).map { "\(label) \($0)" } }
        let alternative = summary.alternativeTransfer.map { ["transfer preferred by SEI \($0)"] } ?? []
        let range = "\(format.isFullRange ? "full" : "limited") range"
        return ([range] + (parts.isEmpty ? ["the rest is unspecified"] : parts) + alternative).joined(
            separator: "; ")
    }

    private var rateText: String {
        let stated = summary.format?.frameRate
        if hasOwnRate, let rate = framesPerSecond {
            let variation = rateVariation.map {
                " on average, varying from \(Quantity.decimal($0.lowerBound, 2)) to "
                    + "\(Quantity.decimal($0.upperBound, 2))"
            }
            let gap = longestGap.map { " on average, with a gap of \(Quantity.decimal($0, 2)) s" }
            let source = container == nil ? "the capture times" : "the container's times"
            let statement = stated.map { Quantity.decimal($0.framesPerSecond, 3) } ?? "none"
            return
                "\(Quantity.decimal(rate, 2)) frames/s\(variation ?? gap ?? ""), by \(source); "
                + "the stream states \(statement)"
        }
        guard let rate = stated else {
            return "not in the stream; players assume \(Int(Self.assumedFramesPerSecond)) frames/s"
        }
        let fraction = rate.denominator == 1 ? "" : " (\(rate.numerator)/\(rate.denominator))"
        return "\(Quantity.decimal(rate.framesPerSecond, 3)) frames/s\(fraction)"
    }

    private var durationText: String {
        if let duration { return Quantity.duration(duration) }
        let assumed = Double(summary.frameCount) / Self.assumedFramesPerSecond
        return "unknown; \(Quantity.duration(assumed)) at \(Int(Self.assumedFramesPerSecond)) frames/s"
    }

    private var bitRateText: String {
        guard let average = averageBitRate else { return "unknown, because the rate is" }
        let peak =
            peakBitRate.map { ", \(Quantity.bitRate($0)) in the busiest second" }
            ?? ", in less than a second"
        return "\(Quantity.bitRate(average)) on average\(peak)"
    }

    private var frameText: String {
        let kinds = PictureKind.allCases.compactMap { kind -> String? in
            let count = summary.kindCounts[kind, default: 0]
            if kind == .unknown { return count > 0 ? "\(count) unknown" : nil }
            guard kind == .intra else { return "\(count) \(kind)" }
            return "\(count) I (\(summary.idrCount) IDR)"
        }
        let fields =
            summary.isFieldSequence
            ? "\(summary.frameCount), in \(Quantity.count(summary.accessUnitCount, "field"))"
            : summary.secondFieldCount > 0
                ? "\(summary.frameCount), \(summary.secondFieldCount) of them in two fields"
                : "\(summary.frameCount)"
        return "\(fields): \(kinds.joined(separator: ", "))"
    }

    private var orderText: String {
        switch summary.outputOrder {
        case .decoding where summary.hasGeneralizedP:
            "no reordering: the B pictures are generalised P (low-delay B), which only refer to the past"
        case .decoding: "no reordering"
        case .reordered: "reordered: display order differs from coding order"
        case .unknown: "unknown"
        }
    }

    private var groupText: String {
        guard let lengths = summary.groupLengths else { return "none: there is no keyframe" }
        let picture = summary.isFieldSequence ? "field" : "frame"
        let length =
            lengths.lowerBound == lengths.upperBound
            ? Quantity.count(lengths.lowerBound, picture)
            : "\(lengths.lowerBound) to \(Quantity.count(lengths.upperBound, picture))"
        let others = summary.keyframeCount - summary.idrCount
        let keyframes = "\(Quantity.count(summary.keyframeCount, "keyframe"))"
        return "\(length); \(keyframes)" + (others > 0 ? ", \(others) of them not IDR" : "")
    }

    private var unitText: String {
        let types = summary.unitTypes.map { "\($0.count) \($0.name)" }
        return "\(summary.nalUnitCount): \(types.joined(separator: ", "))"
    }

    private var prefixText: String {
        let lengths = summary.prefixes.map { "\($0.count) of \(Quantity.count($0.length, "byte"))" }
        return lengths.isEmpty ? "none" : lengths.joined(separator: ", ")
    }

    private var parameterSetText: String {
        guard !summary.parameterSetCounts.isEmpty else { return "none" }
        let counts = summary.parameterSetCounts.map { set in
            "\(set.count) \(set.kind) (\(set.distinct) distinct"
                + (set.changes > 0
                    ? ", changing \(set.changes == 1 ? "once" : "\(set.changes) times"))" : ")")
        }
        let changes = summary.parameterSetCounts.contains { $0.changes > 0 }
        return counts.joined(separator: ", ") + (changes ? "" : "; they never change")
    }

    private var messageText: String {
        summary.messages.map { message in
            "\(message.count) \(message.name)" + (message.text.map { ", \"\(Self.shortened($0))\"" } ?? "")
        }.joined(separator: "; ")
    }

    private static func shortened(_ text: String) -> String {
        text.count > 100 ? "\(text.prefix(100))…" : text
    }
}

extension Inspection.Container {
    fileprivate var text: String {
        let pictures =
            times.map { "pictures from \(Self.seconds($0.lowerBound)) to \(Self.seconds($0.upperBound)) s" }
            ?? "pictures without times"
        let joined = timing.recordingCount > 1 ? ", in \(timing.recordingCount) joined recordings" : ""
        let hidden = hiddenCount > 0 ? ", \(hiddenCount) of them hidden by an edit list" : ""
        let others = others.isEmpty ? "" : "; also \(others.joined(separator: ", "))"
        return "\(kind), \(pictures)\(joined)\(hidden)\(others)"
    }

    private static func seconds(_ time: Duration) -> String {
        Quantity.decimal(time.inSeconds, 3)
    }
}
