/// Identifies a source.
public struct SourceIdentity: Sendable, Hashable {
    /// The path it was opened by, or `test`.
    public let device: String
    /// Its own name.
    public let name: String
    /// The kernel driver; nil if it is not a device.
    public let driver: String?
    /// Where it is plugged in; nil if it is not a device.
    public let bus: String?

    init(device: String, name: String, driver: String? = nil, bus: String? = nil) {
        self.device = device
        self.name = name
        self.driver = driver
        self.bus = bus
    }
}
