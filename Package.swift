// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "camrec",
    products: [
        .executable(name: "camrec", targets: ["camrec"]),
        .executable(name: "camplay", targets: ["camplay"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        .target(name: "CV4L2", linkerSettings: [.linkedLibrary("v4lconvert")]),
        .target(name: "CVAAPI", linkerSettings: [.linkedLibrary("va"), .linkedLibrary("va-drm")]),
        .target(name: "CFFmpeg", linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .target(name: "CFormat", dependencies: ["CFFmpeg"]),
        .target(
            name: "CYUV",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("v4lconvert"),
            ]),
        .target(name: "CScale", dependencies: ["CFFmpeg"], linkerSettings: [.linkedLibrary("swscale")]),
        .target(name: "CSDL2"),
        .target(name: "Threading"),
        .target(
            name: "Terminal",
            dependencies: [
                "Threading", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(name: "CFiles"),
        .target(name: "Files", dependencies: ["CFiles"]),
        .target(name: "CNetwork"),
        .target(name: "Network", dependencies: ["CNetwork", "Files", "Threading"]),
        .target(name: "Bitstream"),
        .target(name: "Acceleration", dependencies: ["Threading", "CVAAPI", "CFFmpeg"]),
        .target(name: "Capture", dependencies: ["CV4L2", "CYUV", "Files", "Threading"]),
        .target(
            name: "Encoder",
            dependencies: [
                "Acceleration", "Capture", "Bitstream", "Threading", "CV4L2", "CVAAPI", "CFFmpeg", "CYUV",
            ]),
        .target(
            name: "Decoder", dependencies: ["Acceleration", "Bitstream", "CVAAPI", "CFFmpeg", "CScale"]),
        .target(
            name: "Output",
            dependencies: ["Bitstream", "Files", "Network", "Threading", "CFFmpeg", "CFormat"]),
        .target(
            name: "Recorder",
            dependencies: ["Capture", "Encoder", "Output", "Bitstream", "Network", "Threading"]),
        .target(
            name: "Diagnostics",
            dependencies: [
                "Acceleration", "Capture", "Encoder", "Decoder", "Bitstream", "Files", "Threading",
            ],
            resources: [
                .embedInCode("Inspection/Page/page.css"), .embedInCode("Inspection/Page/page.js"),
            ]),
        .executableTarget(
            name: "camrec",
            dependencies: [
                "Recorder", "Diagnostics", "Capture", "Encoder", "Output", "Bitstream", "Files", "Network",
                "Terminal", "Threading",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "camplay",
            dependencies: [
                "Decoder", "Output", "Bitstream", "Network", "Terminal", "Threading", "CSDL2",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(
            name: "Peers", path: "Tests/Benchmark/Peers",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("avcodec"),
                .linkedLibrary("avutil"),
            ]),
        .executableTarget(
            name: "ConversionBenchmark", dependencies: ["Capture", "Encoder", "CTestJPEG", "Peers"],
            path: "Tests/Benchmark/Conversion"),
        .executableTarget(
            name: "ParserBenchmark", dependencies: ["Bitstream", "Peers"], path: "Tests/Benchmark/Parser"),
        .executableTarget(
            name: "LatencyBenchmark",
            dependencies: ["Capture", "Decoder", "Bitstream", "Network", "Threading"],
            path: "Tests/Benchmark/Latency"),
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(name: "BitstreamTests", dependencies: ["Bitstream", "TestSupport"]),
        .testTarget(name: "CaptureTests", dependencies: ["Capture"]),
        .target(
            name: "CTestJPEG", path: "Tests/CTestJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CTestAllocations", path: "Tests/CTestAllocations"),
        .testTarget(
            name: "EncoderTests",
            dependencies: [
                "Encoder", "Capture", "Bitstream", "CFFmpeg", "CTestJPEG", "CTestAllocations", "TestSupport",
            ]),
        .testTarget(
            name: "DecoderTests", dependencies: ["Decoder", "Encoder", "Capture", "Bitstream", "TestSupport"]),
        .target(
            name: "CTestFormat", path: "Tests/CTestFormat",
            linkerSettings: [.linkedLibrary("avformat"), .linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .testTarget(name: "NetworkTests", dependencies: ["Network", "Threading"]),
        .testTarget(
            name: "OutputTests",
            dependencies: [
                "Output", "Bitstream", "Files", "Network", "Threading", "CTestFormat", "CTestAllocations",
                "TestSupport",
            ]),
        .testTarget(
            name: "CamrecTests",
            dependencies: ["camrec", "Bitstream", "Output", "Terminal"]),
        .testTarget(
            name: "CamplayTests",
            dependencies: ["camplay", "Decoder", "Bitstream", "Network", "Terminal", "Threading", "CFFmpeg"]),
        .testTarget(name: "DiagnosticsTests", dependencies: ["Diagnostics", "Bitstream", "Capture"]),
        .testTarget(
            name: "RecorderTests",
            dependencies: [
                "Recorder", "Capture", "Encoder", "Output", "Bitstream", "Files", "Network", "Threading",
                "CTestAllocations",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
