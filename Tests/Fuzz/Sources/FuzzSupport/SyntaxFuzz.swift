import Bitstream

/// Reads each NAL unit of an Annex B stream: every syntax element, and what elements and sets mean.
public func readSyntax(of stream: [UInt8], _ codec: Codec) {
    let bytes = stream.span.bytes
    var sets = StreamParameterSets(codec: codec)
    var scanner = NALUnitScanner()
    while let unit = scanner.next(in: bytes) {
        let nalUnit = bytes.extracting(unit.bytes)
        let structure = SyntaxStructure(nalUnit: nalUnit, codec: codec, parameterSets: sets)
        var end = 0
        for element in structure.elements {
            promise(element.bitOffset >= end, "elements come in stream order")
            end = element.bitOffset + element.bitCount
            _ = element.meaning(in: structure)
        }
        promise(end <= 8 * nalUnit.byteCount, "elements lie within the unit")
        readMessages(of: nalUnit, sets)
        let inserted = Result { try sets.insert(nalUnit) }
        if case .success(true) = inserted {
            promise(structure.error == nil, "a set that is taken is read whole")
        }
    }
    describe(sets)
}

/// Reads a unit as supplemental enhancement information, whatever it is.
private func readMessages(of nalUnit: RawSpan, _ sets: StreamParameterSets) {
    for message in SupplementalEnhancementInformation(nalUnit, parameterSets: sets).messages {
        promise(!message.name.isEmpty, "a message has a name")
        if case .unregisteredUserData(let data) = message.content { _ = (data.uuidText, data.text) }
        if case .registeredUserData(let data) = message.content { _ = data.kind }
    }
}

/// Evaluates everything that is derived from parameter sets: none of it may trap.
private func describe(_ sets: StreamParameterSets) {
    for set in sets.h264.sequence.values {
        _ = (set.width, set.height, set.codedWidth, set.codedHeight, set.frameRate, set.bitDepth)
        _ = (set.profileName, set.levelName, set.maxNumReorderFrames, set.maxDecodedPictureBufferFrames)
    }
    for set in sets.hevc.sequence.values {
        _ = (set.width, set.height, set.codingTreeBlockSize, set.pictureSizeInCodingTreeBlocks)
        _ = (set.frameRate, set.profileName, set.levelName, set.maxNumReorderPictures)
    }
}
