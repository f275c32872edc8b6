import Bitstream
import NIOCore
import Output

/// Puts a camera's pictures into the containers that somebody watches, each once for all of its viewers. Used by one
/// thread.
final class ContainerSupply {
    private let name: String
    private var open: [LiveForm: (container: LiveContainer, start: ContainerStart?)] = [:]

    /// - Parameter name: the stream's, in messages.
    init(name: String) { self.name = name }

    /// Starts new containers: a header belongs to one format.
    func restart() { open.removeAll() }

    /// Frames a picture for viewers of a form; nil if they cannot begin with it.
    func picture(
        _ unit: AccessUnit, as form: LiveForm, _ facts: StreamFacts
    ) throws(OutputError) -> LivePicture? {
        guard let format = form.container else { return nil }
        if open[form] == nil {
            guard unit.isIDR, let description = StreamDescription(keyframe: unit) else { return nil }
            open[form] = (try LiveContainer(format, stream: description, name: name), nil)
        }
        guard let container = open[form]?.container else { return nil }
        let bytes = try container.frame(unit)
        let start =
            open[form]?.start
            ?? ContainerStart(
                prologue: ByteBuffer(bytes: container.prologue), contentType: form.contentType(of: facts))
        open[form]?.start = start
        return LivePicture(
            form: form, bytes: ByteBuffer(bytes: bytes), isKeyframe: unit.isIDR, container: start)
    }

    /// Ends a form's container, which nobody watches, or which failed.
    func close(_ form: LiveForm) { open[form] = nil }
}

extension StreamDescription {
    /// Describes a stream without reordering from a keyframe; nil if its parameter set cannot be read.
    fileprivate init?(keyframe: AccessUnit) {
        var sets = StreamParameterSets(codec: keyframe.codec)
        guard let set = keyframe.sequenceParameterSet, (try? sets.insert(set.span.bytes)) == true else {
            return nil
        }
        self.init(sets, reordering: 0)
    }
}
