extension RecordingStatistics {
    /// Returns the statistics as metrics for Prometheus.
    /// - Parameters:
    ///   - recording: the label that tells this recording from others.
    ///   - freeBytes: returns the room left in a folder; nil if unknown.
    public func prometheus(recording: String, freeBytes: (String) -> Int?) -> String {
        var metrics = PrometheusText(labels: [("recording", recording)])
        addSource(to: &metrics)
        addEncoders(to: &metrics)
        addOutputs(to: &metrics)
        metrics.addGauge(
            "camrec_output_free_bytes", "Room left on the disk that an output is on.",
            outputs.compactMap { output in
                output.folder.flatMap(freeBytes).map { output.sample($0) }
            })
        return metrics.text
    }

    private func addSource(to metrics: inout PrometheusText) {
        metrics.addGauge(
            "camrec_recording_seconds", "Time since the recording began.", [.init(value: seconds)])
        metrics.addGauge(
            "camrec_paused", "Whether the recording is paused.", [.init(value: state == .paused ? 1 : 0)])
        metrics.addCounter(
            "camrec_captured_frames_total", "Frames that the camera delivered.",
            [.init(value: Double(captured))])
        let lost = [
            ("driver", droppedByDriver), ("corrupt", corrupt), ("late", droppedByUs), ("paused", paused),
        ]
        metrics.addCounter(
            "camrec_lost_frames_total", "Frames that no encoder got, by reason.",
            lost.map { .init(labels: [("reason", $0)], value: Double($1)) })
        metrics.addCounter(
            "camrec_camera_restarts_total", "Times that the camera was restarted.",
            [.init(value: Double(restarts))])
        metrics.addCounter(
            "camrec_motion_events_total", "Times that something began to move, with --on-motion.",
            motionEvents.map { [.init(value: Double($0))] } ?? [])
        metrics.addGauge(
            "camrec_motion", "Whether something moves, with --on-motion.",
            moving.map { [.init(value: $0 ? 1 : 0)] } ?? [])
    }

    private func addEncoders(to metrics: inout PrometheusText) {
        func samples(_ counts: [Int]) -> [PrometheusText.Sample] {
            counts.enumerated().map { .init(labels: [("encoder", "\($0)")], value: Double($1)) }
        }
        metrics.addCounter("camrec_encoded_frames_total", "Frames that an encoder coded.", samples(encoded))
        metrics.addCounter(
            "camrec_encoder_lost_frames_total", "Frames that went into an encoder and never came out.",
            samples(droppedByEncoder))
        metrics.addCounter(
            "camrec_encoder_restarts_total", "Times that a failing encoder was reopened.",
            samples(encoderRestarts))
    }

    private func addOutputs(to metrics: inout PrometheusText) {
        metrics.addCounter(
            "camrec_output_written_frames_total", "Coded frames that were written.",
            outputs.map { $0.sample($0.written) })
        metrics.addCounter(
            "camrec_output_lost_frames_total",
            "Coded frames that were lost: writing failed or hung, or no receiver took them.",
            outputs.map { $0.sample($0.lost) })
        metrics.addCounter(
            "camrec_output_keyframes_total", "Keyframes that were written.",
            outputs.map { $0.sample($0.keyframes) })
        metrics.addCounter(
            "camrec_output_bytes_total", "Bytes of coded frames that were written.",
            outputs.map { $0.sample($0.bytes) })
        metrics.addHistogram(
            "camrec_output_latency_seconds",
            "Time from capturing a frame to writing it, or to handing it to a live output's senders.",
            outputs.compactMap { output in output.latency.map { (output.labels, $0) } })
        metrics.addGauge(
            "camrec_output_receivers", "Receivers that are connected to a live output.",
            outputs.compactMap { output in output.receivers.map { output.sample($0) } })
        metrics.addCounter(
            "camrec_output_connections_total", "Receivers that have connected to a live output so far.",
            outputs.compactMap { output in output.connections.map { output.sample($0) } })
    }
}

extension RecordingStatistics.Output {
    fileprivate var labels: [(name: String, value: String)] { [("output", output)] }

    fileprivate func sample(_ value: Int) -> PrometheusText.Sample {
        PrometheusText.Sample(labels: labels, value: Double(value))
    }
}
