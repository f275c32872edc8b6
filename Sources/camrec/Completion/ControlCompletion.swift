import Capture

/// The values of `--control` for a camera: `brightness=`, `auto_exposure=manual,brightness=`.
struct ControlCompletion {
    private let controls: [CameraControl]

    init(_ controls: [CameraControl]) {
        self.controls = controls.filter { control in
            control.obstacle != .readOnly && control.kind != .compound
        }
    }

    /// Returns what the last setting of the list may become: a name, or a value if it has a name.
    func candidates(for prefix: String) -> [String] {
        let comma = prefix.lastIndex(of: ",").map(prefix.index(after:)) ?? prefix.startIndex
        let (settled, open) = (prefix[..<comma], prefix[comma...])
        guard let equals = open.firstIndex(of: "=") else {
            let taken = Set(settled.split(separator: ",").map { $0.prefix { $0 != "=" } })
            return controls.filter { !taken.contains(Substring($0.name)) }.map { "\(settled)\($0.name)=" }
        }
        let choices = CameraControl.named(String(open[..<equals]), in: controls)?.listedChoices ?? []
        return choices.map { "\(settled)\(open[...equals])\($0)" }
    }
}
