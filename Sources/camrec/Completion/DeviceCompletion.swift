import Capture
import CamPlatform

/// The values of `--device`.
enum DeviceCompletion {
    static func candidates(for prefix: String) -> [String] {
        VideoNode.all().filter(isCamera).compactMap { node in
            offered(of: names(of: node), for: prefix)
        } + [TestSource.name] + videoFiles(for: prefix)
    }

    /// Returns the first of a camera's names that has been begun and that no shell interprets.
    static func offered(of names: [String], for prefix: String) -> String? {
        names.first { $0.hasPrefix(prefix) && $0.isPlainWord }
    }

    /// A camera's names, the best first.
    private static func names(of node: String) -> [String] {
        [StableLink.find(for: node), StableLink.find(for: node, in: StableLink.ownFolder), node]
            .compactMap { $0 }
    }

    /// Whether a node is a camera, as far as that can be found out.
    private static func isCamera(_ node: String) -> Bool {
        do throws(CaptureError) {
            return try !Camera(path: node).formats.isEmpty
        } catch {
            if case .notACaptureDevice = error.kind { return false }
            return true
        }
    }

    /// The `.y4m` files, and the folders on the way to one.
    private static func videoFiles(for prefix: String) -> [String] {
        guard !prefix.hasPrefix("/dev/") else { return [] }
        let parent = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        return Folder.names(in: parent.isEmpty ? "." : parent).sorted().compactMap { name in
            guard !name.hasPrefix("."), (parent + name).hasPrefix(prefix) else { return nil }
            if CaptureSource.isBuiltIn(name) { return parent + name }
            return prefix.isEmpty || !Folder.exists(parent + name) ? nil : parent + name + "/"
        }
    }
}
