/// Every syntax element read from one NAL unit, in stream order, starting with its header.
///
/// Parameter sets are read completely, slices up to the start of their header, and supplemental enhancement
/// information as far as its messages are supported. Trailing bits and slice data are left out.
public struct SyntaxStructure: Equatable, Sendable {
    /// The coding standard that the unit was read as.
    public let codec: Codec
    /// The elements, up to the error if there is one. If an element's value is not allowed, it is the last.
    public let elements: [SyntaxElement]
    /// Why reading ended early; `nil` if it did not.
    public let error: SyntaxError?

    /// Reads any NAL unit, given without start code.
    ///
    /// - Parameter parameterSets: those in force, on which the syntax of slices, picture parameter sets and
    ///   supplemental enhancement information depends. What depends on a missing set is not read.
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

    /// The value of the first element of that name; `nil` if there is none.
    public subscript(name: String) -> Int? { elements.first { $0.name == name }?.value }
}

/// One syntax element of a NAL unit, as read.
public struct SyntaxElement: Equatable, Sendable {
    /// The element's name in the standard, such as `log2_max_frame_num_minus4`, without subscripts.
    public let name: String
    /// The indices that the standard's syntax table has after the name, outermost first; mostly none.
    public let subscripts: [Int]
    /// The value: flags are 0 or 1, signed elements may be negative.
    public let value: Int
    /// Bits that the element occupies, without emulation prevention bytes.
    public let bitCount: Int
    /// Where the element begins: bits from the NAL unit's first byte, emulation prevention bytes included.
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
