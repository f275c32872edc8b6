import Capture
import CamControlProtocol

extension ControlReport {
    /// Creates the report of a control.
    /// - Parameter value: its current value; nil for the one in `control`.
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
        let current = value ?? control.value
        self.value = current.flatMap { Self.number($0, of: control.kind) }
        if case .text(let text)? = current { self.text = text }
        defaultValue = control.defaultValue.flatMap { Self.number($0, of: control.kind) }
        obstacle = control.obstacle.map(Obstacle.init)
    }

    /// Bit masks are unsigned, but the driver's integers are not.
    private static func number(_ value: CameraControl.Value, of kind: CameraControl.Kind) -> Int? {
        guard case .number(let number) = value else { return nil }
        if case .bitMask = kind { return Int(UInt32(truncatingIfNeeded: number)) }
        return Int(number)
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
