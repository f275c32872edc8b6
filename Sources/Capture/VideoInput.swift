import CV4L2

/// A connector of a grabber, such as its second HDMI or its S-Video input.
public struct VideoInput: Sendable, Hashable {
    /// The driver's number for it.
    public let index: Int
    /// The driver's name for it.
    public let name: String
}

/// An analogue television standard, such as PAL-BG.
public struct VideoStandard: Sendable, Hashable {
    /// The standards that it includes, as bits (`v4l2_std_id`).
    let bits: UInt64
    /// The driver's name for it.
    public let name: String
}

/// Selects what a grabber captures.
struct VideoInputs {
    let device: V4L2Device

    /// A bound, in case a list never ends.
    private static let most: UInt32 = 64

    /// In the driver's order.
    var inputs: [VideoInput] {
        var inputs: [VideoInput] = []
        for index in 0..<Self.most {
            var entry = v4l2_input()
            entry.index = index
            guard device.control(CV4L2_ENUMINPUT, &entry) >= 0 else { break }
            inputs.append(VideoInput(index: Int(index), name: Self.text(entry.name)))
        }
        return inputs
    }

    /// The number of the current one; nil if there are none.
    var currentInput: Int? {
        var index: Int32 = 0
        return device.control(CV4L2_G_INPUT, &index) >= 0 ? Int(index) : nil
    }

    /// Those of the current input; empty for cameras and digital signals.
    var standards: [VideoStandard] {
        var standards: [VideoStandard] = []
        for index in 0..<Self.most {
            var entry = v4l2_standard()
            entry.index = index
            guard device.control(CV4L2_ENUMSTD, &entry) >= 0 else { break }
            standards.append(VideoStandard(bits: entry.id, name: Self.text(entry.name)))
        }
        return standards
    }

    /// The current one; nil for cameras and digital signals. A driver may have set a subset of one that it
    /// lists.
    var currentStandard: VideoStandard? {
        var bits: UInt64 = 0
        guard device.control(CV4L2_G_STD, &bits) >= 0, bits != 0 else { return nil }
        return standards.first { $0.bits == bits } ?? standards.first { $0.bits & bits == bits }
    }

    /// Sets the input and then the standard, if they are requested.
    func select(_ request: CaptureRequest) throws(CaptureError) {
        if let input = request.input { try selectInput(input) }
        if let standard = request.standard { try selectStandard(standard) }
    }

    private func selectInput(_ wanted: String) throws(CaptureError) {
        let inputs = inputs
        let found =
            inputs.first { "\($0.index)" == wanted }
            ?? inputs.first { $0.name.lowercased() == wanted.lowercased() }
        guard let found else {
            let names = inputs.map { "\($0.index) (\($0.name))" }.joined(separator: ", ")
            throw device.error(
                .unsupported(
                    inputs.isEmpty
                        ? "it has no inputs to choose from; leave out --input"
                        : "it has no input '\(wanted)', only \(names)"))
        }
        var index = Int32(found.index)
        let result = device.control(CV4L2_S_INPUT, &index)
        guard result >= 0 else { throw device.failure("VIDIOC_S_INPUT", result) }
    }

    private func selectStandard(_ wanted: String) throws(CaptureError) {
        let standards = standards
        guard let found = standards.first(where: { $0.name.lowercased() == wanted.lowercased() }) else {
            let names = standards.map(\.name).joined(separator: ", ")
            throw device.error(
                .unsupported(
                    standards.isEmpty
                        ? "its input has no television standards; leave out --standard"
                        : "it has no standard '\(wanted)', only \(names)"))
        }
        var bits = found.bits
        let result = device.control(CV4L2_S_STD, &bits)
        guard result >= 0 else { throw device.failure("VIDIOC_S_STD", result) }
    }

    private static func text<Tuple>(_ field: Tuple) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
