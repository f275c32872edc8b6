import CV4L2

/// A setting of a camera, such as its brightness (V4L2 specification, "User Controls").
public struct CameraControl: Sendable, Hashable {
    /// V4L2_CID_*.
    public let id: UInt32
    /// As `v4l2-ctl` writes it: `auto_exposure`.
    public let name: String
    /// The driver's name for it.
    public let title: String
    /// The values that the control takes.
    public let kind: Kind
    /// The driver's default; nil if the control has none.
    public let defaultValue: Value?
    /// The current value; nil if it cannot be read.
    public let value: Value?
    /// Why the control cannot be set now; nil if it can be set.
    public let obstacle: Obstacle?
    /// Whether the value has 64 bits instead of 32.
    let isWide: Bool

    /// The possible values.
    public enum Kind: Sendable, Hashable {
        case integer(ClosedRange<Int64>, step: UInt64)
        case boolean
        case menu([MenuEntry])
        /// Bits that may be set.
        case bitMask(UInt32)
        /// Acts when it is set to any value.
        case button
        /// Lengths in bytes.
        case text(ClosedRange<Int>)
        /// An array or a structure.
        case compound
    }

    /// One choice of a menu.
    public struct MenuEntry: Sendable, Hashable {
        /// The number the driver expects.
        public let index: Int64
        /// The text for users.
        public let title: String
    }

    /// A control's value.
    public enum Value: Sendable, Hashable {
        case number(Int64)
        case text(String)
    }

    /// Why a control cannot be set now.
    public enum Obstacle: Sendable, Hashable {
        case readOnly
        /// Has no effect in the current state of another control, such as automatic exposure.
        case inactive
        /// Cannot change while a program streams.
        case grabbed
    }

    /// Turns a driver's text into a name: letters and digits in lower case, joined by single underscores.
    static func name(of title: String) -> String {
        title.utf8.split { !isNamed($0) }.map { String(decoding: $0, as: UTF8.self).lowercased() }
            .joined(separator: "_")
    }

    private static func isNamed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// A value as users write it.
    public func text(of value: Value) -> String {
        switch (kind, value) {
        case (_, .text(let text)): text
        case (.boolean, .number(let number)): number == 0 ? "off" : "on"
        case (.menu(let entries), .number(let index)):
            entries.first { $0.index == index }.map { "\(index): \($0.title)" } ?? "\(index)"
        case (.bitMask, .number(let bits)): "0x" + String(UInt32(truncatingIfNeeded: bits), radix: 16)
        case (_, .number(let number)): "\(number)"
        }
    }

    /// The choices, for users: `0 to 255`.
    public var choices: String {
        switch kind {
        case .integer(let range, let step):
            "\(range.lowerBound) to \(range.upperBound)" + (step > 1 ? " in steps of \(step)" : "")
        case .boolean: "off or on"
        case .menu(let entries): entries.map { "\($0.index): \($0.title)" }.joined(separator: ", ")
        case .bitMask(let bits): "bits of 0x\(String(bits, radix: 16))"
        case .button: "1 to press it"
        case .text(let lengths): "text of \(lengths.lowerBound) to \(lengths.upperBound) bytes"
        case .compound: "an array; set it with v4l2-ctl"
        }
    }

    /// The choices that can be listed, as `--control` takes them; empty for a number or a text.
    public var listedChoices: [String] {
        switch kind {
        case .boolean: ["off", "on"]
        case .menu(let entries): entries.map(\.word)
        case .button: ["1"]
        case .integer, .bitMask, .text, .compound: []
        }
    }

    /// The value that the text stands for; nil if the control has no such value.
    func value(meaning text: String) -> Value? {
        switch kind {
        case .integer(let range, _):
            Self.number(text).flatMap { range.contains($0) ? .number($0) : nil }
        case .boolean: Self.truth(text).map { .number($0 ? 1 : 0) }
        case .menu(let entries): Self.choice(text, of: entries).map { .number($0.index) }
        case .bitMask(let bits):
            Self.number(text).flatMap { number in
                UInt32(exactly: number).flatMap { $0 & ~bits == 0 ? .number(number) : nil }
            }
        case .button: text == "1" ? .number(1) : nil
        case .text(let lengths): lengths.contains(text.utf8.count) ? .text(text) : nil
        case .compound: nil
        }
    }

    private static func number(_ text: String) -> Int64? {
        text.hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16) : Int64(text)
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "on", "yes", "true": true
        case "0", "off", "no", "false": false
        default: nil
        }
    }

    private static func isNamed(_ entry: MenuEntry, _ text: String) -> Bool {
        text == entry.title || text == "\(entry.index): \(entry.title)"
    }

    /// Finds an entry by its number, its title, its title as a name, or an unambiguous beginning of that
    /// name.
    private static func choice(_ text: String, of entries: [MenuEntry]) -> MenuEntry? {
        if let index = Int64(text) { return entries.first { $0.index == index } }
        let wanted = name(of: text)
        if let exact = entries.first(where: { isNamed($0, text) || name(of: $0.title) == wanted }) {
            return exact
        }
        let candidates = entries.filter { !wanted.isEmpty && name(of: $0.title).hasPrefix(wanted) }
        return candidates.count == 1 ? candidates.first : nil
    }
}

// MARK: Names

extension CameraControl {
    /// All names of the control: the driver's name, and the names of its number before and since Linux 5.16,
    /// which renamed the controls of USB cameras.
    var names: [String] { [name] + Self.commonNames(of: id).filter { $0 != name } }

    /// Returns the control with a name: the driver's name for it, or otherwise its name in another kernel
    /// version.
    package static func named(_ name: String, in controls: [CameraControl]) -> CameraControl? {
        let name = self.name(of: name)
        return controls.first { $0.name == name } ?? controls.first { $0.names.contains(name) }
    }

    /// The newest name first.
    private static func commonNames(of id: UInt32) -> [String] {
        switch id {
        case CV4L2_EXPOSURE_AUTO: ["auto_exposure", "exposure_auto"]
        case CV4L2_EXPOSURE_ABSOLUTE: ["exposure_time_absolute", "exposure_absolute"]
        case CV4L2_EXPOSURE_AUTO_PRIORITY: ["exposure_dynamic_framerate", "exposure_auto_priority"]
        case CV4L2_AUTO_WHITE_BALANCE:
            ["white_balance_automatic", "white_balance_temperature_auto", "white_balance_component_auto"]
        case CV4L2_RED_BALANCE: ["red_balance", "white_balance_red_component"]
        case CV4L2_BLUE_BALANCE: ["blue_balance", "white_balance_blue_component"]
        case CV4L2_FOCUS_AUTO: ["focus_automatic_continuous", "focus_auto"]
        case CV4L2_HUE_AUTO: ["hue_automatic", "hue_auto"]
        default: []
        }
    }

    /// Returns the control whose automatic mode makes this control inactive, and the setting that ends the
    /// mode; nil if none is known.
    func governor(in controls: [CameraControl]) -> (control: CameraControl, setting: String)? {
        let governor: (id: UInt32, values: [Int64])? =
            switch id {
            case CV4L2_EXPOSURE_ABSOLUTE, CV4L2_EXPOSURE:
                (CV4L2_EXPOSURE_AUTO, [V4L2_EXPOSURE_MANUAL, V4L2_EXPOSURE_SHUTTER_PRIORITY].map(Self.value))
            case CV4L2_IRIS_ABSOLUTE:
                (
                    CV4L2_EXPOSURE_AUTO,
                    [V4L2_EXPOSURE_MANUAL, V4L2_EXPOSURE_APERTURE_PRIORITY].map(Self.value)
                )
            case CV4L2_WHITE_BALANCE_TEMPERATURE, CV4L2_RED_BALANCE, CV4L2_BLUE_BALANCE:
                (CV4L2_AUTO_WHITE_BALANCE, [0])
            case CV4L2_FOCUS_ABSOLUTE: (CV4L2_FOCUS_AUTO, [0])
            case CV4L2_HUE: (CV4L2_HUE_AUTO, [0])
            case CV4L2_GAIN: (CV4L2_AUTOGAIN, [0])
            case CV4L2_BRIGHTNESS: (CV4L2_AUTOBRIGHTNESS, [0])
            case CV4L2_ISO_SENSITIVITY: (CV4L2_ISO_SENSITIVITY_AUTO, [0])
            default: nil
            }
        guard let governor, let control = controls.first(where: { $0.id == governor.id }),
            let word = governor.values.lazy.compactMap(control.word).first
        else { return nil }
        return (control, "\(control.name)=\(word)")
    }

    private static func value(_ mode: v4l2_exposure_auto_type) -> Int64 { Int64(mode.rawValue) }

    /// A value as `--control` takes it; nil if the control has no such value.
    private func word(for value: Int64) -> String? {
        switch kind {
        case .boolean: value == 0 ? "off" : "on"
        case .menu(let entries): entries.first { $0.index == value }?.word
        default: nil
        }
    }
}

extension CameraControl.MenuEntry {
    /// The entry as `--control` takes it.
    var word: String {
        let name = CameraControl.name(of: title)
        // A number is an index, whatever the titles are.
        return name.isEmpty || Int64(name) != nil ? "\(index)" : name
    }
}

// MARK: Requested values

/// A requested control value, as users write it: `brightness=128`.
public struct ControlSetting: Sendable, Hashable {
    /// The control's name.
    public var name: String
    /// The value, in any form that `CameraControl` understands.
    public var value: String

    /// Creates a setting for one control.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Reads `name=value,name=value`; nil for anything else.
    public static func list(_ text: String) -> [ControlSetting]? {
        var settings: [ControlSetting] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = part.firstIndex(of: "="), equals != part.startIndex else { return nil }
            settings.append(
                ControlSetting(
                    name: String(part[..<equals]), value: String(part[part.index(after: equals)...]))
            )
        }
        return settings
    }
}

/// A control that was set.
public struct ControlChange: Sendable, Hashable {
    /// The control as it was before.
    public let control: CameraControl
    /// The requested value.
    public let wanted: CameraControl.Value
    /// The driver's value now; nil if it cannot be read.
    public let granted: CameraControl.Value?
}
