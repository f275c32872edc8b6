/// Statistics of several recordings, as metrics for Prometheus.
package struct RecordingMetrics {
    private let recordings: [(name: String, statistics: RecordingStatistics)]

    /// Creates the metrics of recordings.
    /// - Parameter recordings: each with its name, the value of the label `recording`.
    package init(_ recordings: [(name: String, statistics: RecordingStatistics)]) {
        self.recordings = recordings
    }

    /// Adds the metrics.
    /// - Parameter freeBytes: returns the free space of a folder; nil if unknown.
    package func add(to metrics: inout PrometheusText, freeBytes: (String) -> Int?) {
        addSource(to: &metrics)
        addEncoders(to: &metrics)
        addOutputs(to: &metrics)
        metrics.addGauge(
            "camrec_output_free_bytes", "Room left on the disk that an output is on.",
            outputs { output in output.folder.flatMap(freeBytes) })
    }

    private func addSource(to metrics: inout PrometheusText) {
        metrics.addGauge(
            "camrec_recording_seconds", "Time since the recording began.", samples { $0.seconds })
        metrics.addGauge(
            "camrec_paused", "Whether the recording is paused.",
            samples { $0.state == .paused ? 1 : 0 })
        metrics.addCounter(
            "camrec_captured_frames_total", "Frames that the camera delivered.",
            samples { Double($0.captured) })
        metrics.addCounter(
            "camrec_lost_frames_total", "Frames that no encoder got, by reason.",
            each { statistics in
                [
                    ("driver", statistics.droppedByDriver), ("corrupt", statistics.corrupt),
                    ("late", statistics.droppedByUs), ("paused", statistics.paused),
                ].map { .init(labels: [("reason", $0)], value: Double($1)) }
            })
        metrics.addCounter(
            "camrec_camera_restarts_total", "Times that the camera was restarted.",
            samples { Double($0.restarts) })
        metrics.addCounter(
            "camrec_motion_events_total", "Times that something began to move, with --on-motion.",
            samples { $0.motionEvents.map(Double.init) })
        metrics.addGauge(
            "camrec_motion", "Whether something moves, with --on-motion.",
            samples { $0.moving.map { $0 ? 1 : 0 } })
    }

    private func addEncoders(to metrics: inout PrometheusText) {
        func encoders(_ counts: (RecordingStatistics) -> [Int]) -> [PrometheusText.Sample] {
            each { statistics in
                counts(statistics).enumerated().map {
                    .init(labels: [("encoder", "\($0)")], value: Double($1))
                }
            }
        }
        metrics.addCounter(
            "camrec_encoded_frames_total", "Frames that an encoder coded.", encoders { $0.encoded })
        metrics.addCounter(
            "camrec_encoder_lost_frames_total", "Frames that went into an encoder and never came out.",
            encoders { $0.droppedByEncoder })
        metrics.addCounter(
            "camrec_encoder_restarts_total", "Times that a failing encoder was reopened.",
            encoders { $0.encoderRestarts })
    }

    private func addOutputs(to metrics: inout PrometheusText) {
        metrics.addGauge(
            "camrec_output_encoder", "The encoder of an output, as in the labels of the encoders' metrics.",
            outputs { $0.encoder })
        metrics.addCounter(
            "camrec_output_written_frames_total", "Coded frames that were written.",
            outputs { $0.written })
        metrics.addCounter(
            "camrec_output_lost_frames_total",
            "Coded frames that were lost: writing failed or hung, or no receiver took them.",
            outputs { $0.lost })
        metrics.addCounter(
            "camrec_output_keyframes_total", "Keyframes that were written.", outputs { $0.keyframes })
        metrics.addCounter(
            "camrec_output_bytes_total", "Bytes of coded frames that were written.", outputs { $0.bytes })
        metrics.addHistogram(
            "camrec_output_latency_seconds",
            "Time from capturing a frame to writing it, or to handing it to a live output's senders.",
            recordings.flatMap { name, statistics in
                statistics.outputs.compactMap { output in
                    output.latency.map { ([("recording", name), ("output", output.output)], $0) }
                }
            })
        metrics.addGauge(
            "camrec_output_receivers", "Receivers that are connected to a live output.",
            outputs { $0.receivers })
        metrics.addCounter(
            "camrec_output_connections_total", "Receivers that have connected to a live output so far.",
            outputs { $0.connections })
    }

    private func samples(_ value: (RecordingStatistics) -> Double?) -> [PrometheusText.Sample] {
        each { statistics in value(statistics).map { [.init(value: $0)] } ?? [] }
    }

    private func outputs(_ value: (RecordingStatistics.Output) -> Int?) -> [PrometheusText.Sample] {
        each { statistics in
            statistics.outputs.compactMap { output in
                value(output).map { .init(labels: [("output", output.output)], value: Double($0)) }
            }
        }
    }

    private func each(
        _ samples: (RecordingStatistics) -> [PrometheusText.Sample]
    ) -> [PrometheusText.Sample] {
        recordings.flatMap { name, statistics in
            samples(statistics).map { sample in
                .init(labels: [("recording", name)] + sample.labels, value: sample.value)
            }
        }
    }
}

// MARK: The text format

/// Metrics in the text format that Prometheus reads
/// (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4).
package struct PrometheusText {
    /// The metrics so far, each line with its newline.
    package private(set) var text = ""

    /// One value of a metric.
    package struct Sample {
        var labels: [(name: String, value: String)]
        let value: Double

        /// Creates a value.
        /// - Parameter labels: distinguish the value from the metric's other values.
        package init(labels: [(name: String, value: String)] = [], value: Double) {
            (self.labels, self.value) = (labels, value)
        }
    }

    /// Creates a text without metrics.
    package init() {}

    /// Adds a metric that only grows; its name ends with `_total`. A metric without samples is left out.
    package mutating func addCounter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, "counter", help, samples.map { (name, $0) })
    }

    /// Adds a metric that may shrink. A metric without samples is left out.
    package mutating func addGauge(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, "gauge", help, samples.map { (name, $0) })
    }

    /// Adds histograms, one for each set of labels. A metric without histograms is left out.
    mutating func addHistogram(
        _ name: String, _ help: String,
        _ histograms: [(labels: [(name: String, value: String)], latencies: LatencyCounts)]
    ) {
        add(
            name, "histogram", help,
            histograms.flatMap { labels, latencies in
                var total = 0.0
                var samples = zip(latencies.bounds.map { "\($0)" } + ["+Inf"], latencies.counts).map {
                    bound, count in
                    total += Double(count)
                    return ("\(name)_bucket", Sample(labels: labels + [("le", bound)], value: total))
                }
                samples.append(("\(name)_sum", Sample(labels: labels, value: latencies.sum)))
                samples.append(("\(name)_count", Sample(labels: labels, value: total)))
                return samples
            })
    }

    private mutating func add(_ name: String, _ type: String, _ help: String, _ samples: [(String, Sample)]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for (name, sample) in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escape($0.value))\"" }
            text += "\(name){\(labels.joined(separator: ","))} \(Self.number(sample.value))\n"
        }
    }

    /// Whole numbers without a fraction.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Works on scalars: as characters, a quote may have an accent, and a line break be two.
    private static func escape(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
