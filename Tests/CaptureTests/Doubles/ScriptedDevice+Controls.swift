import CV4L2

@testable import Capture

extension ScriptedDevice {
    /// A control of the camera.
    struct Control {
        var id: UInt32
        var title: String
        var type = V4L2_CTRL_TYPE_INTEGER
        var range: ClosedRange<Int64> = 0...255
        var defaultValue: Int64 = 0
        var flags: UInt32 = 0
        var dimensions: UInt32 = 0
        /// Holes are nil.
        var menu: [String?] = []
        var value: Int64 = 0
        var text = ""
        /// The errno with which it refuses to be set.
        var refusal: Int32?
        /// The value that it sets instead of a requested one.
        var adjust: (Int64) -> Int64 = { $0 }
    }

    func queryControl(_ answer: UnsafeMutablePointer<v4l2_query_ext_ctrl>) -> Int32 {
        let next = answer.pointee.id & UInt32(V4L2_CTRL_FLAG_NEXT_CTRL) != 0
        let id = answer.pointee.id & ~UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
        let found = listsAreEndless ? controls.last : controls.first { next ? $0.id > id : $0.id == id }
        guard let control = found else { return -EINVAL }
        answer.pointee.id = control.id
        answer.pointee.type = control.type.rawValue
        withUnsafeMutableBytes(of: &answer.pointee.name) { $0.copyBytes(from: control.title.utf8.prefix(31)) }
        answer.pointee.minimum = control.range.lowerBound
        answer.pointee.maximum = control.range.upperBound
        answer.pointee.step = 1
        answer.pointee.default_value = control.defaultValue
        answer.pointee.flags = control.flags
        answer.pointee.nr_of_dims = control.dimensions
        return 0
    }

    func queryMenu(_ answer: UnsafeMutablePointer<v4l2_querymenu>) -> Int32 {
        guard let menu = controls.first(where: { $0.id == answer.pointee.id })?.menu,
            let title = menu.indices.contains(Int(answer.pointee.index))
                ? menu[Int(answer.pointee.index)] : nil
        else { return -EINVAL }
        withUnsafeMutableBytes(of: &answer.pointee.name) { $0.copyBytes(from: title.utf8.prefix(31)) }
        return 0
    }

    func readControl(_ list: UnsafeMutablePointer<v4l2_ext_controls>) -> Int32 {
        guard let (entry, index) = control(list) else { return -EINVAL }
        controlsRead.append(controls[index].title)
        switch controls[index].type {
        case V4L2_CTRL_TYPE_STRING:
            let bytes = Array(controls[index].text.utf8.map { CChar(truncatingIfNeeded: $0) } + [0])
            guard Int(entry.pointee.size) >= bytes.count else { return -ENOSPC }
            entry.pointee.string.update(from: bytes, count: bytes.count)
        case V4L2_CTRL_TYPE_INTEGER64: entry.pointee.value64 = controls[index].value
        default: entry.pointee.value = Int32(truncatingIfNeeded: controls[index].value)
        }
        return 0
    }

    func writeControl(_ list: UnsafeMutablePointer<v4l2_ext_controls>) -> Int32 {
        guard let (entry, index) = control(list) else { return -EINVAL }
        if let refusal = controls[index].refusal { return -refusal }
        switch controls[index].type {
        case V4L2_CTRL_TYPE_STRING: controls[index].text = String(cString: entry.pointee.string)
        case V4L2_CTRL_TYPE_INTEGER64: controls[index].value = controls[index].adjust(entry.pointee.value64)
        default: controls[index].value = controls[index].adjust(Int64(entry.pointee.value))
        }
        controlsSet.append(controls[index].title)
        return 0
    }

    private func control(
        _ list: UnsafeMutablePointer<v4l2_ext_controls>
    ) -> (UnsafeMutablePointer<v4l2_ext_control>, Int)? {
        guard list.pointee.count == 1, let entry = list.pointee.controls,
            let index = controls.firstIndex(where: { $0.id == entry.pointee.id })
        else { return nil }
        return (entry, index)
    }
}
