extension H265 {
    /// The parameter sets in force, read, by their ids.
    public struct ParameterSetsByID: Equatable, Sendable {
        mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) {
        }
    }
}
