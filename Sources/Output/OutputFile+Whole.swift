import CamPlatform

extension OutputFile {
    /// Writes a file completely or not at all.
    /// - Parameter interruption: ends a wait for a pipe's reader.
    /// - Returns: its name.
    @discardableResult public static func write(
        _ bytes: [UInt8], to path: String, overwrite: Bool, interruption: Interruption
    ) throws(OutputError) -> String {
        let file = try OutputFile(
            path: path, overwrite: overwrite, interruption: interruption, isStaged: true)
        try file.write(bytes)
        file.keep()
        try file.close()
        return file.name
    }
}
