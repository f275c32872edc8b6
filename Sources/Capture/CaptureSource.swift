/// Opens whatever `--device` names.
public enum CaptureSource {
    /// Opens a source, ready to be started.
    /// - Parameters:
    ///   - device: a camera's path, `test`, or the path of a `.y4m` file; nil for the first camera.
    ///   - isPaced: whether test pictures and files come in real time; nil for what is usual: the test
    ///     source does, a file does not.
    public static func open(
        _ device: String?, request: CaptureRequest, isPaced: Bool? = nil
    ) throws(CaptureError) -> any CaptureStream {
        switch device {
        case .some(let path)
        where !request.controls.isEmpty && (path == TestSource.name || isFile(path)):
            throw CaptureError(.unsupported("only cameras have controls; leave out --control"), device: path)
        case .some(let path)
        where (request.input ?? request.standard) != nil && (path == TestSource.name || isFile(path)):
            throw CaptureError(
                .unsupported("only cameras have inputs and standards; leave out --input and --standard"),
                device: path)
        case TestSource.name:
            return try TestSource(request, isPaced: isPaced ?? true)
        case .some(let path) where isFile(path):
            return try Y4MSource(path: path, request: request, isPaced: isPaced ?? false)
        case .some(let path):
            return try Camera(path: path).makeStream(request)
        case nil:
            return try Camera.first().makeStream(request)
        }
    }

    /// Whether a device's name means test pictures or a file, and no camera.
    public static func isBuiltIn(_ device: String) -> Bool { device == TestSource.name || isFile(device) }

    private static func isFile(_ path: String) -> Bool { path.lowercased().hasSuffix(".y4m") }
}
