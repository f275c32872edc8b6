import Capture
import Output
import CamPictures
import CamPlatform

extension SnapshotCommand {
    /// Why the command is refused, with the next step; nil if it is valid.
    var refusal: String? { nameRefusal ?? optionRefusal ?? sourceRefusal }

    private var nameRefusal: String? {
        if format == nil {
            return "'\(output)' must be named .jpg, .jpeg or .png; to record, leave out 'snapshot'"
        }
        if format == .png, quality != nil {
            return "--quality is for JPEG, and a .png loses nothing; leave it out"
        }
        guard let (conversion, text) = names.misplacedConversion(at: WallTime.now) else { return nil }
        return
            "'\(output)': \(conversion) becomes '\(text)', which cannot be part of a name; write %F for the date, "
            + "%H%M%S for the time"
    }

    private var optionRefusal: String? {
        if quiet, verbose { return "--quiet and --verbose exclude each other; use only one" }
        if source.restoreControls, source.controlLists.isEmpty {
            return "--restore-controls has nothing to restore without --control; leave it out"
        }
        return source.pace == nil ? nil : "one picture has no pace; leave out --pace and --no-pace"
    }

    private var sourceRefusal: String? {
        if source.format == .h264 {
            return "--format h264 has no single pictures; use another --format"
        }
        guard !source.isCamera else { return nil }
        if settle != nil { return "--settle is for cameras; leave it out" }
        if source.wait != nil { return "--wait is for cameras; leave it out" }
        if source.deviceTimeout != nil { return "--device-timeout is for cameras; leave it out" }
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(source.device, request: source.request)
        } catch { return error.description }
        return nil
    }
}
