import ArgumentParser
import Encoder
import Terminal

/// What encodes.
struct EncoderOptions: ParsableArguments {
    @Option(help: "Which encoder.")
    var encoder: EncoderRequest.Preference = .auto

    @Option(
        help: ArgumentHelp("The GPU to use, and no other: /dev/dri/renderD128.", valueName: "PATH"),
        transform: PlainValue.text("it is a path, as in /dev/dri/renderD128"))
    var renderNode: String?

    @Option(help: "The GPU's low-power encoder (EncSliceLP).")
    var lowPower: EncoderRequest.LowPower = .auto

    @Option(help: "How pictures get to the GPU. auto maps surfaces where the driver does that right.")
    var upload: UploadMethod = .auto

    var request: EncoderRequest {
        var request = EncoderRequest()
        request.preference = encoder
        request.renderNode = renderNode
        request.lowPower = lowPower
        request.upload = upload
        return request
    }
}
