import ArgumentParser
import Bitstream
import Capture
import Encoder
import CamPictures
import CamCommandLine

extension PictureSize: ExplainedArgument {
    public static let requirement = "expected width and height in pixels, as in 1280x720, up to 16384x16384"

    /// `640x480`
    public init?(argument: String) { self.init(argument) }
}

extension FrameRate: ExplainedArgument {
    public static let requirement = "expected frames a second, as in 30, 29.97 or 30000/1001, up to 1000000"

    /// `30`, `29.97`, `30000/1001`
    public init?(argument: String) { self.init(argument) }
}

extension Level: ExplainedArgument {
    public static let requirement = "expected a level of the standard, as in 4.1"

    /// `4.1`
    public init?(argument: String) { self.init(argument) }
}

extension Codec: ExplainedArgument {
    public static let requirement = "expected h264, or hevc for H.265"
}
extension EncoderRequest.Preference: ExpressibleByArgument {}
extension EncoderRequest.LowPower: ExpressibleByArgument {}
extension UploadMethod: ExpressibleByArgument {}
extension JPEGWay: ExpressibleByArgument {}
extension ZeroCopyWay: ExpressibleByArgument {}
extension EncoderConfiguration.Profile: ExpressibleByArgument {}
extension EncoderConfiguration.EntropyMode: ExpressibleByArgument {}
extension EncoderConfiguration.Latency: ExpressibleByArgument {}

extension ColorEncoding.Range: ExplainedArgument {
    public static let requirement = "expected limited or full"
}

/// `auto`, or a value.
struct Automatic<Value: ExpressibleByArgument>: ExpressibleByArgument {
    /// Nil for `auto`.
    let value: Value?

    static var auto: Automatic { Automatic(value: nil) }

    private init(value: Value?) { self.value = value }

    init?(argument: String) {
        if argument == "auto" {
            value = nil
        } else if let value = Value(argument: argument) {
            self.value = value
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { "auto" }

    static var allValueStrings: [String] {
        Value.allValueStrings.isEmpty ? [] : ["auto"] + Value.allValueStrings
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension RateControl.Mode: ExpressibleByArgument {}

extension Automatic: ExplainedArgument where Value: ExplainedArgument {
    static var requirement: String { "\(Value.requirement), or auto" }
}

extension PixelFormat: ExplainedArgument {
    public static let requirement =
        "expected yuyv, nv12, mjpeg, another FourCC, or h264 for the camera's own H.264"

    /// A FourCC or a common name.
    public init?(argument: String) { self.init(argument) }
}

/// `bt601`, `bt709`, `bt2020`.
struct MatrixName: ExpressibleByArgument {
    let matrix: ColorEncoding.Matrix

    init?(argument: String) {
        guard let named = ColorEncoding.Matrix.supported.first(where: { "\($0)" == argument }) else {
            return nil
        }
        matrix = named
    }

    static var allValueStrings: [String] { ColorEncoding.Matrix.supported.map { "\($0)" } }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension BitsPerSecond: ExplainedArgument {
    /// `4M`, `800k`, `4000000`
    public init?(argument: String) { self.init(argument) }
}

/// How long to wait: a time, `0`, or `forever`.
struct Patience: ExplainedArgument {
    static let requirement = "expected a time such as 30s or 10m, 0, or forever"

    /// Nil forever.
    let duration: Duration?

    static let forever = Patience(nil)
    static let none = Patience(.zero)

    init(_ duration: Duration?) { self.duration = duration }

    init?(argument: String) {
        switch argument {
        case "forever": duration = nil
        case "0": duration = .zero
        default:
            guard let time = TimeSpan(argument: argument) else { return nil }
            duration = time.duration
        }
    }
}

/// Frames (`50`), a time (`2s`), or both, whichever comes first (`50,2s`).
struct KeyframeDistance: ExplainedArgument {
    static let requirement = "expected frames (1 to 1000000), a time, or both: 50, 2s, or 50,2s"

    let interval: KeyframeInterval

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let counts = parts.compactMap { Int($0) }
        let times = parts.filter { Int($0) == nil }.compactMap { TimeSpan(argument: $0)?.seconds }
        guard counts.count <= 1, times.count <= 1, counts.count + times.count == parts.count,
            counts.allSatisfy({ (1...1_000_000).contains($0) })
        else { return nil }
        switch (counts.first, times.first) {
        case (let count?, let time?): interval = .frames(count, orSeconds: time)
        case (let count?, nil): interval = .frames(count)
        case (nil, let time?): interval = .seconds(time)
        case (nil, nil): return nil
        }
    }
}

/// `brightness=128,auto_exposure=manual`
struct ControlList: ExplainedArgument {
    static let requirement =
        "expected NAME=VALUE, as in brightness=128; 'camrec devices --controls' lists the names"

    let settings: [ControlSetting]

    init?(argument: String) {
        guard let settings = ControlSetting.list(argument) else { return nil }
        self.settings = settings
    }
}
