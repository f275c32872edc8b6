import Bitstream
import CamAcceleration
import CamSound
import Capture
import Encoder

/// The cameras, microphones and encoders of this machine.
package struct Inventory: Sendable, Encodable {
    /// In the order of their numbers.
    package let cameras: [CameraEntry]
    /// In the order of their cards.
    package let microphones: [MicrophoneSummary]
    /// Render nodes, then software.
    package let encoders: [EncoderEntry]

    /// Whether a thread hangs in a driver. Normal cleanup at the end of the process may then hang, too.
    package var hasHungThread: Bool { encoders.contains(where: \.hangs) }

    /// Examines every video node, microphone and render node. Nodes that cannot be opened are listed with the
    /// reason.
    /// - Parameter withControls: also queries the controls of cameras, which takes a while for some.
    package static func take(withControls: Bool = false) -> Inventory {
        Inventory(
            cameras: VideoNode.all().compactMap { CameraEntry(path: $0, withControls: withControls) },
            microphones: MicrophoneFinder().microphones.map(MicrophoneSummary.init),
            encoders: RenderNode.all().map(EncoderEntry.init) + [EncoderEntry.software()])
    }
}

/// One microphone.
package struct MicrophoneSummary: Sendable, Encodable {
    /// The name for `--audio-device`.
    package let name: String
    /// The name for people.
    package let title: String
    /// The lowest sample rate of the device in hertz; nil if the device cannot be queried.
    package let lowestRate: Int?
    package let highestRate: Int?
    /// The most channels of the device; nil if it cannot be queried.
    package let channels: Int?
    /// Why the device cannot be queried; nil if it can.
    package let problem: String?

    init(_ entry: MicrophoneEntry) {
        (name, title) = (entry.name, entry.title)
        do throws(SoundError) {
            let abilities = try Microphone.abilities(of: entry.hardwareName)
            (lowestRate, highestRate) = (abilities.rates.lowerBound, abilities.rates.upperBound)
            (channels, problem) = (abilities.channels.upperBound, nil)
        } catch {
            (lowestRate, highestRate, channels) = (nil, nil, nil)
            problem = error.description
        }
    }
}

/// One video node.
package struct CameraEntry: Sendable, Encodable {
    /// `/dev/videoN`.
    package let path: String
    /// A link that follows the camera to any port; nil if udev made none.
    package let stablePath: String?
    package let name: String?
    package let driver: String?
    package let bus: String?
    /// In the driver's order.
    package let formats: [Format]
    /// The inputs of a grabber, for `--input`; empty if there is no choice.
    package let inputs: [Input]
    /// The television standards of the input in use, for `--standard`.
    package let standards: [Standard]
    /// In the order of the driver; nil if not requested.
    package let controls: [Control]?
    /// Why it cannot be used; nil if it can.
    package let problem: String?
    /// Why the camera is used only by name; nil if it may be the default camera, or cannot be used.
    package let reservation: String?

    /// One input.
    package struct Input: Sendable, Encodable {
        package let number: Int
        package let name: String
        package let isInUse: Bool
    }

    /// One television standard.
    package struct Standard: Sendable, Encodable {
        package let name: String
        package let isInUse: Bool
    }

    /// One control.
    package struct Control: Sendable, Encodable {
        /// The name for `--control`.
        package let name: String
        /// The current value; nil if it cannot be read.
        package let value: String?
        /// The possible values.
        package let choices: String
        package let defaultValue: String?
        /// `read-only`, `inactive` or `in use`; nil if it can be set.
        package let obstacle: String?
    }

    /// One pixel format.
    package struct Format: Sendable, Encodable {
        package let pixelFormat: String
        package let name: String
        /// In the order of the driver; empty if the driver names none.
        package let sizes: [Size]
    }

    /// One size, or a range.
    package struct Size: Sendable, Encodable {
        /// `640x480`, or `16x16 to 1920x1080`.
        package let size: String
        /// Frames a second, from high to low.
        package let rates: [Double]
    }

    /// Nil for nodes that are not cameras.
    init?(path: String, withControls: Bool) {
        self.path = path
        stablePath = StableLink.find(for: path)
        do throws(CaptureError) {
            let camera = try Camera(path: path)
            name = camera.identity.name
            driver = camera.identity.driver
            bus = camera.identity.bus
            formats = camera.formats.map { format in
                Format(
                    pixelFormat: "\(format.pixelFormat)", name: format.name,
                    sizes: format.sizes.map(Size.init))
            }
            (inputs, standards) = (Self.inputs(of: camera), Self.standards(of: camera))
            controls = withControls ? camera.controls.map(Control.init) : nil
            problem = camera.unreadableFormats.map { CaptureError(.unreadable($0), device: path).reason }
            reservation = problem == nil && !formats.isEmpty ? camera.reservation : nil
        } catch {
            if case .notACaptureDevice = error.kind { return nil }
            (name, driver, bus, formats, controls) = (nil, nil, nil, [], nil)
            (inputs, standards) = ([], [])
            (problem, reservation) = (error.description, nil)
        }
    }
}

extension CameraEntry {
    private static func inputs(of camera: borrowing Camera) -> [Input] {
        let (all, current) = camera.inputs
        guard all.count > 1 else { return [] }
        return all.map { Input(number: $0.index, name: $0.name, isInUse: $0.index == current) }
    }

    private static func standards(of camera: borrowing Camera) -> [Standard] {
        let (all, current) = camera.standards
        return all.map { Standard(name: $0.name, isInUse: $0 == current) }
    }
}

extension CameraEntry.Control {
    init(_ control: CameraControl) {
        name = control.name
        value = control.value.map(control.text)
        choices = control.choices
        defaultValue = control.defaultValue.map(control.text)
        obstacle =
            switch control.obstacle {
            case .readOnly: "read-only"
            case .inactive: "inactive"
            case .grabbed: "in use"
            case nil: nil
            }
    }
}

extension CameraEntry.Size {
    init(_ size: CameraFormat.Size) {
        self.size = size.smallest == size.largest ? "\(size.largest)" : "\(size.smallest) to \(size.largest)"
        rates = size.rates.listed.map(\.framesPerSecond)
    }
}

/// One encoder: a render node with its driver, or software.
package struct EncoderEntry: Sendable, Encodable {
    /// The render node; nil for software.
    package let node: String?
    /// The name that the driver gives; empty if there is none.
    package let driver: String
    /// One for each profile and entry point.
    package let profiles: [Profile]
    /// Why it cannot be used; nil if it can.
    package let problem: String?
    /// Whether its driver does not respond.
    let hangs: Bool

    private enum CodingKeys: CodingKey { case node, driver, profiles, problem }

    /// The abilities of an entry point with a profile.
    package struct Profile: Sendable, Encodable {
        /// `H.264` or `H.265`.
        package let codec: String
        /// The name of the profile in VA-API, such as `H264High`, or in the software encoder.
        package let profile: String
        /// `EncSlice`, `EncSliceLP` or `software`.
        package let entryPoint: String
        /// The modes for `--rate-control`.
        package let rateControlModes: [String]
        /// The headers that the application writes; empty if the driver writes all of them.
        package let packedHeaders: [String]
        /// `32x32`; nil if the driver names none.
        package let minimumSize: String?
        /// `4096x2304`; nil if the driver names none.
        package let maximumSize: String?
        /// Whether the encoder supports B pictures.
        package let bFrames: Bool
    }

    init(node: String) {
        self.node = node
        do throws(EncoderError) {
            let (driver, capabilities) = try VAAPICapabilities.ofRenderNode(node)
            self.driver = driver
            profiles = capabilities.map(Profile.init)
            problem = capabilities.isEmpty ? "the driver does not encode" : nil
            hangs = false
        } catch {
            (driver, profiles) = ("", [])
            problem = error.description
            hangs = error.kind == .driverHangs(node: node)
        }
    }

    private init(node: String?, driver: String, profiles: [Profile], problem: String?) {
        self.node = node
        self.driver = driver
        self.profiles = profiles
        self.problem = problem
        hangs = false
    }

    /// Examines the software encoders in the libavcodec of this machine.
    static func software() -> EncoderEntry {
        let encoders = SoftwareEncoder.all()
        let names = encoders.map(\.name).joined(separator: ", ")
        return EncoderEntry(
            node: nil, driver: names.isEmpty ? "" : "\(names) (software)",
            profiles: encoders.flatMap { encoder in
                encoder.profiles.map { Profile(encoder.codec, softwareProfile: $0.rawValue) }
            },
            problem: encoders.isEmpty ? "this libavcodec has neither libx264 nor libx265" : nil)
    }
}

extension EncoderEntry.Profile {
    fileprivate init(_ codec: Codec, softwareProfile: String) {
        self.init(
            codec: "\(codec)", profile: softwareProfile, entryPoint: "software",
            rateControlModes: RateControl.Mode.allCases.map(\.rawValue), packedHeaders: [],
            minimumSize: nil, maximumSize: nil, bFrames: true)
    }

    init(_ capabilities: VAAPICapabilities) {
        codec = "\(capabilities.codec)"
        profile = capabilities.profile.rawValue
        entryPoint = capabilities.entryPoint.rawValue
        rateControlModes = RateControl.Mode.allCases.filter(capabilities.rateControlModes.contains).map(
            \.rawValue)
        packedHeaders = capabilities.packedHeaders.map(\.rawValue)
        minimumSize = capabilities.minimumSize.map { "\($0)" }
        maximumSize = capabilities.maximumSize.map { "\($0)" }
        bFrames = capabilities.hasBPictures
    }
}

// MARK: Text

extension Inventory {
    /// The inventory as text, without a trailing newline.
    package var text: String {
        let cameraText =
            cameras.isEmpty
            ? "  none (--device test gives a test picture)" : cameras.map(\.text).joined(separator: "\n")
        let microphoneText = microphones.isEmpty ? "  none" : microphones.map(\.text).joined(separator: "\n")
        return "Cameras\n\(cameraText)\n\nMicrophones\n\(microphoneText)\n\nEncoders\n"
            + encoders.map(\.text).joined(separator: "\n")
    }
}

extension CameraEntry {
    fileprivate var text: String {
        var lines = ["  \(path)" + (name.map { "  \($0)" } ?? "")]
        if let driver, let bus { lines.append("    driver \(driver), bus \(bus)") }
        if let stablePath { lines.append("    \(stablePath)") }
        if let problem { lines.append("    \(problem)") }
        if let reservation { lines.append("    used only with --device: \(reservation)") }
        for input in inputs {
            lines.append("    input \(input.number): \(input.name)\(input.isInUse ? ", in use" : "")")
        }
        if !standards.isEmpty {
            let names = standards.map { $0.name + ($0.isInUse ? " (in use)" : "") }
            lines.append("    standards: \(names.joined(separator: ", "))")
        }
        for format in formats {
            lines.append("    \(format.pixelFormat)  \(format.name)")
            for size in format.sizes {
                let rates =
                    size.rates.isEmpty ? "" : "  at \(size.rates.map(Self.rate).joined(separator: ", "))"
                lines.append("      \(size.size)\(rates)")
            }
        }
        if let controls {
            lines.append(controls.isEmpty ? "    no controls" : "    Controls")
            lines += controls.map(\.text)
        }
        return lines.joined(separator: "\n")
    }

    private static func rate(_ rate: Double) -> String {
        let hundredths = Int((rate * 100).rounded())
        let (whole, fraction) = hundredths.quotientAndRemainder(dividingBy: 100)
        return fraction == 0 ? "\(whole)" : "\(whole).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}

extension MicrophoneSummary {
    fileprivate var text: String {
        var lines = ["  \(name)  \(title)"]
        if let lowestRate, let highestRate, let channels {
            let rates = lowestRate == highestRate ? "\(lowestRate)" : "\(lowestRate) to \(highestRate)"
            lines.append("    \(rates) Hz, \(channels == 1 ? "1 channel" : "up to \(channels) channels")")
        }
        if let problem { lines.append("    \(problem)") }
        return lines.joined(separator: "\n")
    }
}

extension EncoderEntry {
    fileprivate var text: String {
        var lines = ["  \(node ?? "software")  \(driver)"]
        if let problem { lines.append("    \(problem)") }
        for profile in profiles {
            let headers =
                profile.packedHeaders.isEmpty
                ? "written by the driver" : profile.packedHeaders.joined(separator: ", ")
            lines.append(
                "    \(profile.codec) \(profile.profile), \(profile.entryPoint): "
                    + "\(profile.rateControlModes.joined(separator: " "))"
                    + (node == nil ? "" : "; packed headers: \(headers)")
                    + (profile.maximumSize.map { "; up to \($0)" } ?? "")
                    + (profile.bFrames ? "; B frames" : ""))
        }
        for codec in Codec.allCases
        where problem == nil && !profiles.contains(where: { $0.codec == "\(codec)" }) {
            lines.append("    \(codec): no encoder")
        }
        return lines.joined(separator: "\n")
    }
}

extension CameraEntry.Control {
    fileprivate var text: String {
        let details = [choices, defaultValue.map { "default \($0)" }, obstacle].compactMap { $0 }
        return "      \(name)" + (value.map { "=\($0)" } ?? "") + "  (\(details.joined(separator: "; ")))"
    }
}
