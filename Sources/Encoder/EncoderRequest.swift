/// Which encoder is wanted.
public struct EncoderRequest: Sendable, Hashable {
    /// Hardware, software, or either.
    public enum Preference: String, Sendable, Hashable, CaseIterable {
        /// VAAPI if it works, otherwise software.
        case auto
        case vaapi, software
    }

    /// Which of a driver's entry points.
    public enum LowPower: String, Sendable, Hashable, CaseIterable {
        /// EncSlice if the driver has it, otherwise EncSliceLP.
        case auto
        /// EncSliceLP only.
        case on
        /// EncSlice only.
        case off
    }

    /// Hardware, software, or either.
    public var preference = Preference.auto
    /// The only render node to be used; there is then no fallback to software.
    public var renderNode: String?
    /// Which of a driver's entry points.
    public var lowPower = LowPower.auto
    /// How pictures get to the GPU.
    public var upload = UploadMethod.auto
    /// What decodes a camera's Motion JPEG.
    public var jpeg = JPEGWay.auto
    /// Whether a GPU reads the camera's memory.
    public var zeroCopy = ZeroCopyWay.auto

    /// Requests the best encoder that works.
    public init() {}
}

extension EncoderRequest {
    /// The back ends that may be used, the best first.
    var backends: [any EncoderBackend] {
        let vaapi = VAAPIBackend(
            renderNode: renderNode, lowPower: lowPower, upload: upload, jpeg: jpeg, zeroCopy: zeroCopy)
        return switch preference {
        case .vaapi: [vaapi]
        case .software: [SoftwareBackend()]
        // A render node that was named must be used, and so must the GPU where it is to decode or to read.
        case .auto:
            renderNode == nil && jpeg != .gpu && zeroCopy != .on ? [vaapi, SoftwareBackend()] : [vaapi]
        }
    }
}
