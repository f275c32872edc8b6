import CamPlatform

/// What a file says about its recording besides the stream. Matroska and MP4 store it.
public struct FileMetadata: Sendable, Equatable {
    /// When the first picture was captured, to the microsecond; nil if that is unknown.
    public var start: WallTime?
    /// The camera's name; nil if there was none.
    public var camera: String?
    /// The program that made the recording, with its version.
    public var program: String?

    /// The names by which libavformat knows them, and other programs show them.
    private enum Name {
        static let start = "creation_time"
        static let camera = "model"
        static let program = "encoded_by"
        /// Matroska's header has a field of its own for the program.
        static let writer = "encoding_tool"
    }

    /// Longer texts are cut off: a file may say anything.
    private static let longest = 200

    /// Creates metadata; by default without any.
    public init(start: WallTime? = nil, camera: String? = nil, program: String? = nil) {
        (self.start, self.camera, self.program) = (start, camera, program)
    }

    /// Reads what a container says.
    /// - Parameter value: returns the text that goes by a name.
    init(_ value: (String) -> String?) {
        self.init(
            start: value(Name.start).flatMap(WallTime.init(iso8601:)), camera: Self.text(value(Name.camera)),
            program: Self.text(value(Name.program)))
    }

    /// The texts for a container, by name.
    func entries(for format: ContainerFormat) -> [(name: String, value: String)] {
        let texts = [
            (Name.start, start?.iso8601), (Name.camera, Self.text(camera)), (Name.program, program),
            (Name.writer, format == .matroska ? program : nil),
        ]
        return texts.compactMap { name, text in text.map { (name, $0) } }
    }

    private static func text(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : String($0.prefix(longest)) }
    }
}
