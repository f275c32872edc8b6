/// A wish for a control, as people write it: `brightness=128`.
public struct ControlSetting: Sendable, Hashable {
    /// The control's name.
    public var name: String
    /// The value, in any form that `CameraControl` understands.
    public var value: String

    /// A wish for one control.
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
    /// What was asked for.
    public let wanted: CameraControl.Value
    /// What the driver says it has now; nil where it cannot be read.
    public let granted: CameraControl.Value?
}
