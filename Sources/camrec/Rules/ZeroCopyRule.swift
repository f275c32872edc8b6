import Encoder
import CamPictures

/// What needs a copy of each picture excludes the wish for none.
struct ZeroCopyRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard command.encoder.zeroCopy == .on else { return nil }
        let source = command.source
        if !source.isCamera { return "--zero-copy on is for cameras; leave it out" }
        if let format = source.format, ![.nv12, .yuyv, .uyvy].contains(format) {
            return "--zero-copy on needs NV12, YUYV or UYVY; use --format nv12, or leave it out"
        }
        let copying = command.picture.given.first ?? (command.motion.onMotion ? "--on-motion" : nil)
        return copying.map { "\($0) needs a copy of each picture; leave it or --zero-copy on out" }
    }
}
