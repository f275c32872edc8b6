import Testing
import CamPlatform

@Suite struct NearestNameTests {
    private static let names = ["device", "duration", "brightness", "exposure_time_absolute", "fps"]

    @Test(
        "finds a name with a few letters wrong, missing, doubled or swapped, in any case",
        arguments: [
            ("devcie", "device"), ("devise", "device"), ("devicee", "device"), ("DEVICE", "device"),
            ("brihgtness", "brightness"), ("exposure_time", "exposure_time_absolute"), ("fsp", "fps"),
            ("dur", "duration"),
        ])
    func found(typed: String, name: String) {
        #expect(Self.names.nearest(to: typed) == name)
    }

    @Test(
        "rejects a name further away than a third of its letters",
        arguments: ["", "x", "abc", "zoom", "bitrate", "dxvxcx", "de"])
    func none(typed: String) {
        #expect(Self.names.nearest(to: typed) == nil)
    }

    @Test("finds nothing in an empty list")
    func empty() { #expect([String]().nearest(to: "device") == nil) }
}
