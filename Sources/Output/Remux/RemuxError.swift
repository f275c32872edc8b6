import Bitstream
import CamPlatform

/// Why a recording could not be remuxed. `description` is one line: thing, cause, next step.
public enum RemuxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The input cannot be read, or is not what it should be.
    case input(InputError)
    /// The output cannot be written.
    case output(OutputError)
    /// The pictures have no times.
    case noFrameRate(input: String)
    /// The output's name implies another codec than the stream's.
    case otherCodec(output: String, is: Codec)
    /// The requested part begins after the recording's end.
    case beyondEnd(input: String, lastPicture: Duration)
    /// The timestamp file belongs to another recording.
    case tooFewTimestamps(file: String, timestamps: Int, pictures: Int)
    /// Interrupted before the end.
    case interrupted(pictures: Int, of: Int)

    public var description: String {
        switch self {
        case .input(let error): error.description
        case .output(let error): error.description
        case .noFrameRate(let input):
            "\(input) does not state a frame rate; add --timestamps or --fps"
        case .otherCodec(let output, let codec):
            "\(output): the stream is \(codec); name it \(codec == .h264 ? ".h264" : ".h265")"
        case .beyondEnd(let input, let time):
            "\(input): its last picture is at \(time.inSeconds) s; give an earlier --from"
        case .tooFewTimestamps(let file, let timestamps, let pictures):
            "\(file) has \(timestamps) times for \(pictures) pictures; is it this recording's?"
        case .interrupted(let pictures, let total):
            "stopped after \(pictures) of \(total) pictures; the output plays up to there"
        }
    }
}

extension RemuxError {
    /// Runs what reads.
    static func ofInput<Result>(
        _ body: () throws(InputError) -> Result
    ) throws(RemuxError) -> Result {
        do throws(InputError) { return try body() } catch { throw .input(error) }
    }

    /// Runs what writes.
    public static func ofOutput<Result>(
        _ body: () throws(OutputError) -> Result
    ) throws(RemuxError) -> Result {
        do throws(OutputError) { return try body() } catch { throw .output(error) }
    }
}
