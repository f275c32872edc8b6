/// A requested control value, as people write it: `brightness=128`.
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
