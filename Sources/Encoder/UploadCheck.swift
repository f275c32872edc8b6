import CamAcceleration
import CFFmpeg
import CVAAPI
import Glibc
import CamPictures

/// Checks whether a driver's surfaces hold what was written into them: layouts differ between drivers, and a
/// wrong one shears or scrambles every picture without any error.
struct UploadCheck {
    private let writer: SurfaceWriter
    private let size: PictureSize

    /// Writes noise into a surface and reads it back. If it comes back changed, tries the other way of
    /// uploading, and keeps that if it does better.
    ///
    /// Calls the driver, so use it within a connection's `call`.
    /// - Parameter isChangeable: whether the way of uploading may change.
    /// - Returns: a note, if there is something to report.
    static func settle(
        _ writer: SurfaceWriter, on surface: VASurfaceID, size: PictureSize, isChangeable: Bool, node: String
    ) throws(EncoderError) -> EncoderNote? {
        let check = UploadCheck(writer: writer, size: size)
        if try check.isRight(surface, seed: 1) != false { return nil }
        let way = writer.method
        guard way == .map, isChangeable else {
            return EncoderNote(
                "\(node): a picture read back differs from the one written; look at the "
                    + "recording, and use --encoder software if it is damaged", contradictsRequest: true)
        }
        writer.stopMapping()
        let isBetter = try check.isRight(surface, seed: 2) == true
        return EncoderNote(
            "\(node): a mapped surface returns another picture than was written; uploading pictures instead"
                + (isBetter
                    ? "" : ", which is no better: use --encoder software if the recording is damaged"),
            contradictsRequest: true)
    }

    /// Nil if it cannot be read back.
    private func isRight(_ surface: VASurfaceID, seed: UInt64) throws(EncoderError) -> Bool? {
        var isSame = true
        let mapping = try writer.map(surface)
        eachRow(of: mapping.planes, seed: seed) { memory, row in memory.update(from: row, count: size.width) }
        try writer.finish(mapping)
        let isRead = try writer.read(from: surface) { planes in
            eachRow(of: planes, seed: seed) { memory, row in
                if memcmp(memory, row, size.width) != 0 { isSame = false }
            }
        }
        return isRead ? isSame : nil
    }

    /// Calls a function with each row's place in the planes, and the noise that belongs there.
    private func eachRow(
        of planes: SurfaceWriter.Planes, seed: UInt64,
        _ body: (UnsafeMutablePointer<UInt8>, UnsafePointer<UInt8>) -> Void
    ) {
        let (width, height) = (size.width, size.height)
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: (width + 7) / 8) { row in
            let bytes = UnsafeRawBufferPointer(row).assumingMemoryBound(to: UInt8.self)
            guard let start = bytes.baseAddress else { return }
            var noise = Noise(state: seed)
            for (plane, rows) in [(planes.luma, height), (planes.chroma, height / 2)] {
                for number in 0..<rows {
                    for index in row.indices { row.initializeElement(at: index, to: noise.next()) }
                    body(plane.base + number * plane.stride, start)
                }
            }
        }
    }

    /// Numbers that do not repeat (xorshift64).
    private struct Noise {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
