import CamPlatform

extension WallTime {
    /// Microseconds since 1970, which a browser's numbers hold exactly.
    var microseconds: Int64 { nanoseconds / 1000 }

    init(microseconds: Int64) { self.init(nanoseconds: Duration.microseconds(microseconds).inNanoseconds) }
}
