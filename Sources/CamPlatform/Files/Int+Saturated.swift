extension Int {
    /// The sum of two numbers that are not negative, or the largest Int: file systems and files may report anything.
    public func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    /// The product of two numbers that are not negative, or the largest Int.
    public func multipliedSaturated(by other: Int) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }
}
