import CamAcceleration
import Bitstream
import CFFmpeg
import CVAAPI

/// Finds a render node whose driver can decode.
enum DecodingGPU {
    /// The result of the search.
    struct Finding {
        /// The first node whose driver decodes the common profile of the standard; nil if there is none.
        var connection: VADisplayConnection?
        /// Why the nodes before it are not used.
        var reasons: [String] = []
        /// Whether a thread hangs in a driver.
        var hasHungThread = false
    }

    /// Searches the nodes.
    static func find(_ acceleration: DecoderConfiguration.Acceleration, for codec: Codec) -> Finding {
        let nodes: [String]
        switch acceleration {
        case .none: return Finding(reasons: ["as requested"])
        case .renderNode(let node): nodes = [node]
        case .automatic: nodes = RenderNode.all()
        }
        var finding = Finding(reasons: nodes.isEmpty ? ["no render node in /dev/dri"] : [])
        for node in nodes {
            do throws(RenderNodeError) {
                let connection = try VADisplayConnection(node: node)
                guard try connection.decodes(codec) else {
                    finding.reasons.append(
                        "\(node): its driver (\(connection.driver)) does not decode \(codec)")
                    continue
                }
                if acceleration == .automatic, !isProven(codec, connection.driver) {
                    finding.reasons.append(
                        "\(node): \(codec) has not been tried with its driver (\(connection.driver)); "
                            + "--decoder \(node) uses it")
                    continue
                }
                finding.connection = connection
                return finding
            } catch {
                finding.reasons.append(error.description)
                if case .hangs = error.kind { finding.hasHungThread = true }
            }
        }
        return finding
    }

    /// False for H.265 with Intel's iHD, whose pictures have never been compared with those of software: the
    /// emulated GPU of the lab cannot decode them, because the commands of the driver lack parts of the slice
    /// headers.
    private static func isProven(_ codec: Codec, _ driver: String) -> Bool {
        codec == .h264 || !driver.contains("iHD")
    }
}

extension VADisplayConnection {
    /// Makes a call into the driver; throws a decoder error if the driver hangs.
    func decodingCall<Value>(_ call: @escaping () -> Value) throws(DecoderError) -> Value {
        do throws(RenderNodeError) {
            return try self.call(call)
        } catch {
            throw DecoderError(.driverHangs(node: node))
        }
    }

    /// Whether the driver claims to decode the profile that camera streams usually have.
    fileprivate func decodes(_ codec: Codec) throws(RenderNodeError) -> Bool {
        let profile = codec == .h264 ? VAProfileH264High : VAProfileHEVCMain
        return try call { self.entryPoints(of: profile) }.contains(VAEntrypointVLD)
    }
}
