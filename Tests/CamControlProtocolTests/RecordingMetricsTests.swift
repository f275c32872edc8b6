import CamControlProtocol
import FoundationEssentials
import Testing

/// Statistics as Prometheus reads them.
struct RecordingMetricsTests {
    /// A reply as a recording gives it.
    private static let reply = #"""
        {"ok":true,"stats":{"state":"paused","seconds":1.5,"captured":90,"droppedByDriver":1,"corrupt":2,
        "droppedByUs":3,"paused":4,"encoded":[80,79],"droppedByEncoder":[0,1],"encoderRestarts":[0,2],"restarts":5,
        "outputs":[{"output":"a \"b\" \\ c.mkv","written":70,"keyframes":3,"bytes":1234,"lost":7,"folder":"/videos",
        "latency":{"bounds":[0.001,0.5],"counts":[60,8,2],"sum":1.25}},
        {"output":"tcp://door:9982","encoder":1,"written":5,"keyframes":1,"bytes":99,"lost":0,"receivers":2,"connections":9}],"receivers":[]}}
        """#

    private func lines(recording: String = "cam", freeBytes: Int? = 4096) throws -> [String] {
        let reply = try JSONDecoder().decode(ControlReply.self, from: Data(Self.reply.utf8))
        let statistics = try #require(reply.stats)
        var metrics = PrometheusText()
        RecordingMetrics([(recording, statistics)]).add(to: &metrics) { $0 == "/videos" ? freeBytes : nil }
        return metrics.text.split(separator: "\n").map(String.init)
    }

    @Test("a state of a later version counts as recording, and one of this is known")
    func states() throws {
        for (text, state) in [
            "disk full": RecordingStatistics.State.diskFull, "read-only": .readOnly, "sunbathing": .recording,
        ] {
            let reply = Self.reply.replacing("paused\",\"seconds", with: "\(text)\",\"seconds")
            #expect(try JSONDecoder().decode(ControlReply.self, from: Data(reply.utf8)).stats?.state == state)
        }
    }

    @Test("each count is a sample, with the recording, and its encoder or output, as labels")
    func samples() throws {
        let lines = try lines()
        for expected in [
            #"camrec_recording_seconds{recording="cam"} 1.5"#,
            #"camrec_paused{recording="cam"} 1"#,
            #"camrec_captured_frames_total{recording="cam"} 90"#,
            #"camrec_lost_frames_total{recording="cam",reason="driver"} 1"#,
            #"camrec_lost_frames_total{recording="cam",reason="corrupt"} 2"#,
            #"camrec_lost_frames_total{recording="cam",reason="late"} 3"#,
            #"camrec_lost_frames_total{recording="cam",reason="paused"} 4"#,
            #"camrec_camera_restarts_total{recording="cam"} 5"#,
            #"camrec_encoded_frames_total{recording="cam",encoder="0"} 80"#,
            #"camrec_encoded_frames_total{recording="cam",encoder="1"} 79"#,
            #"camrec_encoder_lost_frames_total{recording="cam",encoder="1"} 1"#,
            #"camrec_encoder_restarts_total{recording="cam",encoder="1"} 2"#,
            #"camrec_output_encoder{recording="cam",output="tcp://door:9982"} 1"#,
            #"camrec_output_written_frames_total{recording="cam",output="tcp://door:9982"} 5"#,
            #"camrec_output_keyframes_total{recording="cam",output="tcp://door:9982"} 1"#,
            #"camrec_output_bytes_total{recording="cam",output="tcp://door:9982"} 99"#,
            #"camrec_output_lost_frames_total{recording="cam",output="tcp://door:9982"} 0"#,
            #"camrec_output_receivers{recording="cam",output="tcp://door:9982"} 2"#,
            #"camrec_output_connections_total{recording="cam",output="tcp://door:9982"} 9"#,
        ] { #expect(lines.contains(expected)) }
        #expect(lines.count { $0.hasPrefix("camrec_output_receivers{") } == 1)
    }

    @Test("a histogram's buckets count what is at most their bound")
    func histogram() throws {
        let labels = #"recording="cam",output="a \"b\" \\ c.mkv""#
        #expect(
            try lines().filter { $0.contains("latency_seconds") } == [
                "# HELP camrec_output_latency_seconds Time from capturing a frame to writing it, or to handing it to a live output's senders.",
                "# TYPE camrec_output_latency_seconds histogram",
                "camrec_output_latency_seconds_bucket{\(labels),le=\"0.001\"} 60",
                "camrec_output_latency_seconds_bucket{\(labels),le=\"0.5\"} 68",
                "camrec_output_latency_seconds_bucket{\(labels),le=\"+Inf\"} 70",
                "camrec_output_latency_seconds_sum{\(labels)} 1.25",
                "camrec_output_latency_seconds_count{\(labels)} 70",
            ])
    }

    @Test("the room on the disk is there for files, if it is known")
    func freeBytes() throws {
        #expect(
            try lines().last
                == #"camrec_output_free_bytes{recording="cam",output="a \"b\" \\ c.mkv"} 4096"#)
        #expect(try !lines(freeBytes: nil).contains { $0.contains("free_bytes") })
    }

    @Test("labels may contain quotes, backslashes and line breaks")
    func escaping() throws {
        #expect(
            try lines(recording: "a\"b\\c\nd").contains(#"camrec_paused{recording="a\"b\\c\nd"} 1"#))
        // A quote with an accent, and two line breaks that are one character.
        #expect(
            try lines(recording: "a\"\u{301}\r\nb").contains(
                "camrec_paused{recording=\"a\\\"\u{301}\r\\nb\"} 1"))
    }

    @Test("several recordings share each metric, which is described once")
    func several() throws {
        let reply = try JSONDecoder().decode(ControlReply.self, from: Data(Self.reply.utf8))
        let statistics = try #require(reply.stats)
        var metrics = PrometheusText()
        RecordingMetrics([("door", statistics), ("yard", statistics)]).add(to: &metrics) { _ in nil }
        let lines = metrics.text.split(separator: "\n").map(String.init)
        let described = lines.filter { $0.hasPrefix("# TYPE") }
        #expect(Set(described).count == described.count)
        let captured = try #require(lines.firstIndex(of: "# TYPE camrec_captured_frames_total counter"))
        #expect(
            lines[(captured + 1)...].prefix(2) == [
                #"camrec_captured_frames_total{recording="door"} 90"#,
                #"camrec_captured_frames_total{recording="yard"} 90"#,
            ])
    }
}
