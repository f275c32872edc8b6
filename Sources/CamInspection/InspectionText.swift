import CamPlatform
import Bitstream

extension Inspection {
    /// The summary as text, without a trailing newline.
    package var text: String {
        var lines = ["\(name): \(headline)"]
        lines += facts.map { "  \(Self.padded($0.label, to: 16))\($0.value)" }
        let problems = problemLines
        if problems.isEmpty {
            lines.append("  \(Self.padded("problems", to: 16))none")
        } else {
            lines.append("  problems")
            lines += problems.map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// Every syntax element of each distinct parameter set, without a trailing newline.
    package var headerText: String {
        summary.parameterSets.map(\.text).joined(separator: "\n\n")
    }

    fileprivate static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension ParameterSetRecord {
    /// `SPS 0`
    var title: String { kind + (id.map { " \($0)" } ?? "") }

    /// `27 bytes at offset 0, 7 times`
    var place: String {
        "\(Quantity.count(byteCount, "byte")) at offset \(offset)" + (count > 1 ? ", \(count) times" : "")
    }

    fileprivate var text: String {
        var lines = ["\(title) (\(place))"]
        lines += structure.elements.map { element in
            let name = Inspection.padded(element.nameWithSubscripts, to: 48)
            guard let meaning = element.meaning(in: structure) else { return "  \(name)\(element.value)" }
            return "  \(name)\(Inspection.padded("\(element.value)", to: 8))\(meaning)"
        }
        if let error = structure.error { lines.append("  \(error)") }
        return lines.joined(separator: "\n")
    }
}

extension NALUnitRecord {
    /// The columns of `line`.
    package static let lineHeading = "    offset  start      size  type"

    /// One line: offset, start code, size, type with its number, `nal_ref_idc` or layer and temporal id,
    /// slice type, numbers of the picture, and problems.
    package var line: String {
        var parts: [String] = []
        if let header {
            parts.append("\(header.nal_unit_type) \(header.shortName)")
            switch header {
            case .h264(let header): parts.append("ref_idc \(header.nal_ref_idc)")
            case .hevc(let header):
                parts.append("layer \(header.nuh_layer_id) temporal \(header.nuh_temporal_id_plus1 - 1)")
            }
        }
        if let slice {
            if let type = slice.type { parts.append(type) }
            if let number = slice.frame_num { parts.append("frame_num \(number)") }
            if let low = slice.pic_order_cnt_lsb { parts.append("poc_lsb \(low)") }
        }
        parts += problems.map { "! \($0)" }
        return "\(Self.column(offset, 10))  \(Self.column(prefixLength, 5))  \(Self.column(byteCount, 8))  "
            + parts.joined(separator: ", ") + (beginsAccessUnit ? "  <" : "")
    }

    private static func column(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: " ", count: max(0, width - digits.count)) + digits
    }
}
