import Bitstream
import CamPictures
import Testing
import CamPlatform

@testable import Decoder
@testable import Encoder

/// Real libavcodec decoders, in software.
@Suite struct DecompressionSessionTests {
    @Test("decodes to the same pictures for chunks of any size", arguments: Codec.allCases)
    func chunks(codec: Codec) throws {
        let stream = try CodedFilm(codec: codec).accessUnits(25).flatMap { $0 }
        let whole = try Receiver.receive(stream, codec)
        #expect(whole.numbers == Array(0..<25))
        #expect(Set(whole.pictures.map { $0.planes[0] }).count > 20)
        for chunkLength in [1, 2, 3, 7, 64, 1000, 4096] {
            let receiver = try Receiver.receive(stream, codec, chunkLength: chunkLength)
            #expect(receiver.pictures == whole.pictures)
            #expect(receiver.bytes == stream)
        }
    }

    @Test("a picture is there as soon as the next one begins", arguments: Codec.allCases)
    func delay(codec: Codec) throws {
        let receiver = Receiver(codec)
        for (index, unit) in try CodedFilm(codec: codec).accessUnits(15).enumerated() {
            // The header of a picture's first slice suffices.
            try receiver.take(Array(unit.prefix(index == 0 ? unit.count : 60)))
            #expect(receiver.pictures.count == index)
            if index > 0 { try receiver.take(Array(unit.dropFirst(60))) }
        }
        try receiver.finish()
        #expect(receiver.pictures.count == 15)
    }

    @Test("delivers a picture at once if the stream pauses after it")
    func anticipation() throws {
        let units = try CodedFilm(codec: .h264).accessUnits(25)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264)
        let receiver = Receiver(.h264)
        for (index, unit) in units.enumerated() {
            try receiver.take(unit)
            // What the first one needs for decoding is not known before it is complete.
            #expect(receiver.pictures.count == index)
            try receiver.rest()
            #expect(receiver.pictures.count == (index == 0 ? 0 : index + 1))
        }
        try receiver.finish()
        #expect(receiver.pictures == whole.pictures)
        #expect(receiver.bytes == units.flatMap { $0 })
        #expect(receiver.decoder.counters == whole.decoder.counters)
    }

    @Test(
        "a rest within a picture costs nothing, and hardly ever shows a part of it", arguments: [0, 10, 13])
    func wrongAnticipation(number: Int) throws {
        let units = try CodedFilm(codec: .h264).accessUnits(25)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264)
        let lengths = Array(stride(from: 1, to: units[number].count, by: max(1, units[number].count / 30)))
        var wrongCount = 0
        for length in lengths {
            let receiver = Receiver(.h264)
            for (index, unit) in units.enumerated() {
                try receiver.take(Array(unit.prefix(index == number ? length : unit.count)))
                try receiver.rest()
                if index == number { try receiver.take(Array(unit.dropFirst(length))) }
            }
            try receiver.finish()
            #expect(receiver.numbers == whole.numbers)
            #expect(receiver.decoder.counters == whole.decoder.counters)
            let differing = whole.numbers.filter { receiver.pictures[$0] != whole.pictures[$0] }
            #expect(differing.isEmpty || differing == [number], "cut after \(length) bytes")
            wrongCount += differing.count
        }
        // Accepted by libavcodec as complete, although the end is missing.
        #expect(wrongCount * 10 <= lengths.count)
    }

    /// The CAVLC decoder accepts many truncated slices as complete, and keeps data that it did not use: also of
    /// the last block, after which it misses nothing.
    @Test("a pause within a picture leaves no trace in later ones", arguments: 1...24)
    func restsOfSlices(bytes: Int) throws {
        let units = try CodedFilm(codec: .h264, keyframeInterval: 30, entropyMode: .cavlc).accessUnits(60)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264)
        let receiver = Receiver(.h264)
        var cut: Set<Int> = []
        for (index, unit) in units.enumerated() {
            // Once in each group, because each mistake costs later groups their anticipation.
            let isCut = index % 30 == 5 + bytes % 20
            let length = isCut ? unit.count - bytes : unit.count
            if isCut { cut.insert(index) }
            try receiver.take(Array(unit.prefix(length)))
            try receiver.rest()
            if isCut { try receiver.take(Array(unit.dropFirst(length))) }
        }
        try receiver.finish()
        #expect(receiver.numbers == whole.numbers)
        let differing = whole.numbers.filter { receiver.pictures[$0] != whole.pictures[$0] }
        #expect(cut.isSuperset(of: differing), "\(differing)")
    }

    @Test("a damaged slice leaves no trace after the next keyframe")
    func damageEnds() throws {
        let units = try CodedFilm(codec: .h264, entropyMode: .cavlc).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264)
        for percent in [50, 60, 70, 80, 90, 95] {
            var damaged = units
            damaged[13].removeLast(units[13].count * (100 - percent) / 100)
            let receiver = try Receiver.receive(damaged.flatMap { $0 }, .h264)
            let last = receiver.pictures.suffix(10)
            #expect(last.map(\.planes) == whole.pictures[20...].map(\.planes), "cut to \(percent) %")
        }
    }

    @Test(
        "losing the first slice of an H.265 picture loses only that picture",
        .enabled(if: X265.maximumSlices(PictureSize(320, 256)!) > 1, "this libx265 makes one slice a picture")
    )
    func firstSegment() throws {
        let units = try CodedFilm(codec: .hevc, width: 320, height: 256, slices: 4).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, .hevc)
        for number in [13, 14] {
            var damaged = units
            let lost = damaged[number].count - (try damaged[number].lastUnitLength) - 4
            try #require(lost > 0, "its slices are \(units[number].count) bytes")
            damaged[number].removeFirst(lost)
            let receiver = try Receiver.receive(damaged.flatMap { $0 }, .hevc)
            #expect(receiver.decoder.counters.received == 30)
            #expect(receiver.decoder.counters.losses == 1)
            #expect(receiver.decoder.counters.isBalanced)
            let expected = whole.pictures[..<number] + whole.pictures[20...]
            #expect(receiver.pictures.map(\.planes) == expected.map(\.planes))
        }
    }

    @Test("a stream that pauses after every chunk decodes to the same pictures", arguments: Codec.allCases)
    func rests(codec: Codec) throws {
        let stream = try CodedFilm(codec: codec).accessUnits(25).flatMap { $0 }
        let whole = try Receiver.receive(stream, codec)
        for chunkLength in [1, 64, 1000, 4096] {
            let receiver = Receiver(codec)
            for start in Swift.stride(from: 0, to: stream.count, by: chunkLength) {
                try receiver.take(Array(stream[start..<min(start + chunkLength, stream.count)]))
                try receiver.rest()
            }
            try receiver.finish()
            #expect(receiver.pictures == whole.pictures)
            #expect(receiver.decoder.counters == whole.decoder.counters)
        }
    }

    @Test("a damaged picture is a loss, whether or not the stream pauses after it")
    func anticipatedDamage() throws {
        var units = try CodedFilm(codec: .h264).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264)
        units[13].removeLast(units[13].count / 2)
        let receiver = Receiver(.h264)
        for unit in units {
            try receiver.take(unit)
            try receiver.rest()
        }
        try receiver.finish()
        #expect(
            receiver.pictures.map(\.planes) == (whole.pictures[..<13] + whole.pictures[20...]).map(\.planes))
        #expect(receiver.decoder.counters.losses == 1)
    }

    @Test("nothing is decoded before the first IDR", arguments: Codec.allCases)
    func beginning(codec: Codec) throws {
        let units = try CodedFilm(codec: codec).accessUnits(25)
        let whole = try Receiver.receive(units.flatMap { $0 }, codec)
        let receiver = try Receiver.receive(units[3...].flatMap { $0 }, codec)
        #expect(receiver.pictures.map(\.planes) == whole.pictures[10...].map(\.planes))
        #expect(receiver.decoder.counters.beforeEntry == 7)
        #expect(receiver.decoder.counters.losses == 0)
    }

    @Test("delivers nothing after a lost picture until the next IDR", arguments: Codec.allCases)
    func freeze(codec: Codec) throws {
        var units = try CodedFilm(codec: codec).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, codec)
        units.remove(at: 14)
        let receiver = try Receiver.receive(units.flatMap { $0 }, codec)
        let expected = whole.pictures[..<14] + whole.pictures[20...]
        #expect(receiver.pictures.map(\.planes) == expected.map(\.planes))
        #expect(receiver.decoder.counters.losses == 1)
        #expect(receiver.decoder.counters.frozen == 5)
    }

    @Test("or, on request, delivers whatever libavcodec produces", arguments: Codec.allCases)
    func show(codec: Codec) throws {
        var units = try CodedFilm(codec: codec).accessUnits(30)
        units.remove(at: 14)
        let receiver = try Receiver.receive(units.flatMap { $0 }, codec) { $0.lossPolicy = .show }
        #expect(receiver.pictures.count == 29)
        #expect(receiver.decoder.counters.losses > 0)
        #expect(receiver.decoder.counters.frozen == 0)
    }

    @Test("a damaged slice is a loss, even in an IDR", arguments: Codec.allCases, [10, 13])
    func damage(codec: Codec, number: Int) throws {
        var units = try CodedFilm(codec: codec).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, codec)
        switch codec {
        case .h264: units[number].removeLast(units[number].count / 2)
        // Only the beginning of the slice header is left: libavcodec notices missing data after it only with
        // wavefronts, which x265 uses on several processors.
        case .hevc: units[number].removeLast(try units[number].lastUnitLength - 3)
        }
        let receiver = try Receiver.receive(units.flatMap { $0 }, codec)
        let expected = whole.pictures[..<number] + whole.pictures[20...]
        #expect(receiver.pictures.map(\.planes) == expected.map(\.planes))
        #expect(receiver.decoder.counters.losses == 1)
    }

    @Test("a damaged B picture is not shown in place of one that was held back", arguments: 11..<20)
    func damagedOrder(number: Int) throws {
        var units = try CodedFilm(codec: .h264, bFrames: 2).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264).pictures.map(\.planes)
        units[number].removeLast(units[number].count / 2)
        let receiver = try Receiver.receive(units.flatMap { $0 }, .h264)
        #expect(receiver.pictures.allSatisfy { whole.contains($0.planes) })
        #expect(receiver.decoder.counters.losses == 1)
    }

    @Test("a missing slice is a loss", arguments: [10, 13])
    func missingSlice(number: Int) throws {
        var units = try CodedFilm(codec: .h264, slices: 3).accessUnits(30)
        let whole = try Receiver.receive(units.flatMap { $0 }, .h264)
        #expect(whole.decoder.counters.losses == 0)
        // The last of them.
        units[number].removeLast(try units[number].lastUnitLength + 3)
        let receiver = try Receiver.receive(units.flatMap { $0 }, .h264)
        let expected = whole.pictures[..<number] + whole.pictures[20...]
        #expect(receiver.pictures.map(\.planes) == expected.map(\.planes))
        #expect(receiver.decoder.counters.losses == 1)
        let loss = receiver.decoder.lastLoss ?? ""
        #expect(loss.hasPrefix("parts of a picture are missing"))
    }

    @Test(
        "a parameter set that refers to a missing one costs only pictures up to the next IDR",
        arguments: Codec.allCases, [0, 4])
    func orphan(codec: Codec, number: Int) throws {
        var units = try CodedFilm(codec: codec).accessUnits(15)
        let whole = try Receiver.receive(units.flatMap { $0 }, codec)
        // A picture parameter set with the id 5, of the sequence parameter set 3.
        let header: [UInt8] = codec == .h264 ? [0x68] : [0x44, 0x01]
        units[number] = [0, 0, 0, 1] + header + [0x31, 0x20, 0x80] + units[number]
        let receiver = try Receiver.receive(units.flatMap { $0 }, codec)
        let expected = whole.pictures[..<number] + whole.pictures[10...]
        #expect(receiver.pictures.map(\.planes) == expected.map(\.planes))
    }

    @Test("new parameter sets open a new decoder", arguments: Codec.allCases)
    func parameterSetChange(codec: Codec) throws {
        let small = try CodedFilm(codec: codec).accessUnits(12).flatMap { $0 }
        let large = try CodedFilm(codec: codec, width: 192, height: 160).accessUnits(12).flatMap { $0 }
        let receiver = try Receiver.receive(small + large + small, codec)
        let widths = [128, 192, 128].flatMap { Array(repeating: $0, count: 12) }
        #expect(receiver.pictures.map(\.width) == widths)
        #expect(receiver.decoder.counters.losses == 0)
        let planes = receiver.pictures.map(\.planes)
        #expect(planes[..<12] == planes[24...])
    }

    @Test(
        "each picture carries its time of arrival, however it was reordered", arguments: Codec.allCases,
        [0, 2])
    func arrival(codec: Codec, bFrames: Int) throws {
        let units = try CodedFilm(codec: codec, bFrames: bFrames).accessUnits(25)
        let receiver = Receiver(codec) { $0.delay = .safe }
        for (index, unit) in units.enumerated() {
            try receiver.take(unit, arrival: Instant(nanoseconds: Int64(1000 + index)))
        }
        try receiver.finish()
        #expect(receiver.pictures.count == 25)
        #expect(receiver.pictures.allSatisfy { $0.arrival == Instant(nanoseconds: Int64(1000 + $0.number)) })
        #expect((receiver.numbers != receiver.numbers.sorted()) == (bFrames > 0))
    }

    @Test("an interrupted stream continues at the next IDR", arguments: Codec.allCases)
    func cancellation(codec: Codec) throws {
        let units = try CodedFilm(codec: codec).accessUnits(20)
        let receiver = Receiver(codec)
        for unit in units[..<5] { try receiver.take(unit) }
        receiver.assembler.abandon()
        for unit in units[7...] { try receiver.take(unit) }
        try receiver.finish()
        // Pictures 0 to 3 had ended; 7 to 9 have nothing to refer to.
        #expect(receiver.pictures.count == 4 + 10)
    }

    @Test("libavcodec refuses a picture larger than allowed, and nothing comes of it")
    func largePicture() throws {
        let stream = try CodedFilm(codec: .h264).accessUnits(5).flatMap { $0 }
        let receiver = try Receiver.receive(stream, .h264) { $0.maximumSampleCount = 64 * 64 }
        #expect(receiver.pictures.isEmpty)
        #expect(receiver.decoder.counters.losses > 0)
    }

    @Test("without a render node, decodes in software, and says why")
    func fallback() throws {
        let stream = try CodedFilm(codec: .h264).accessUnits(5).flatMap { $0 }
        let receiver = try Receiver.receive(stream, .h264) { $0.acceleration = .renderNode("/dev/dri/none") }
        #expect(receiver.pictures.count == 5)
        #expect(receiver.decoder.renderNode == nil)
        #expect(receiver.decoder.softwareReasons == ["/dev/dri/none: no such render node"])
    }
}
