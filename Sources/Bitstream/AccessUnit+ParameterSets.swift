extension AccessUnit {
    /// The NAL unit of the first sequence parameter set, without start code; `nil` if there is none. Allocates.
    public var sequenceParameterSet: [UInt8]? {
        guard let set = units.first(where: { $0.header.parameterSetKind == .sequence }) else { return nil }
        return withUnsafeBytes { Array($0[set.bytes]) }
    }
}
