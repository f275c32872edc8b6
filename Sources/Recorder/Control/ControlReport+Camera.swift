import Capture
import ControlProtocol

extension ControlReport {
    /// - Parameter value: its value now, if it is another than the control says.
    init(_ control: CameraControl, value: CameraControl.Value? = nil) {
        self.init(name: control.name, title: control.title, kind: Kind(control.kind))
        switch control.kind {
        case .integer(let range, let step):
            (minimum, maximum) = (Int(range.lowerBound), Int(range.upperBound))
            self.step = Int(clamping: step)
        case .text(let lengths): (minimum, maximum) = (lengths.lowerBound, lengths.upperBound)
        case .bitMask(let bits): (minimum, maximum) = (0, Int(bits))
        case .menu(let entries):
            self.entries = entries.map { Entry(value: Int($0.index), title: $0.title) }
        case .boolean, .button, .compound: break
        }
        switch value ?? control.value {
        case .number(let number):
            // The driver's 32 bits have no sign.
            if case .bitMask = control.kind {
                self.value = Int(UInt32(truncatingIfNeeded: number))
            } else {
                self.value = Int(number)
            }
        case .text(let text): self.text = text
        case nil: break
        }
        if case .number(let number) = control.defaultValue { defaultValue = Int(number) }
        obstacle = control.obstacle.map(Obstacle.init)
    }
}

extension ControlReport.Kind {
    fileprivate init(_ kind: CameraControl.Kind) {
        self =
            switch kind {
            case .integer: .number
            case .boolean: .switch
            case .menu: .menu
            case .bitMask: .bits
            case .button: .button
            case .text: .text
            case .compound: .other
            }
    }
}

extension ControlReport.Obstacle {
    fileprivate init(_ obstacle: CameraControl.Obstacle) {
        self =
            switch obstacle {
            case .readOnly: .readOnly
            case .inactive: .inactive
            case .grabbed: .inUse
            }
    }
}
