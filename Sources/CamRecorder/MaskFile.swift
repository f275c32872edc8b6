import CamConversion
import CamPictures
import CamPlatform
import Containers
import Decoder

// Mask files: parts that motion ignores, and parts to hide.

extension GrayPicture {
    /// 64 MiB: more than any picture of a camera takes.
    private static let mostBytes = 64 << 20

    /// Reads a PGM or PNG picture.
    /// - Throws: an error if the file cannot be read, or is no such picture.
    package init(path: String) throws(InputError) {
        let bytes = try Self.read(path)
        let picture: GrayPicture?
        do throws(MaskFileError) { picture = try Self.picture(bytes) } catch {
            throw InputError(.malformed(error.description), input: path)
        }
        guard let picture else {
            throw InputError(
                .malformed("not a PGM or PNG picture; save the mask as one of these"), input: path)
        }
        self = picture
    }

    /// Returns nil if the bytes are no PGM or PNG picture.
    private static func picture(_ bytes: [UInt8]) throws(MaskFileError) -> GrayPicture? {
        if let picture = try GrayPicture(pgm: bytes) { return picture }
        return try png(bytes)
    }

    private static func png(_ bytes: [UInt8]) throws(MaskFileError) -> GrayPicture? {
        guard PNGImage.isPNG(bytes) else { return nil }
        do throws(DecoderError) {
            return try PNGImage.decodeLuma(bytes)
        } catch { throw .undecodable(error.description) }
    }

    private static func read(_ path: String) throws(InputError) -> [UInt8] {
        do throws(WholeFile.Failure) { return try WholeFile.read(path, atMost: mostBytes) } catch {
            switch error {
            case .system(let code): throw InputError(.notOpened(errno: code), input: path)
            case .notRegular:
                throw InputError(.malformed("not a regular file; name a PGM or PNG picture"), input: path)
            case .tooLong:
                throw InputError(.malformed("larger than 64 MiB; make the mask smaller"), input: path)
            }
        }
    }
}

// MARK: Portable greymaps

/// Why a file is not a mask. `description` has the cause and the next step.
package enum MaskFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The header is not a picture's.
    case badHeader
    /// The file has fewer pixels than its header says, or something else in their place.
    case incomplete
    /// A decoder rejected the file, for the reason given.
    case undecodable(String)

    package var description: String {
        switch self {
        case .badHeader: "its header is damaged, or its sides are beyond 16384; save the mask again"
        case .incomplete: "it has fewer pixels than its header says; save the mask again"
        case .undecodable(let reason): "\(reason); save the mask again"
        }
    }
}

extension GrayPicture {
    /// Reads a portable greymap (netpbm's pgm), plain (P2) or raw (P5).
    /// - Returns: nil if the bytes do not begin as one.
    package init?(pgm bytes: [UInt8]) throws(MaskFileError) {
        guard bytes.starts(with: [UInt8(ascii: "P")]), bytes.count > 1 else { return nil }
        let isRaw = bytes[1] == UInt8(ascii: "5")
        guard isRaw || bytes[1] == UInt8(ascii: "2") else { return nil }
        var reader = PGMReader(bytes.dropFirst(2))
        guard let width = reader.number(), let height = reader.number(),
            let size = PictureSize(width, height),
            let white = reader.number(), (1...65535).contains(white)
        else { throw .badHeader }
        var levels: [UInt8] = []
        if isRaw {
            guard reader.skipOne(), reader.count >= size.area * (white > 255 ? 2 : 1) else {
                throw .incomplete
            }
        }
        levels.reserveCapacity(min(size.area, bytes.count))
        for _ in 0..<size.area {
            guard let level = isRaw ? reader.sample(isWide: white > 255) : reader.number(), level <= white
            else {
                throw .incomplete
            }
            levels.append(UInt8(level * 255 / white))
        }
        self.init(size: size, levels: levels)
    }
}

/// The numbers of a portable greymap.
private struct PGMReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var count: Int { rest.count }

    /// Reads a number in digits, after white space and comments; nil without a number, or beyond 65535.
    mutating func number() -> Int? {
        skipSpace()
        var (value, digits) = (0, 0)
        while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            digits += 1
            guard value <= 65535 else { return nil }
            rest.removeFirst()
        }
        return digits > 0 ? value : nil
    }

    /// The white space between the header and the samples.
    mutating func skipOne() -> Bool { rest.popFirst().map(Self.isSpace) ?? false }

    /// A sample in one or two bytes, the first one the higher.
    mutating func sample(isWide: Bool) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        guard isWide else { return Int(first) }
        return rest.popFirst().map { Int(first) << 8 | Int($0) }
    }

    private mutating func skipSpace() {
        while let byte = rest.first {
            if byte == UInt8(ascii: "#") {
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            } else if Self.isSpace(byte) {
                rest.removeFirst()
            } else {
                return
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
