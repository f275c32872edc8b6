import Glibc

/// The GPU device nodes that need no display server.
public enum RenderNode {
    /// The paths that exist, in the kernel's order.
    ///
    /// DRM numbers render nodes 128 … 191 (`drm_minor_alloc`); probing each path needs no permission to list
    /// the folder.
    public static func all() -> [String] {
        (128...191).map { "/dev/dri/renderD\($0)" }.filter { access($0, F_OK) == 0 }
    }
}

/// Why a render node cannot be used.
public struct RenderNodeError: Error, Sendable, Equatable {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        case notFound
        case permissionDenied
        /// The node exists, but no VA-API driver works on it. The payload says why.
        case noDriver(String)
        /// A call into its driver did not return.
        case hangs
    }

    /// The cause.
    public let kind: Kind
    /// The render node's path.
    public let node: String

    /// An error of a render node.
    public init(_ kind: Kind, node: String) {
        self.kind = kind
        self.node = node
    }

    /// Maps the errno of open(2).
    init(openingFailedWith code: Int32, node: String) {
        let kind: Kind =
            switch code {
            case ENOENT, ENODEV, ENXIO: .notFound
            case EACCES, EPERM: .permissionDenied
            default: .noDriver("open failed: \(String(cString: strerror(code)))")
            }
        self.init(kind, node: node)
    }
}

extension RenderNodeError: CustomStringConvertible {
    /// The node and the cause.
    public var description: String {
        switch kind {
        case .notFound: "\(node): no such render node"
        case .permissionDenied: "\(node): permission denied"
        case .noDriver(let detail): "\(node): no VA-API driver (\(detail))"
        case .hangs: "\(node): its driver is not responding"
        }
    }
}
