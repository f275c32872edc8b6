import CV4L2

extension CameraControl {
    /// All names of the control: the driver's, and those of its number before and since Linux 5.16, which renamed the
    /// controls of USB cameras.
    var names: [String] { [name] + Self.commonNames(of: id).filter { $0 != name } }

    /// Returns the control with a name: the one that the driver calls so, or else the one that another kernel calls so.
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

    /// Returns the control whose automatic mode makes this one inactive, and the setting that ends the mode; nil if none
    /// is known.
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
