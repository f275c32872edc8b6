import ArgumentParser
import Bitstream
import CamCommandLine
import CamControlProtocol
import CamPictures
import CamPlatform
import Encoder
import CamRecorder
import Containers

/// An OUTPUT or a value of `--listen` as it is given: a name, and the properties of a rendition of its own, as in
/// `sub.mkv,size=640x360,fps=5`.
struct OutputArgument {
    /// The file, address or place, without the properties.
    let name: String
    /// The codec that is requested for it alone.
    private(set) var codec: Codec?
    /// Its own properties; the codec is decided by `RecordCommand.choices`.
    private(set) var rendition = RenditionChoice()
    /// Why a property is not valid; nil if all are.
    private(set) var complaint: String?

    /// A name that ends like a video file's has no properties: such files were recorded before there were any.
    init(_ text: String) {
        guard Codec(fileName: text) == nil, ContainerFormat(path: text) == nil else {
            name = text
            return
        }
        let output = OutputText(text)
        name = output.name
        for (key, value) in output.properties where complaint == nil { take(key, value) }
        let keys = output.properties.map(\.key)
        if complaint == nil, let twice = keys.first(where: { key in keys.count { $0 == key } > 1 }) {
            complaint = "\(twice.rawValue) is given twice\(shownPlace); leave one out"
        }
    }

    /// What is wrong with a name that ends in what looks like a property with a typing error; nil for other names. A file
    /// may have such a name.
    static func typingError(in name: String) -> String? {
        guard let comma = name.lastIndex(of: ","), let equals = name[comma...].firstIndex(of: "=") else {
            return nil
        }
        let typed = String(name[name.index(after: comma)..<equals])
        return OutputText.Key.allCases.map(\.rawValue).nearest(to: typed).map {
            "no property of an output is called '\(typed)'; use \($0)="
        }
    }

    /// The name for messages; nothing of an address, which may contain a password.
    private var shownPlace: String { name.contains { ":@?".contains($0) } ? "" : " in '\(name)'" }

    private mutating func take(_ key: OutputText.Key, _ value: String) {
        func refuse(_ requirement: String) {
            complaint = "'\(key.rawValue)=\(value)'\(shownPlace): \(requirement)"
        }
        func read<Value: ExplainedArgument>(_ type: Value.Type) -> Value? {
            let read = Value(argument: value)
            if read == nil { refuse(Value.requirement) }
            return read
        }
        switch key {
        case .size:
            rendition.size = read(PictureSize.self)
            guard let size = rendition.size, size.width % 2 + size.height % 2 > 0 else { return }
            refuse(
                "H.264 and H.265 have even sizes only; use \(max(2, size.width & ~1))x\(max(2, size.height & ~1))"
            )
        case .fps: rendition.frameRate = read(FrameRate.self)
        case .bitrate: rendition.bitRate = read(BitsPerSecond.self)?.value
        case .maxBitrate: rendition.maximumBitRate = read(BitsPerSecond.self)?.value
        case .keyframeInterval: rendition.keyframeInterval = read(KeyframeDistance.self)?.interval
        case .codec: codec = read(Codec.self)
        case .quality:
            rendition.quality = Int(value).flatMap { (1...51).contains($0) ? $0 : nil }
            if rendition.quality == nil { refuse("expected a whole number, 1 to 51") }
        }
    }
}
