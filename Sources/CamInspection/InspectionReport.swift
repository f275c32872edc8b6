import Bitstream
import CamPlatform

/// An inspection for programs, as one JSON object without the lists of units and frames, which may be long.
package struct InspectionReport: Encodable, Sendable {
    private let inspection: Inspection
    private let hasHeaders: Bool

    /// - Parameter hasHeaders: whether the report includes the elements of the parameter sets.
    package init(_ inspection: Inspection, hasHeaders: Bool) {
        self.inspection = inspection
        self.hasHeaders = hasHeaders
    }

    private enum Key: String, CodingKey {
        case file, container, framing, codec, profile, level, tier, width, height, codedWidth, codedHeight,
            sampleAspectRatio
        case captureTimes, frameRate, frameRateNumerator, frameRateDenominator, chromaFormat, bitDepth,
            chromaBitDepth
        case interlaced, color, duration, bitRate, peakBitRate
        case bytes, nalUnits, unitTypes, startCodes, lengths, accessUnits, secondFields, frameCount, idrs,
            keyframes
        case frameTypes, reordering, generalizedP, gop, parameterSets, sei, problems, omittedProblems
        case failure, headers
    }

    /// Absent values are null, so the object always has all keys.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try encodeFormat(&values)
        try encodeCounts(&values)
        let summary = inspection.summary
        try values.encode(
            summary.problems.map {
                Problem(offset: $0.offset, count: $0.count, message: $0.message)
            }, forKey: .problems)
        try values.encode(summary.omittedProblemCount, forKey: .omittedProblems)
        try values.encode(inspection.failure, forKey: .failure)
        if hasHeaders { try values.encode(summary.parameterSets.map(Header.init), forKey: .headers) }
    }

    private func encodeFormat(_ values: inout KeyedEncodingContainer<Key>) throws {
        let summary = inspection.summary
        let format = summary.format
        try values.encode(inspection.name, forKey: .file)
        try values.encode(
            inspection.container.map {
                Container($0, variation: inspection.rateVariation, longestGap: inspection.longestGap)
            },
            forKey: .container)
        try values.encode(inspection.framing == .annexB ? "annexb" : "avcc", forKey: .framing)
        try values.encode(summary.codec.rawValue, forKey: .codec)
        try values.encode(format?.profile, forKey: .profile)
        try values.encode(format?.level, forKey: .level)
        try values.encode(format?.tier, forKey: .tier)
        try values.encode(format?.width, forKey: .width)
        try values.encode(format?.height, forKey: .height)
        try values.encode(format?.codedWidth, forKey: .codedWidth)
        try values.encode(format?.codedHeight, forKey: .codedHeight)
        try values.encode(format?.sampleAspectRatio, forKey: .sampleAspectRatio)
        try values.encode(inspection.framesPerSecond, forKey: .frameRate)
        try values.encode(format?.frameRate?.numerator, forKey: .frameRateNumerator)
        try values.encode(format?.frameRate?.denominator, forKey: .frameRateDenominator)
        try values.encode(format?.chromaFormat, forKey: .chromaFormat)
        try values.encode(format?.lumaBitDepth, forKey: .bitDepth)
        try values.encode(format?.chromaBitDepth, forKey: .chromaBitDepth)
        try values.encode(format?.isInterlaced, forKey: .interlaced)
        try values.encode(
            format.map {
                Color(
                    range: $0.isFullRange ? "full" : "limited",
                    matrix: summary.meaning(of: "matrix_coefficients")
                        ?? summary.meaning(of: "matrix_coeffs"),
                    primaries: summary.meaning(of: "colour_primaries"),
                    transfer: summary.meaning(of: "transfer_characteristics"),
                    alternativeTransfer: summary.alternativeTransfer)
            }, forKey: .color)
        try values.encode(inspection.duration, forKey: .duration)
        try values.encode(inspection.averageBitRate, forKey: .bitRate)
        try values.encode(inspection.peakBitRate, forKey: .peakBitRate)
    }

    private func encodeCounts(_ values: inout KeyedEncodingContainer<Key>) throws {
        let summary = inspection.summary
        try values.encode(summary.byteCount, forKey: .bytes)
        try values.encode(summary.nalUnitCount, forKey: .nalUnits)
        try values.encode(
            summary.unitTypes.map { UnitType(type: $0.type, name: $0.name, count: $0.count) },
            forKey: .unitTypes)
        try values.encode(
            Dictionary(uniqueKeysWithValues: summary.prefixes.map { ("\($0.length)", $0.count) }),
            forKey: inspection.framing == .annexB ? .startCodes : .lengths)
        try values.encode(summary.accessUnitCount, forKey: .accessUnits)
        try values.encode(summary.secondFieldCount, forKey: .secondFields)
        try values.encode(summary.frameCount, forKey: .frameCount)
        try values.encode(summary.idrCount, forKey: .idrs)
        try values.encode(summary.keyframeCount, forKey: .keyframes)
        try values.encode(
            Dictionary(uniqueKeysWithValues: summary.kindCounts.map { ("\($0.key)", $0.value) }),
            forKey: .frameTypes)
        try values.encode(
            summary.outputOrder == .unknown ? nil : summary.outputOrder == .reordered, forKey: .reordering)
        try values.encode(summary.hasGeneralizedP, forKey: .generalizedP)
        try values.encode(
            summary.groupLengths.map { GroupLength(minimum: $0.lowerBound, maximum: $0.upperBound) },
            forKey: .gop)
        try values.encode(
            summary.parameterSetCounts.map {
                SetCount(kind: $0.kind, count: $0.count, distinct: $0.distinct, changes: $0.changes)
            }, forKey: .parameterSets)
        try values.encode(
            summary.messages.map {
                Message(payloadType: $0.payloadType, name: $0.name, count: $0.count, text: $0.text)
            }, forKey: .sei)
        try values.encode(summary.captureTimes.map(CaptureTimeRange.init), forKey: .captureTimes)
    }
}

extension InspectionReport {
    private struct Container: Encodable {
        let name: String
        /// Seconds.
        let firstTime, lastTime: Double?
        /// Frames a second; nil if the rate is constant.
        let slowestRate, fastestRate: Double?
        /// Seconds between two pictures at an otherwise constant rate; nil if no pictures are missing.
        let longestGap: Double?
        let hiddenPictures: Int
        let others: [String]
        let sound: Sound?
        /// ISO 8601, in UTC.
        let startTime: String?
        let camera, program: String?

        init(_ container: Inspection.Container, variation: ClosedRange<Double>?, longestGap: Double?) {
            self.longestGap = longestGap
            (slowestRate, fastestRate) = (variation?.lowerBound, variation?.upperBound)
            (hiddenPictures, others) = (container.hiddenCount, container.others)
            name = "\(container.kind)"
            (startTime, camera, program) = (container.start?.iso8601, container.camera, container.program)
            firstTime = container.times.map { $0.lowerBound.inSeconds }
            lastTime = container.times.map { $0.upperBound.inSeconds }
            sound = container.sound.map(Sound.init)
        }
    }

    private struct CaptureTimeRange: Encodable {
        /// ISO 8601, in UTC.
        let first, last: String
        /// The number of pictures that state a time.
        let count: Int

        init(_ times: CaptureTimes) {
            (first, last, count) = (times.first.iso8601, times.last.iso8601, times.count)
        }
    }

    private struct Sound: Encodable {
        let codec: String
        let rate, channels, packets, bytes: Int
        /// Bits a second.
        let bitRate: Double?
        /// Seconds.
        let firstTime, endTime: Double?
        let missing: Double

        init(_ sound: InspectedSound) {
            (codec, rate, channels) = (sound.codec, sound.rate, sound.channels)
            (packets, bytes, bitRate) = (sound.packetCount, sound.byteCount, sound.bitRate)
            firstTime = sound.times.map { $0.lowerBound.inSeconds }
            endTime = sound.times.map { $0.upperBound.inSeconds }
            missing = sound.gaps.inSeconds
        }
    }

    private struct Color: Encodable {
        let range: String
        let matrix, primaries, transfer, alternativeTransfer: String?
    }

    private struct UnitType: Encodable {
        let type: Int
        let name: String
        let count: Int
    }

    private struct GroupLength: Encodable {
        let minimum, maximum: Int
    }

    private struct SetCount: Encodable {
        let kind: String
        let count, distinct, changes: Int
    }

    private struct Message: Encodable {
        let payloadType: Int
        let name: String
        let count: Int
        let text: String?
    }

    private struct Problem: Encodable {
        let offset, count: Int
        let message: String
    }

    private struct Header: Encodable {
        let kind: String
        let id: Int?
        let offset, bytes, count: Int
        let elements: [Element]
        let error: String?

        struct Element: Encodable {
            let name: String
            let value: Int
            let meaning: String?
        }

        init(_ set: ParameterSetRecord) {
            kind = set.kind
            id = set.id
            offset = set.offset
            bytes = set.byteCount
            count = set.count
            elements = set.structure.elements.map {
                Element(
                    name: $0.nameWithSubscripts, value: $0.value, meaning: $0.meaning(in: set.structure))
            }
            error = set.structure.error?.description
        }
    }
}

extension NALUnitRecord {
    /// One JSON object on one line. It needs no escaping, because no text comes from the stream.
    package var json: String {
        var fields = ["\"offset\": \(offset)", "\"startCode\": \(prefixLength)", "\"size\": \(byteCount)"]
        if let header {
            fields += ["\"type\": \(header.nal_unit_type)", "\"name\": \"\(header.shortName)\""]
            switch header {
            case .h264(let header): fields.append("\"nal_ref_idc\": \(header.nal_ref_idc)")
            case .hevc(let header):
                fields.append("\"nuh_layer_id\": \(header.nuh_layer_id)")
                fields.append("\"nuh_temporal_id_plus1\": \(header.nuh_temporal_id_plus1)")
            }
        }
        if let slice {
            fields.append("\"sliceType\": \(slice.type.map { "\"\($0)\"" } ?? "null")")
            if let number = slice.frame_num { fields.append("\"frame_num\": \(number)") }
            if let low = slice.pic_order_cnt_lsb { fields.append("\"pic_order_cnt_lsb\": \(low)") }
        }
        fields.append("\"beginsAccessUnit\": \(beginsAccessUnit)")
        if let structure { fields.append("\"elements\": [\(Self.json(structure.elements))]") }
        return "{\(fields.joined(separator: ", "))}"
    }

    /// Pairs of name and value in an array: some units repeat names, and the order matters.
    private static func json(_ elements: [SyntaxElement]) -> String {
        elements.map { "[\"\($0.nameWithSubscripts)\", \($0.value)]" }.joined(separator: ", ")
    }
}

extension PictureRecord {
    /// One JSON object on one line.
    package var json: String {
        "{\"type\": \"\(kind)\", \"offset\": \(offset), \"size\": \(byteCount), \"idr\": \(isIDR), "
            + "\"keyframe\": \(isKeyframe)\(isSecondField ? ", \"secondField\": true" : "")}"
    }
}
