import CV4L2
import CamPictures
import CamPlatform

/// Reads and sets a camera's controls (V4L2 specification, "Extended Controls API").
struct CameraControls {
    let device: V4L2Device

    /// Lists are read up to a bound, in case a driver's list never ends.
    private static let mostControls = 1024
    private static let mostEntries: Int64 = 256
    private static let longestText: Int64 = 4096

    /// Every usable control, in the driver's order.
    func all() -> [CameraControl] {
        var controls: [CameraControl] = []
        var query = v4l2_query_ext_ctrl()
        for _ in 0..<Self.mostControls {
            let last = query.id
            query = v4l2_query_ext_ctrl()
            query.id = last | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            guard device.control(CV4L2_QUERY_EXT_CTRL, &query) >= 0, query.id > last else { break }
            if let control = control(query) { controls.append(control) }
        }
        return controls
    }

    /// Returns one active control; nil if the camera does not have it, or another control makes it inactive.
    /// A USB camera may be slow to report its value, so the value of an inactive control is not read.
    func activeControl(_ id: UInt32) -> CameraControl? {
        var query = v4l2_query_ext_ctrl()
        query.id = id
        guard device.control(CV4L2_QUERY_EXT_CTRL, &query) >= 0, query.id == id,
            query.flags & UInt32(V4L2_CTRL_FLAG_INACTIVE) == 0
        else { return nil }
        return control(query)
    }

    /// Sets controls, first those that others depend on (menus and switches). Sets all of them or none.
    func apply(_ settings: [ControlSetting]) throws(CaptureError) -> [ControlChange] {
        var missing: [CaptureError]?
        return try apply(settings, missing: &missing)
    }

    /// Sets controls in the same way.
    /// - Parameter missing: receives the settings of controls that the camera does not have; nil to throw the
    ///   first.
    func apply(
        _ settings: [ControlSetting], missing: inout [CaptureError]?
    ) throws(CaptureError) -> [ControlChange] {
        guard !settings.isEmpty else { return [] }
        let controls = all()
        var wishes: [Wish] = []
        for setting in settings {
            if let control = CameraControl.named(setting.name, in: controls) {
                wishes.append(try wish(setting, control))
            } else {
                let error = absence(of: setting, controls)
                if missing == nil { throw error }
                missing?.append(error)
            }
        }
        var changes: [ControlChange] = []
        for (control, value) in Self.ordered(wishes) {
            let result = set(control, to: value)
            guard result >= 0 else {
                restore(changes)
                throw refusal(control, value, controls, errno: -result)
            }
            changes.append(
                ControlChange(
                    control: control, wanted: value,
                    granted: self.value(control.id, control.kind, isWide: control.isWide)))
        }
        return changes
    }

    /// Sets controls, and skips those that the camera does not have or accept.
    func applyPossible(_ settings: [ControlSetting]) {
        guard !settings.isEmpty else { return }
        let controls = all()
        let wishes = settings.compactMap { setting in
            CameraControl.named(setting.name, in: controls).flatMap { try? wish(setting, $0) }
        }
        for (control, value) in Self.ordered(wishes) { _ = set(control, to: value) }
    }

    private typealias Wish = (control: CameraControl, value: CameraControl.Value)

    /// Menus and switches come first: others depend on them.
    private static func ordered(_ wishes: [Wish]) -> [Wish] {
        wishes.filter { $0.control.kind.decides } + wishes.filter { !$0.control.kind.decides }
    }

    /// Restores the previous values, the last change first. Values that the device no longer accepts are
    /// skipped.
    func restore(_ changes: [ControlChange]) {
        for change in changes.reversed() {
            if let value = change.control.value { _ = set(change.control, to: value) }
        }
    }

    private func absence(of setting: ControlSetting, _ controls: [CameraControl]) -> CaptureError {
        let nearest = controls.flatMap(\.names).nearest(to: setting.name)
        let suggestion = nearest.flatMap { CameraControl.named($0, in: controls)?.name }
        let hint =
            controls.isEmpty
            ? "it has no controls; leave out --control"
            : "it has no control '\(setting.name)'; " + (suggestion.map { "did you mean '\($0)'? " } ?? "")
                + "'camrec devices --controls' lists them"
        return device.error(.unsupported(hint))
    }

    private func wish(_ setting: ControlSetting, _ control: CameraControl) throws(CaptureError) -> Wish {
        guard control.obstacle != .readOnly else {
            throw device.error(.unsupported("\(control.name) is read-only; leave it out of --control"))
        }
        guard let value = control.value(meaning: setting.value) else {
            throw device.error(
                .unsupported("\(control.name) cannot be '\(setting.value)'; it takes \(control.choices)"))
        }
        return (control, value)
    }

    private func refusal(
        _ control: CameraControl, _ value: CameraControl.Value, _ controls: [CameraControl], errno: Int32
    ) -> CaptureError {
        let wish = "\(control.name) could not be set to \(control.text(of: value))"
        return switch errno {
        case EBUSY:
            device.error(
                .unsupported("\(wish): it cannot change while another program streams; close that program"))
        // Drivers disagree about the code for a control that is inactive.
        case ERANGE, EINVAL, EACCES, EPERM, EIO, EPIPE:
            if isInactive(control.id) {
                device.error(.unsupported("\(wish): \(inactivity(of: control, controls))"))
            } else if errno == EIO || errno == EPIPE {
                device.failure("VIDIOC_S_EXT_CTRLS (\(control.name))", -errno)
            } else {
                device.error(.unsupported("\(wish): the driver rejects it; it takes \(control.choices)"))
            }
        default: device.failure("VIDIOC_S_EXT_CTRLS (\(control.name))", -errno)
        }
    }

    /// Explains why a control is inactive, and how to change that.
    private func inactivity(of control: CameraControl, _ controls: [CameraControl]) -> String {
        guard let (governor, setting) = control.governor(in: controls) else {
            return "another control makes it inactive; turn off its automatic mode as well"
        }
        let mode = value(governor.id, governor.kind, isWide: governor.isWide).map(governor.text)
        return "it is inactive while \(governor.name) is '\(mode ?? "automatic")'; set \(setting) first"
    }

    /// Whether a control is inactive now: a control that was set a moment ago may have changed that.
    private func isInactive(_ id: UInt32) -> Bool {
        var query = v4l2_query_ext_ctrl()
        query.id = id
        return device.control(CV4L2_QUERY_EXT_CTRL, &query) >= 0
            && query.flags & UInt32(V4L2_CTRL_FLAG_INACTIVE) != 0
    }

    private func set(_ control: CameraControl, to value: CameraControl.Value) -> Int32 {
        var entry = v4l2_ext_control()
        entry.id = control.id
        switch value {
        case .number(let number):
            if control.isWide {
                entry.value64 = number
            } else {
                entry.value = Int32(truncatingIfNeeded: number)
            }
            return exchange(CV4L2_S_EXT_CTRLS, &entry)
        case .text(let text):
            var bytes = text.utf8.map { CChar(truncatingIfNeeded: $0) } + [0]
            return bytes.withUnsafeMutableBufferPointer { buffer in
                entry.size = UInt32(buffer.count)
                entry.string = buffer.baseAddress
                return exchange(CV4L2_S_EXT_CTRLS, &entry)
            }
        }
    }

    private func value(_ id: UInt32, _ kind: CameraControl.Kind, isWide: Bool) -> CameraControl.Value? {
        var entry = v4l2_ext_control()
        entry.id = id
        switch kind {
        case .button, .compound: return nil
        case .text(let lengths):
            var bytes = [CChar](repeating: 0, count: lengths.upperBound + 1)
            let result = bytes.withUnsafeMutableBufferPointer { buffer in
                entry.size = UInt32(buffer.count)
                entry.string = buffer.baseAddress
                return exchange(CV4L2_G_EXT_CTRLS, &entry)
            }
            guard result >= 0 else { return nil }
            return .text(
                String(
                    decoding: bytes.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self))
        default:
            guard exchange(CV4L2_G_EXT_CTRLS, &entry) >= 0 else { return nil }
            return .number(isWide ? entry.value64 : Int64(entry.value))
        }
    }

    private func exchange(_ request: UInt, _ entry: inout v4l2_ext_control) -> Int32 {
        withUnsafeMutablePointer(to: &entry) { pointer in
            var controls = v4l2_ext_controls()
            controls.which = UInt32(V4L2_CTRL_WHICH_CUR_VAL)
            controls.count = 1
            controls.controls = pointer
            return device.control(request, &controls)
        }
    }

    /// Returns nil for entries that are not usable controls: a heading, or a permanently disabled control.
    private func control(_ query: v4l2_query_ext_ctrl) -> CameraControl? {
        guard query.type != V4L2_CTRL_TYPE_CTRL_CLASS.rawValue,
            query.flags & UInt32(V4L2_CTRL_FLAG_DISABLED) == 0
        else { return nil }
        let kind = kind(of: query)
        let title = withUnsafeBytes(of: query.name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let isReadable = query.flags & UInt32(V4L2_CTRL_FLAG_WRITE_ONLY) == 0
        let isWide = query.type == V4L2_CTRL_TYPE_INTEGER64.rawValue
        return CameraControl(
            id: query.id, name: CameraControl.name(of: title), title: title, kind: kind,
            defaultValue: kind.hasDefault ? .number(query.default_value) : nil,
            value: isReadable ? value(query.id, kind, isWide: isWide) : nil,
            obstacle: Self.obstacle(query.flags), isWide: isWide)
    }

    private static func obstacle(_ flags: UInt32) -> CameraControl.Obstacle? {
        if flags & UInt32(V4L2_CTRL_FLAG_READ_ONLY) != 0 { return .readOnly }
        if flags & UInt32(V4L2_CTRL_FLAG_GRABBED) != 0 { return .grabbed }
        return flags & UInt32(V4L2_CTRL_FLAG_INACTIVE) != 0 ? .inactive : nil
    }

    private func kind(of query: v4l2_query_ext_ctrl) -> CameraControl.Kind {
        // Only text has a payload that is a single value.
        let hasPayload = query.flags & UInt32(V4L2_CTRL_FLAG_HAS_PAYLOAD) != 0
        let isText = query.type == V4L2_CTRL_TYPE_STRING.rawValue && query.nr_of_dims == 0
        guard !hasPayload || isText, query.minimum <= query.maximum else { return .compound }
        switch query.type {
        case V4L2_CTRL_TYPE_INTEGER.rawValue, V4L2_CTRL_TYPE_INTEGER64.rawValue:
            return .integer(query.minimum...query.maximum, step: query.step)
        case V4L2_CTRL_TYPE_BOOLEAN.rawValue: return .boolean
        case V4L2_CTRL_TYPE_MENU.rawValue: return .menu(entries(of: query) { Self.title(of: $0) })
        case V4L2_CTRL_TYPE_INTEGER_MENU.rawValue: return .menu(entries(of: query) { "\($0.value)" })
        case V4L2_CTRL_TYPE_BITMASK.rawValue: return .bitMask(UInt32(truncatingIfNeeded: query.maximum))
        case V4L2_CTRL_TYPE_BUTTON.rawValue: return .button
        case V4L2_CTRL_TYPE_STRING.rawValue where (0...Self.longestText).contains(query.maximum):
            return .text(Int(max(0, query.minimum))...Int(query.maximum))
        default: return .compound
        }
    }

    /// A menu may have holes, which QUERYMENU refuses.
    private func entries(
        of query: v4l2_query_ext_ctrl, title: (v4l2_querymenu) -> String
    ) -> [CameraControl.MenuEntry] {
        let last = min(query.maximum, max(0, query.minimum) &+ Self.mostEntries)
        guard query.minimum >= 0, query.minimum <= last else { return [] }
        return (query.minimum...last).compactMap { index in
            var entry = v4l2_querymenu()
            entry.id = query.id
            entry.index = UInt32(truncatingIfNeeded: index)
            guard device.control(CV4L2_QUERYMENU, &entry) >= 0 else { return nil }
            return CameraControl.MenuEntry(index: index, title: title(entry))
        }
    }

    private static func title(of entry: v4l2_querymenu) -> String {
        withUnsafeBytes(of: entry.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension CameraControl.Kind {
    /// Whether other controls may depend on this kind of control.
    fileprivate var decides: Bool {
        switch self {
        case .menu, .boolean: true
        default: false
        }
    }

    /// Whether the value is a single number with a default.
    fileprivate var hasDefault: Bool {
        switch self {
        case .integer, .boolean, .menu, .bitMask: true
        case .button, .text, .compound: false
        }
    }
}

// MARK: The exposure

extension CameraControls {
    /// The exposure by the driver's controls; nil if it has none.
    ///
    /// A control that an automatic mode makes inactive still has its last set value, which says nothing about
    /// the picture.
    var exposure: Exposure? {
        // Units of 100 µs, and thousandths of an ISO speed (V4L2 specification, "Camera Control Reference").
        let time = number(CV4L2_EXPOSURE_ABSOLUTE).map { Duration.microseconds($0 * 100) }
        return Exposure(time: time, sensitivity: number(CV4L2_ISO_SENSITIVITY).map { Int($0 / 1000) })
    }

    /// Returns the positive value of an active control, or of its current menu entry.
    private func number(_ id: UInt32) -> Int64? {
        guard let control = activeControl(id), case .number(let value)? = control.value else { return nil }
        var number = value
        if case .menu(let entries) = control.kind {
            guard let entry = entries.first(where: { $0.index == value }), let title = Int64(entry.title)
            else {
                return nil
            }
            number = title
        }
        return (1...Int64(Int32.max)).contains(number) ? number : nil
    }
}
