import CamNetworking
import CamPictures

/// The two ends of the latency benchmark; `latency.py` puts the measured program between them.
///
/// usage: LatencyBenchmark send WxH FPS FRAMES FILE.y4m     live test pictures, into a file or a named pipe
///        LatencyBenchmark receive PORT                     a line for each picture of a raw H.264 stream
@main
struct LatencyBenchmark {
    enum Failure: Error {
        case usage
        case notTaken
        case notH264
    }

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "send" where arguments.count == 5:
            guard let size = PictureSize(arguments[1]), let rate = FrameRate(arguments[2]),
                let count = Int(arguments[3])
            else { throw Failure.usage }
            try PictureSender(size: size, rate: rate).send(count, to: arguments[4])
        case "receive" where arguments.count == 2:
            guard let port = UInt16(arguments[1]) else { throw Failure.usage }
            try StreamReceiver(address: SocketAddress(host: "127.0.0.1", port: port)).run()
        default: throw Failure.usage
        }
    }
}
