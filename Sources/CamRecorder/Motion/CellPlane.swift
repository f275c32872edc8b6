/// Memory for a number for each cell of a small picture.
struct CellPlane<Value: BitwiseCopyable>: ~Copyable {
    /// `count` values, which live as long as the plane.
    let values: UnsafeMutablePointer<Value>
    let count: Int

    init(_ count: Int, _ value: Value) {
        values = .allocate(capacity: count)
        values.initialize(repeating: value, count: count)
        self.count = count
    }

    deinit { values.deallocate() }

    func fill(_ value: Value) { values.update(repeating: value, count: count) }
}
