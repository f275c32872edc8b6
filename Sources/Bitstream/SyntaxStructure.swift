/// Every syntax element read from one NAL unit, in stream order, starting with its header.
///
/// The structure covers whole parameter sets, the start of slice headers, and the supported messages of
/// supplemental enhancement information; not trailing bits and slice data.
public struct SyntaxStructure: Equatable, Sendable {
    /// The coding standard by which the unit was read.
    public let codec: Codec
    /// The elements, up to the error, if any. An element with a forbidden value is the last element.
    public let elements: [SyntaxElement]
    /// Why reading ended early; `nil` if it did not.
    public let error: SyntaxError?

    /// Reads any NAL unit, given without start code.
    ///
    /// - Parameter parameterSets: the sets in force, on which the syntax of slices, picture parameter sets
    ///   and supplemental enhancement information depends. Elements that depend on a missing set are not
    ///   read.
    ///
    /// Precondition: the parameter sets are of the same standard.
    public init(nalUnit: RawSpan, codec: Codec, parameterSets: StreamParameterSets) {
        precondition(parameterSets.codec == codec, "parameter sets of another standard")
        let recorder = SyntaxRecorder()
        self.codec = codec
        error = nalUnit.withUnsafeBytes { bytes in
            var reader = RBSPReader(bytes, headerLength: 0, recorder: recorder)
            do throws(SyntaxError) {
                switch codec {
                case .h264: try H264.readNALUnit(&reader, parameterSets)
                case .hevc: try H265.readNALUnit(&reader, parameterSets)
                }
                return nil
            } catch {
                return error
            }
        }
        elements = recorder.elements
    }

    /// The value of the first element of that name; `nil` without such an element.
    public subscript(name: String) -> Int? { elements.first { $0.name == name }?.value }
}

/// One syntax element of a NAL unit, as read.
public struct SyntaxElement: Equatable, Sendable {
    /// The element's name in the standard, such as `log2_max_frame_num_minus4`, without subscripts.
    public let name: String
    /// The indices after the name in the standard's syntax table, outermost first; usually none.
    public let subscripts: [Int]
    /// The value: flags are 0 or 1, signed elements may be negative.
    public let value: Int
    /// The element's size in bits, without emulation prevention bytes.
    public let bitCount: Int
    /// The element's position in bits from the NAL unit's first byte, emulation prevention bytes included.
    public let bitOffset: Int
}

extension SyntaxElement: CustomStringConvertible {
    /// The name with its subscripts, as in `offset_for_ref_frame[2]`.
    public var nameWithSubscripts: String { name + subscripts.map { "[\($0)]" }.joined() }

    /// Name, subscripts and value, as in `offset_for_ref_frame[2] = -4`.
    public var description: String { "\(nameWithSubscripts) = \(value)" }
}

/// Collects the syntax elements that an `RBSPReader` reads, in stream order.
///
/// A class, so that copies of a reader share one recorder. Not thread-safe.
final class SyntaxRecorder {
    /// The most bytes recorded of a message's payload.
    static let maximumRun = 4096

    private(set) var elements: [SyntaxElement] = []

    func record(_ name: String, _ subscripts: [Int?], value: Int, bitCount: Int, bitOffset: Int) {
        elements.append(
            SyntaxElement(
                name: name, subscripts: subscripts.compactMap { $0 }, value: value, bitCount: bitCount,
                bitOffset: bitOffset))
    }
}
