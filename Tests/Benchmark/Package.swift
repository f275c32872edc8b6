// swift-tools-version: 6.2
// What `scripts/bench` measures besides the programs themselves. A separate package, so that the project's build
// contains only the product; links to its Sources.
import PackageDescription

let package = Package(
    name: "Benchmark",
    targets: [
        .target(name: "CV4L2"),
        .target(name: "CVAAPI", linkerSettings: [.linkedLibrary("va"), .linkedLibrary("va-drm")]),
        .target(name: "CFFmpeg", linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .target(
            name: "CYUV",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("v4lconvert"),
            ]),
        .target(name: "CScale", dependencies: ["CFFmpeg"], linkerSettings: [.linkedLibrary("swscale")]),
        .target(name: "CLinux"),
        .target(name: "CTLS"),
        .target(name: "CColor"),
        .target(name: "CGlyphs", cSettings: [.unsafeFlags(["-I/usr/include/freetype2"])]),
        .target(name: "CTestJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "Text"),
        .target(name: "Time"),
        .target(name: "Threading", dependencies: ["Time"]),
        .target(name: "Files", dependencies: ["CLinux", "Time"]),
        .target(name: "Network", dependencies: ["CLinux", "CFFmpeg", "CTLS", "Files", "Threading", "Time"]),
        .target(name: "Pictures", dependencies: ["CV4L2", "Time"]),
        .target(name: "Bitstream", dependencies: ["Pictures", "Time"]),
        .target(name: "Acceleration", dependencies: ["Threading", "CVAAPI", "CFFmpeg"]),
        .target(
            name: "Capture",
            dependencies: ["Pictures", "CV4L2", "CYUV", "Files", "Text", "Threading", "Time"]),
        .target(
            name: "Encoder",
            dependencies: [
                "Acceleration", "Pictures", "Bitstream", "Files", "Text", "Threading", "Time", "CVAAPI",
                "CFFmpeg", "CColor", "CGlyphs", "CYUV",
            ]),
        .target(name: "Images", dependencies: ["Acceleration", "Pictures", "Time", "CFFmpeg"]),
        .target(
            name: "Decoder",
            dependencies: [
                "Acceleration", "Pictures", "Images", "Bitstream", "Time", "CVAAPI", "CFFmpeg", "CScale",
            ]),
        .target(
            name: "Peers", path: "Peers",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("avcodec"),
                .linkedLibrary("avutil"),
            ]),
        .executableTarget(
            name: "ConversionBenchmark",
            dependencies: ["Pictures", "Capture", "Encoder", "Time", "CTestJPEG", "Peers"],
            path: "Conversion"),
        .executableTarget(name: "ParserBenchmark", dependencies: ["Bitstream", "Peers"], path: "Parser"),
        .executableTarget(
            name: "LatencyBenchmark",
            dependencies: ["Pictures", "Capture", "Decoder", "Bitstream", "Network", "Time"],
            path: "Latency"),
    ],
    swiftLanguageModes: [.v6]
)
