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
