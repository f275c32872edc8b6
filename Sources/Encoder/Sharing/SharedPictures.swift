import CFFmpeg
import CVAAPI
import CamAcceleration
import CamPictures
import Glibc
import CamConversion

/// Decides, picture by picture, whether an encoder reads the picture in the camera's memory or gets a copy.
///
/// Whenever a camera has new buffers, pictures are read back from the GPU and compared with the processor's
/// view until one comparison is conclusive.
final class SharedPictures {
    private let connection: VADisplayConnection
    private let format: PictureFormat
    private let record: SharingRecord
    private let verdict: SharingVerdict
    /// Surfaces in the camera's memory, one for each buffer.
    private var imported: [Import] = []
    /// Reads surfaces of the camera's size.
    private let reader: SurfaceWriter
    /// Converts the camera's pictures to NV12; nil if they are NV12 already.
    private var conversion: SharedConversion?

    private struct Import {
        let memory: DMABuffer
        let offset: Int
        let surface: SharedSurface
    }

    /// - Parameters:
    ///   - session: identifies the encoders in the record.
    ///   - conversion: an open conversion of the format on this connection, or nil.
    init(
        of format: PictureFormat, on connection: VADisplayConnection, way: ZeroCopyMode,
        record: SharingRecord, session: InputSession, conversion: SharedConversion?
    ) {
        (self.connection, self.format, self.conversion) = (connection, format, conversion)
        self.record = record
        verdict = SharingVerdict(way, record, session)
        imported.reserveCapacity(PixelBufferPool.maximumCount)
        reader = SurfaceWriter(connection: connection, size: format.size, method: .auto)
    }

    /// Whether the next picture will probably be shared. It then needs no copy ahead of time.
    var isLikely: Bool { verdict.isLikely }

    /// Gives a frame the picture's surface, or the surface that the GPU converts it into. Call it in the
    /// encode thread.
    /// - Returns: false if the picture must be copied.
    func take(
        _ buffer: borrowing PixelBuffer, into frame: UnsafeMutablePointer<AVFrame>
    ) throws(EncoderError) -> Bool {
        guard let (surface, memory) = try surface(of: buffer) else { return false }
        let id: VASurfaceID
        if format.pixelFormat != .nv12 {
            if conversion == nil { conversion = try SharedConversion(of: format, on: connection) }
            guard let conversion else {
                try verdict.giveUp("the GPU's driver does not convert \(format.pixelFormat)")
                return false
            }
            switch try conversion.convert(surface, into: frame) {
            case .success(let target): id = target
            case .failure(let refusal):
                try verdict.giveUp("the GPU does not convert the camera's pictures: \(refusal.reason)")
                return false
            }
        } else {
            id = surface.id
            try hold(surface, in: frame)
        }
        if verdict.isOpen {
            let result = try comparison(of: id, buffer)
            do throws(EncoderError) { try verdict.follow(result) } catch {
                av_frame_unref(frame)
                throw error
            }
            guard verdict.isLikely else {
                av_frame_unref(frame)
                return false
            }
            if !verdict.isOpen { buffer.keepMapped(false) }
        }
        record.countShared(memory)
        return true
    }

    /// Makes a frame an owner of a surface.
    private func hold(_ surface: SharedSurface, in frame: UnsafeMutablePointer<AVFrame>) throws(EncoderError)
    {
        frame.pointee.buf.0 = surface.reference()
        guard frame.pointee.buf.0 != nil else {
            throw EncoderError(
                .encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "out of memory"))
        }
        frame.pointee.data.3 = UnsafeMutablePointer(bitPattern: UInt(surface.id))
        frame.pointee.format = AV_PIX_FMT_VAAPI.rawValue
    }

    /// Returns the surface in the picture's memory; nil if the picture must be copied.
    private func surface(
        of buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> (SharedSurface, SharingOutcome.Memory)? {
        guard buffer.format === format else { return nil }
        // A reopened encoder may take over this object, while a reopened camera has other buffers.
        let shared = buffer.shared
        if verdict.begin(shared?.pool) { imported.removeAll(keepingCapacity: true) }
        guard try verdict.allowsUse(isShared: shared != nil), let picture = shared else { return nil }
        if let own = picture.memory.owner as? SharedSurface, own.connection === connection,
            picture.offset == 0
        {
            return (own, .gpu)
        }
        switch importing(picture) {
        case .success(let imported): return (imported, .camera)
        case .failure(let refusal):
            try verdict.giveUp("the GPU does not take the camera's memory: \(refusal.reason)")
            return nil
        }
    }

    private func importing(_ picture: SharedPicture) -> Result<SharedSurface, SharedSurface.Refusal> {
        let known = imported.first { $0.memory === picture.memory && $0.offset == picture.offset }
        if let known { return .success(known.surface) }
        // The camera's driver moves its pictures within the memory.
        if imported.count == PixelBufferPool.maximumCount { imported.removeFirst() }
        let result = SharedSurface.make(in: picture.memory, at: picture.offset, format, on: connection)
        if case .success(let surface) = result {
            imported.append(Import(memory: picture.memory, offset: picture.offset, surface: surface))
        }
        return result
    }

    /// Compares the GPU's view of a picture, in NV12, with the processor's.
    /// - Returns: nil if the surface cannot be read back.
    private func comparison(
        of surface: VASurfaceID, _ buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> SharedComparison.Result? {
        record.countCompared(bytes: format.minimumLengths.reduce(0, +))
        var result = SharedComparison.Result?.none
        _ = try reader.read(from: surface) { seen in
            // The processor reads after the GPU: its access may write back caches and make a picture visible
            // that the GPU would not have seen.
            var planes: [UnsafeRawBufferPointer] = []
            for number in format.planes.indices { planes.append(buffer.plane(number)) }
            var comparison = SharedComparison(format, planes)
            result = comparison.result(of: seen)
        }
        return result
    }
}

/// Compares a GPU's view of a picture, in NV12, with the camera's data: byte for byte, except for the chroma
/// of packed 4:2:2, which the conversion halves.
///
/// Rows are copied before the comparison, because a GPU's memory may be slow to read.
struct SharedComparison {
    enum Result: Hashable {
        /// The pictures agree. The comparison is telling if the picture has light and dark parts, and colors.
        case same(isTelling: Bool)
        case different
    }

    private let format: PictureFormat
    private let planes: [UnsafeRawBufferPointer]
    private var upper: [UInt8]
    private var lower: [UInt8]
    private var seen: [UInt8]
    private var luma = Range()
    private var chroma = (first: Range(), second: Range())
    /// The sum of differences between halved chroma and the mean of two rows.
    private var differences = 0

    /// The maximum difference of a sample, and of the mean.
    private static let tolerance = (each: 2, mean: 0.5)

    /// The step between bytes sampled for the picture's contrast; even, because chroma comes in pairs.
    private static let sampling = 8

    /// The smallest and the largest sample of a plane.
    private struct Range {
        private static let telling = 16
        private var (least, most) = (UInt8.max, UInt8.min)

        mutating func add(_ value: UInt8) { (least, most) = (min(least, value), max(most, value)) }

        var varies: Bool { Int(most) - Int(least) >= Self.telling }
    }

    /// - Parameter planes: a picture's planes, which the caller keeps valid.
    init(_ format: PictureFormat, _ planes: [UnsafeRawBufferPointer]) {
        (self.format, self.planes) = (format, planes)
        let rowBytes = format.planes.map(\.rowBytes).max() ?? 0
        upper = [UInt8](repeating: 0, count: rowBytes)
        (lower, seen) = (upper, upper)
    }

    /// Compares the camera's picture with the GPU's view.
    mutating func result(of surface: SurfaceWriter.Planes) -> Result {
        let isSame =
            switch format.pixelFormat.arrangement {
            case .packed422(.yuyv): isNearly(surface, lumaFirst: true)
            case .packed422(.uyvy): isNearly(surface, lumaFirst: false)
            default: isEqual(surface)
            }
        guard isSame else { return .different }
        return .same(isTelling: luma.varies && chroma.first.varies && chroma.second.varies)
    }

    private mutating func isEqual(_ surface: SurfaceWriter.Planes) -> Bool {
        guard planes.count == 2, format.planes.count == 2 else { return false }
        for row in 0..<format.planes[0].rows {
            take(row, of: 0, into: &upper)
            take(row, of: surface.luma)
            guard isSame(format.planes[0].rowBytes) else { return false }
            for column in stride(from: 0, to: format.planes[0].rowBytes, by: Self.sampling) {
                luma.add(upper[column])
            }
        }
        for row in 0..<format.planes[1].rows {
            take(row, of: 1, into: &upper)
            take(row, of: surface.chroma)
            guard isSame(format.planes[1].rowBytes) else { return false }
            for column in stride(from: 0, to: format.planes[1].rowBytes - 1, by: Self.sampling) {
                chroma.first.add(upper[column])
                chroma.second.add(upper[column + 1])
            }
        }
        return true
    }

    private mutating func isNearly(_ surface: SurfaceWriter.Planes, lumaFirst: Bool) -> Bool {
        guard planes.count == 1 else { return false }
        let (width, height) = (format.size.width, format.size.height)
        let (lumaPlace, chromaPlace) = lumaFirst ? (0, 1) : (1, 0)
        for row in stride(from: 0, to: height - 1, by: 2) {
            take(row, of: 0, into: &upper)
            take(row + 1, of: 0, into: &lower)
            take(row, of: surface.luma)
            for column in 0..<width {
                guard upper[2 * column + lumaPlace] == seen[column] else { return false }
                luma.add(seen[column])
            }
            take(row + 1, of: surface.luma)
            for column in 0..<width where lower[2 * column + lumaPlace] != seen[column] { return false }
            take(row / 2, of: surface.chroma)
            for column in 0..<width {
                let (above, below) = (upper[2 * column + chromaPlace], lower[2 * column + chromaPlace])
                let difference = abs(Int(seen[column]) - (Int(above) + Int(below) + 1) / 2)
                guard difference <= Self.tolerance.each else { return false }
                differences += difference
                if column % 2 == 0 { chroma.first.add(above) } else { chroma.second.add(above) }
            }
        }
        return Double(differences) <= Self.tolerance.mean * Double(width * height / 2)
    }

    /// Whether the rows copied last are equal.
    private func isSame(_ count: Int) -> Bool { memcmp(upper, seen, count) == 0 }

    /// Copies a row of the camera's picture.
    private func take(_ row: Int, of number: Int, into copy: inout [UInt8]) {
        let place = format.planes[number]
        let bytes = planes[number][row * place.stride..<row * place.stride + place.rowBytes]
        copy.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes)) }
    }

    /// Copies a row of the GPU's surface.
    private mutating func take(_ row: Int, of plane: PictureSurface.Plane) {
        let count = format.size.width
        seen.withUnsafeMutableBytes {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: plane.base + row * plane.stride, count: count))
        }
    }
}
