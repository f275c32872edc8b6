import Capture
import CamPlatform
import CamNetworking
import Output
import CamRecorder

extension RecordCommand {
    /// Throws the errors that a recording would encounter later, if they can be detected before opening a
    /// device or creating a file.
    /// - Parameter time: for the dates in names.
    func preflight(at time: WallTime) throws(RecordingError) {
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(source.device, request: source.request)
        } catch { throw .capture(error) }
        do throws(NetworkError) {
            for path in socketPaths { try PathListener.refuseUnusable(path) }
        } catch { throw .output(OutputError(.network(error), output: error.address)) }
        _ = try motion.plan(crop: picture.framing.crop)
        do throws(OutputError) { try refusePlacesUsedTwice(at: time) } catch { throw .output(error) }
    }

    private var socketPaths: [String] {
        var paths = [live.controlSocket?.path].compactMap { $0 }
        if case .path(let path, _)? = live.listen { paths.append(path) }
        return paths
    }

    private func refusePlacesUsedTwice(at time: WallTime) throws(OutputError) {
        var uses: [FilePlace: String] = [:]
        for (path, use) in places(at: time) {
            // Data written to /dev/null cannot mix; standard output has its own rules.
            guard path != FileSink.standardOutput, FileIdentity(path: path) != FileIdentity(path: "/dev/null")
            else { continue }
            if let earlier = uses.updateValue(use, forKey: FilePlace(path)) {
                throw OutputError(.usedTwice(earlier), output: path)
            }
        }
    }

    /// Returns each name with its use: first files to read, then files to write.
    private func places(at time: WallTime) -> [(path: String, use: String)] {
        let source = self.source.device.map { $0 == TestSource.name ? nil : ($0, "the source") } ?? nil
        let outputs = choices.filter { if case .live = $0.form { false } else { true } }
        let timestamps = choices.compactMap(\.timestamps).map {
            (segments.names($0).name(at: time), "--timestamps")
        }
        let report = reporting.report.map { (segments.names($0).name(at: time), "--report") }
        return [source, settings.settings.map { ($0, "the settings file") }].compactMap { $0 }
            + outputs.map { ($0.dated(at: time, isUTC: segments.utc).path, use(of: $0)) }
            + timestamps + [report].compactMap { $0 } + socketPaths.map { ($0, "a socket") }
    }

    private func use(of choice: OutputChoice) -> String {
        if case .timestamps = choice.form { "--timestamps" } else { "an output" }
    }
}
