/// An encoder that was opened.
public struct EncoderChoice: Sendable {
    /// Nil if the camera's own coding is used.
    public let details: EncoderDetails?
    /// The name for messages.
    public let name: String
    /// Why each encoder that would have come before it was passed over.
    public let passedOver: [String]
    /// How it was set up, if that is not obvious.
    public let notes: [EncoderNote]
    /// What has decoded the camera's Motion JPEG until now; nil for other formats, and without a GPU.
    public let jpeg: JPEGOutcome?
    /// Which pictures a GPU has read in the camera's memory until now; nil without a GPU.
    public let sharing: SharingOutcome?

    /// Describes an encoder by its name.
    public init(
        details: EncoderDetails?, name: String, passedOver: [String] = [], notes: [EncoderNote] = [],
        jpeg: JPEGOutcome? = nil, sharing: SharingOutcome? = nil
    ) {
        self.details = details
        self.name = name
        self.passedOver = passedOver
        self.notes = notes
        self.jpeg = jpeg
        self.sharing = sharing
    }
}
