import CamPlatform
import Bitstream

/// An inspection as a self-contained HTML page: it needs no network and no other file.
///
/// Text from the stream or its name is escaped in the page, and the script gets only numbers.
package struct InspectionPage {
    private let inspection: Inspection
    private let hasNominalRate: Bool
    private let rate: Double

    /// Creates the page of an inspection.
    package init(_ inspection: Inspection) {
        self.inspection = inspection
        let nominal = inspection.framesPerSecond
        hasNominalRate = nominal != nil
        rate = nominal ?? Inspection.assumedFramesPerSecond
    }

    /// The page as HTML.
    package var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
        script-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>\(inspection.name.escapedForHTML): camrec inspect</title>
        <style>
        \(Self.embedded(PackageResources.page_css))</style>
        </head>
        <body>
        <header>
        <h1>\(inspection.name.escapedForHTML)</h1>
        <p class="lead">\(inspection.headline.escapedForHTML)</p>
        </header>
        <main>
        \(figures)\(problems)\(charts)\(summary)\(parameterSets)</main>
        <footer><p>Made by camrec inspect. Offsets and sizes are in bytes, start codes included.</p></footer>
        <script type="application/json" id="data">\(data)</script>
        <script>
        \(Self.embedded(PackageResources.page_js))</script>
        </body>
        </html>

        """
    }

    private static func embedded(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The data of the charts, as JSON.
    private var data: String {
        "{\"rate\": \(inspection.picturesPerSecond ?? rate), \"count\": \(inspection.pictures.count), "
            + "\"offset\": \(inspection.pictures.first?.offset ?? 0), "
            + "\"frames\": \"\(PackedPictures.base64(of: inspection.pictures))\"}"
    }
}

extension InspectionPage {
    private var figures: String {
        let summary = inspection.summary
        let format = summary.format
        let peak = inspection.peakBitRate.map { "at most \(Quantity.bitRate($0))" } ?? ""
        let lengths = summary.groupLengths.map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
        }
        let tiles: [(String, String, String)] = [
            (
                "Codec", "\(summary.codec)",
                format.map { "\($0.profile), level \($0.level)\($0.tier.map { ", \($0) tier" } ?? "")" } ?? ""
            ),
            (
                "Size", format.map { "\($0.width) × \($0.height)" } ?? "unknown",
                format.map { "\($0.chromaFormat), \($0.lumaBitDepth) bit" } ?? ""
            ),
            (
                "Rate", hasNominalRate ? "\(Quantity.decimal(rate, 3)) frames/s" : "unspecified",
                hasNominalRate
                    ? inspection.rateVariation == nil ? "" : "varying"
                    : "\(Quantity.decimal(rate, 0)) frames/s assumed below"
            ),
            (
                "Duration", inspection.duration.map(Quantity.duration) ?? "unknown",
                Quantity.count(summary.frameCount, "frame")
            ),
            ("Bit rate", inspection.averageBitRate.map(Quantity.bitRate) ?? "unknown", peak),
            ("GOP", lengths ?? "none", Quantity.count(summary.keyframeCount, "keyframe")),
        ]
        let items = tiles.map { title, value, note in
            "<div><dt>\(title)</dt><dd>\(value.escapedForHTML)"
                + (note.isEmpty ? "" : "<small>\(note.escapedForHTML)</small>") + "</dd></div>\n"
        }
        return "<dl class=\"figures\">\n\(items.joined())</dl>\n"
    }

    private var problems: String {
        let lines = inspection.problemLines
        guard !lines.isEmpty else { return "" }
        let items = lines.map { "<li>\($0.escapedForHTML)</li>\n" }.joined()
        return "<section class=\"problems\">\n<h2>Problems</h2>\n<ul>\n\(items)</ul>\n</section>\n"
    }

    private var legend: String {
        let summary = inspection.summary
        let entries = [
            ("idr", "IDR", summary.idrCount),
            ("intra", "I", summary.kindCounts[.intra, default: 0] - summary.intraIDRCount),
            ("predicted", "P", summary.kindCounts[.predicted, default: 0]),
            ("bidirectional", "B", summary.kindCounts[.bidirectional, default: 0]),
            ("unknown", "unknown", summary.kindCounts[.unknown, default: 0]),
        ]
        let items = entries.filter { $0.2 > 0 }.map { style, name, count in
            "<li class=\"\(style)\">\(name) \(count)</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }

    private var charts: String {
        let omitted = inspection.summary.accessUnitCount - inspection.pictures.count
        let note = omitted > 0 ? "<p class=\"hint\">The last \(omitted) pictures are not shown.</p>\n" : ""
        return """
            <section>
            <div class="heading">
            <h2>Frames by size</h2>
            \(legend)
            <div class="tools">
            <button type="button" id="farther" title="Farther (-)" aria-label="Zoom out">−</button>
            <button type="button" id="closer" title="Closer (+)" aria-label="Zoom in">+</button>
            <button type="button" id="everything" title="Everything (0)">All</button>
            <label><input type="checkbox" id="logarithmic"> logarithmic</label>
            </div>
            </div>
            <noscript><p>The charts are drawn by the script in this page, which the browser does not run.</p></noscript>
            <div class="chart"><canvas class="sizes" tabindex="0" role="img" \
            aria-label="One bar per frame, as high as its size and coloured by type"></canvas>\
            <div class="tooltip" hidden></div></div>
            <canvas class="overview" aria-hidden="true"></canvas>
            <p class="readout" aria-live="polite"></p>
            <p class="hint"><span id="density"></span></p>
            <p class="hint">Wheel or <kbd>+</kbd> <kbd>−</kbd> to zoom, drag or <kbd>Page ↑</kbd> <kbd>Page ↓</kbd> \
            to move, <kbd>←</kbd> <kbd>→</kbd> frame by frame, <kbd>k</kbd> <kbd>K</kbd> next and previous keyframe, \
            <kbd>0</kbd> everything.</p>
            \(note)</section>
            <section>
            <div class="heading"><h2>Bit rate over a second</h2></div>
            <div class="chart"><canvas class="rates" tabindex="0" role="img" \
            aria-label="Bit rate over time"></canvas><div class="tooltip" hidden></div></div>
            </section>

            """
    }

    private var summary: String {
        let rows = inspection.facts.map {
            "<tr><th scope=\"row\">\($0.label.escapedForHTML)</th><td>\($0.value.escapedForHTML)</td></tr>\n"
        }
        return "<section>\n<h2>Summary</h2>\n<table class=\"facts\">\n\(rows.joined())</table>\n</section>\n"
    }

    private var parameterSets: String {
        let records = inspection.summary.parameterSets
        let sets = records.map { Self.details($0, isOpen: records.count <= 3) }.joined()
        return "<section>\n<h2>Parameter sets</h2>\n\(sets.isEmpty ? "<p>none</p>\n" : sets)</section>\n"
    }

    private static func details(_ set: ParameterSetRecord, isOpen: Bool) -> String {
        let rows = set.structure.elements.map { element in
            "<tr><td>\(element.nameWithSubscripts.escapedForHTML)</td><td>\(element.value)</td>"
                + "<td>\((element.meaning(in: set.structure) ?? "").escapedForHTML)</td></tr>\n"
        }
        let error = set.structure.error.map { "<p>\($0.description.escapedForHTML)</p>\n" } ?? ""
        return """
            <details\(isOpen ? " open" : "")>
            <summary>\(set.title.escapedForHTML) <small>\(set.place.escapedForHTML)</small></summary>
            <table class="elements">
            <thead><tr><th>Element</th><th>Value</th><th>Meaning</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody>
            </table>
            \(error)</details>

            """
    }
}

/// Encodes pictures in few characters: a page may contain hundreds of thousands of pictures.
enum PackedPictures {
    /// Each picture is one number, size * 16 + keyframe * 8 + IDR * 4 + kind, in groups of seven bits,
    /// lowest group first. The eighth bit is set in all groups but the last.
    static func base64(of pictures: [PictureRecord]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pictures.count * 3)
        for picture in pictures {
            var value = picture.byteCount << 4 | Int(picture.kind.rawValue)
            if picture.isKeyframe { value |= 8 }
            if picture.isIDR { value |= 4 }
            while value > 127 {
                bytes.append(UInt8(value & 127) | 128)
                value >>= 7
            }
            bytes.append(UInt8(value))
        }
        return base64(of: bytes)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Base64 (RFC 4648, clause 4).
    static func base64(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group = 0
            for index in 0..<3 { group = group << 8 | (index < count ? Int(bytes[start + index]) : 0) }
            for index in 0..<4 {
                text.append(index <= count ? digits[group >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// The string, escaped for text and quoted attributes of an HTML page.
    var escapedForHTML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\t", "\n": text.unicodeScalars.append(scalar)
            // Control characters, and characters that change the direction of text.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                text.unicodeScalars.append("\u{FFFD}")
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
