extension Int {
    /// The sum of two numbers that are not negative, or the largest there is: file systems and files say what they like.
    public func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    /// The product of two numbers that are not negative, or the largest there is.
    public func multipliedSaturated(by other: Int) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }
}
