import CamAcceleration
import CamPlatform
import CamPictures
import CamConversion

/// Why an encoder could not be opened or failed. `description` is one line: thing, cause, next step.
public struct EncoderError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        /// No render node at all.
        case noRenderNode
        case nodeNotFound(String)
        case nodePermissionDenied(node: String, group: String?)
        /// The node opened, but no VA-API driver works on it.
        case noDriver(node: String, detail: String)
        /// A call into the node's driver, while an encoder was opened, did not return.
        case driverHangs(node: String)
        /// Properties that no encoder can combine.
        case contradiction(String)
        /// A property that the encoder does not support.
        case unsupported(String)
        /// libavcodec or the driver refused to open a session.
        case openFailed(encoder: String, detail: String)
        /// A picture could not be encoded.
        case encodeFailed(encoder: String, detail: String)
        /// A call into the driver does not return.
        case hung
        /// This picture's data is damaged; the next may be fine.
        case damagedPicture(String)
        /// A camera's own coded picture that cannot be decoded because no usable IDR precedes it.
        case beforeIDR
        /// None of the encoders tried works; one reason each.
        case noneUsable([String])
        /// Every encoder that opens has failed on its first picture: retrying is useless.
        case exhausted([String])
    }

    init(_ error: ConversionError) {
        self.init(error.concernsOneFrame ? .damagedPicture("\(error)") : .unsupported("\(error)"))
    }

    init(_ error: PictureRequestError) { self.init(.contradiction(error.description)) }

    /// Calls a function about a request, whose failure is an encoder's contradiction.
    static func mapping<Result>(_ request: () throws(PictureRequestError) -> Result) throws(EncoderError)
        -> Result
    {
        do throws(PictureRequestError) { return try request() } catch { throw EncoderError(error) }
    }

    init(_ error: RenderNodeError) {
        let node = error.node
        let kind: Kind =
            switch error.kind {
            case .notFound: .nodeNotFound(node)
            case .permissionDenied:
                .nodePermissionDenied(node: node, group: DeviceNode.owningGroup(of: node))
            case .noDriver(let detail): .noDriver(node: node, detail: detail)
            case .hangs: .driverHangs(node: node)
            }
        self.init(kind)
    }

    /// How a recording recovers from an error.
    public enum Recovery: Sendable, Equatable {
        case skipFrame
        /// Close the session and open a new one; its first frame is an IDR.
        case rebuildEncoder
        case stop
    }

    /// The cause.
    public let kind: Kind

    /// Creates an error of a kind.
    public init(_ kind: Kind) { self.kind = kind }

    /// How a recording recovers from this error.
    public var recovery: Recovery {
        switch kind {
        case .damagedPicture, .beforeIDR: .skipFrame
        case .encodeFailed, .hung: .rebuildEncoder
        default: .stop
        }
    }

    public var description: String {
        switch kind {
        case .noRenderNode:
            "no render node in /dev/dri: no GPU, or its kernel driver is not loaded; use --encoder software"
        case .nodeNotFound(let node):
            "\(node): no such render node; 'camrec devices' lists them"
        case .nodePermissionDenied(let node, let group):
            if let group {
                "\(node): permission denied; add your user to group '\(group)' and log in again"
            } else {
                "\(node): permission denied; check its permissions"
            }
        case .noDriver(let node, let detail):
            "\(node): no VA-API driver (\(detail)); install mesa-va-drivers or intel-media-va-driver"
        case .driverHangs(let node):
            "\(node): its driver is not responding; use another GPU's --render-node, or --encoder software"
        case .contradiction(let detail), .unsupported(let detail):
            detail
        case .openFailed(let encoder, let detail):
            "\(encoder) did not open: \(detail); \(Self.nextStep(encoder))"
        case .encodeFailed(let encoder, let detail):
            "\(encoder) failed: \(detail); \(Self.nextStep(encoder))"
        case .hung:
            "the GPU's driver hangs; try --encoder software, or another GPU's --render-node"
        case .damagedPicture(let detail):
            detail
        case .beforeIDR:
            "not decodable before the next IDR"
        case .noneUsable(let reasons), .exhausted(let reasons):
            "no usable encoder: \(reasons.joined(separator: "; "))"
        }
    }

    /// The next step after a failure; only a GPU's encoder has software as an alternative.
    private static func nextStep(_ encoder: String) -> String {
        [X264.name, X265.name].contains(encoder)
            ? "leave out coding options, or try another --size or --codec" : "try --encoder software"
    }

    /// The cause without a next step, for lines that say why an encoder was passed over or given up.
    public var reason: String {
        switch kind {
        case .nodePermissionDenied(let node, let group):
            "\(node): permission denied" + (group.map { " (only group '\($0)' has access)" } ?? "")
        case .noDriver(let node, let detail): "\(node): no VA-API driver (\(detail))"
        case .driverHangs(let node): "\(node): its driver is not responding"
        case .noRenderNode: "no render node in /dev/dri"
        case .openFailed(let encoder, let detail): "\(encoder) did not open: \(detail)"
        case .encodeFailed(let encoder, let detail): "\(encoder) failed: \(detail)"
        case .hung: "the GPU's driver hangs"
        default: description
        }
    }
}

extension VADisplayConnection {
    /// Opens the node, or throws an encoder error.
    convenience init(forEncodingOn node: String) throws(EncoderError) {
        do throws(RenderNodeError) {
            try self.init(node: node)
        } catch {
            throw EncoderError(error)
        }
    }

    /// Makes a call into the driver, or throws an encoder error if the call hangs.
    func encodingCall<Value>(_ call: @escaping () -> Value) throws(EncoderError) -> Value {
        do throws(RenderNodeError) {
            return try self.call(call)
        } catch {
            throw EncoderError(error)
        }
    }
}
