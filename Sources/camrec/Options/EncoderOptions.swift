import ArgumentParser
import Encoder
import CamCommandLine

/// Options that choose the encoder.
struct EncoderOptions: ParsableArguments {
    @Option(help: "Encoder.")
    var encoder: EncoderRequest.Preference = .auto

    @Option(
        help: ArgumentHelp("Use only this GPU: /dev/dri/renderD128.", valueName: "PATH"),
        completion: .renderNode, transform: PlainValue.text("expected a path, as in /dev/dri/renderD128"))
    var renderNode: String?

    @Option(help: "Use the GPU's low-power encoder (EncSliceLP).")
    var lowPower: EncoderRequest.LowPower = .auto

    @Option(help: "How to upload pictures to the GPU; auto maps surfaces if the driver does that correctly.")
    var upload: UploadMethod = .auto

    @Option(help: "What decodes a camera's Motion JPEG; auto is the GPU if it does that correctly.")
    var jpeg: JPEGWay = .auto

    @Option(
        help:
            "Whether the GPU reads a camera's NV12, YUYV or UYVY without a copy; auto if it does so correctly."
    )
    var zeroCopy: ZeroCopyWay = .auto

    var request: EncoderRequest {
        var request = EncoderRequest()
        request.preference = encoder
        request.renderNode = renderNode
        request.lowPower = lowPower
        request.upload = upload
        request.jpeg = jpeg
        request.zeroCopy = zeroCopy
        return request
    }
}
