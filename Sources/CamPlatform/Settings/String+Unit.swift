extension String {
    /// Splits a quantity such as `500ms` into its number and its unit. The number is nil if the text begins with none.
    public func splitUnit() -> (number: Double?, unit: String) {
        let digits = prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return (Double(digits), String(dropFirst(digits.count)))
    }
}
