import CamConversion
import CamPictures
import CamPlatform

/// Converts each of a source's pictures once, for renditions of several sizes: the result is planar 4:2:0 in
/// ordinary memory, which a software encoder of the full size reads in place, and from which all others are
/// scaled.
///
/// What concerns the whole picture happens here: decoding, hiding, cropping, thumbnails. Turning, scaling, text
/// and the encoder's colors follow for each size (`PictureTreatment.ofRendition`).
///
/// Belongs to the session's thread; others may fill its slots. Nothing is allocated for a picture.
package final class SourceConversion {
    /// The format of the converted pictures.
    package let format: PictureFormat
    /// The latest picture's thumbnail, valid until its slot is opened for another; nil if thumbnails are off.
    private(set) var thumbnail: LumaThumbnail?

    private let converters: PictureTreatment.Converters
    private var places: [Place] = []

    /// - Parameters:
    ///   - treatment: the part that is shared (`PictureTreatment.shared`).
    ///   - former: the format of an earlier conversion of the same source, which encoders were opened for.
    init(
        _ source: PictureFormat, treatment: PictureTreatment, former: PictureFormat? = nil
    ) throws(EncoderError) {
        converters = try EncoderError.mapping { () throws(PictureRequestError) in
            try treatment.converters(of: source, layout: .i420, color: source.color)
        }
        let size = try EncoderError.mapping { () throws(PictureRequestError) in
            try treatment.framing.size(of: source.size)
        }
        guard let format = former ?? Self.format(of: source, size: size) else {
            throw EncoderError(.unsupported("pictures of \(size) cannot be planar"))
        }
        self.format = format
        // Throws now if the format cannot be converted.
        _ = try place(0)
    }

    deinit { for place in places { place.slot.close() } }

    /// The rows of all planes begin at multiples of 64 bytes, which suits the encoders' vector code.
    private static func format(of source: PictureFormat, size: PictureSize) -> PictureFormat? {
        PictureFormat(
            .yuv420, size: size, frameRate: source.frameRate, color: source.color,
            chromaSiting: source.chromaSiting, pixelAspect: source.pixelAspect,
            isInterlaced: source.isInterlaced, strides: [(size.width + 127) & ~127])
    }

    /// Returns the converted picture, with the number and time of the source's. It is valid until two more
    /// pictures were taken from the same slot.
    /// - Parameter number: the slot that may hold it already.
    func take(_ buffer: borrowing PixelBuffer, in number: Int) throws(EncoderError) -> PixelBuffer {
        buffer.keepMapped(true)
        let place = try place(number)
        place.open()
        do throws(ConversionError) { try place.slot.take(buffer) } catch { throw EncoderError(error) }
        thumbnail = place.slot.thumbnail
        return place.picture(of: buffer)
    }

    /// Returns a slot that is open for a later picture; nil without memory.
    func slot(_ number: Int) -> ConversionSlot? {
        guard let place = try? place(number) else { return nil }
        place.open()
        return place.slot
    }

    private func place(_ number: Int) throws(EncoderError) -> Place {
        while places.count <= number {
            let converter: PixelConverter
            do throws(ConversionError) { converter = try converters.next() } catch {
                throw EncoderError(error)
            }
            guard let place = try? Place(ConversionSlot(converter), format) else {
                throw EncoderError(.openFailed(encoder: "the shared conversion", detail: "out of memory"))
            }
            places.append(place)
        }
        return places[number]
    }

    /// A slot and its memory: two pictures, because one is converted while the encoders read the previous one.
    private final class Place {
        let slot: ConversionSlot
        private let format: PictureFormat
        private let pool: PixelBufferPool
        /// The first byte of each picture; `pool` owns them.
        private let starts: [UnsafeMutablePointer<UInt8>]
        /// Which of the two pictures the slot was opened on last.
        private var index = 1

        init(_ slot: ConversionSlot, _ format: PictureFormat) throws(PixelBufferPoolError) {
            (self.slot, self.format) = (slot, format)
            let length = format.minimumLengths[0]
            let pool = try PixelBufferPool.allocated(count: 2, length: length)
            self.pool = pool
            starts = (0..<pool.count).compactMap {
                pool.memory(ofBuffer: $0, plane: 0).assumingMemoryBound(to: UInt8.self).baseAddress
            }
            guard starts.count == pool.count else { throw .noMemory(pictureLength: length) }
        }

        func open() {
            guard !slot.isOpen else { return }
            index = 1 - index
            slot.open(on: surface)
        }

        private var surface: PictureSurface {
            func plane(_ number: Int) -> PictureSurface.Plane {
                let plane = format.planes[number]
                return PictureSurface.Plane(starts[index] + plane.offset, stride: plane.stride)
            }
            return PictureSurface(
                size: format.size, luma: plane(0), chroma: .separate(cb: plane(1), cr: plane(2)))
        }

        func picture(of buffer: borrowing PixelBuffer) -> PixelBuffer {
            var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
            payloads[0].length = format.minimumLengths[0]
            var picture = PixelBuffer(
                pool: pool, index: index, payloads: payloads, format: format, sequence: buffer.sequence,
                timestamp: buffer.timestamp)
            picture.run = buffer.run
            return picture
        }
    }
}

extension PictureTreatment {
    /// What happens once to pictures that are recorded in several sizes.
    var shared: PictureTreatment {
        var treatment = PictureTreatment()
        (treatment.privacy, treatment.framing.crop) = (privacy, framing.crop)
        treatment.leavesThumbnails = leavesThumbnails
        return treatment
    }

    /// What then happens for each size.
    var ofRendition: PictureTreatment {
        var treatment = self
        (treatment.privacy, treatment.framing.crop, treatment.leavesThumbnails) = (nil, nil, false)
        return treatment
    }
}
