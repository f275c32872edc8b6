import Acceleration
import Bitstream
import CVAAPI

/// Looks for a render node whose driver decodes.
enum DecodingGPU {
    /// The first that decodes every common profile of the standard, and why those ahead of it do not.
    static func find(
        _ acceleration: DecoderConfiguration.Acceleration, for codec: Codec
    ) -> (connection: VADisplayConnection?, reasons: [String]) {
        let nodes: [String]
        switch acceleration {
        case .none: return (nil, ["as asked for"])
        case .renderNode(let node): nodes = [node]
        case .automatic: nodes = RenderNode.all()
        }
        var reasons = nodes.isEmpty ? ["no render node in /dev/dri"] : []
        for node in nodes {
            do throws(RenderNodeError) {
                let connection = try VADisplayConnection(node: node)
                if try connection.decodes(codec) { return (connection, reasons) }
                reasons.append("\(node): its driver (\(connection.driver)) does not decode \(codec)")
            } catch {
                reasons.append(error.description)
            }
        }
        return (nil, reasons)
    }
}

extension VADisplayConnection {
    /// Whether the driver says that it decodes the profile that cameras' streams have.
    fileprivate func decodes(_ codec: Codec) throws(RenderNodeError) -> Bool {
        let profile = codec == .h264 ? VAProfileH264High : VAProfileHEVCMain
        return try DriverCall.run(on: node) { self.entryPoints(of: profile) }.contains(VAEntrypointVLD)
    }
}
