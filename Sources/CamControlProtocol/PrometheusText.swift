/// Metrics in the text format that Prometheus reads
/// (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4).
public struct PrometheusText {
    /// The metrics so far, each line with its newline.
    public private(set) var text = ""

    /// One value of a metric.
    public struct Sample {
        var labels: [(name: String, value: String)]
        let value: Double

        /// Creates a value.
        /// - Parameter labels: distinguish it from the metric's other values.
        public init(labels: [(name: String, value: String)] = [], value: Double) {
            (self.labels, self.value) = (labels, value)
        }
    }

    /// Creates a text without metrics.
    public init() {}

    /// Adds a metric that only grows; its name ends with `_total`. Without a sample it is left out.
    public mutating func addCounter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, "counter", help, samples.map { (name, $0) })
    }

    /// Adds a metric that may shrink. Without a sample it is left out.
    public mutating func addGauge(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, "gauge", help, samples.map { (name, $0) })
    }

    /// Adds histograms, one for each set of labels. Without one the metric is left out.
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
