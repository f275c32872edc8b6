import Bitstream

extension DecoderConfigurationRecord {
    /// Reads a file with the content of an avcC or hvcC box, as `camrec inspect --avcc-record` writes it.
    public init(path: String) throws(InputError) {
        let file = try InputFile(path: path)
        // Longer than any record: 31 and 255 sets of H.264, and more than any stream has of H.265's.
        guard let record = DecoderConfigurationRecord(try file.read().bytes) else {
            throw InputError(
                .malformed(
                    "this is not a decoder configuration record (avcC or hvcC); camrec inspect --avcc-record writes one"
                ), input: path)
        }
        self = record
    }
}
