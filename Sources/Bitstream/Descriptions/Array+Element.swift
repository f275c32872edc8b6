extension Array {
    /// The element at an index that may be out of range.
    func element(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
