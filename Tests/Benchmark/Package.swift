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
        .target(name: "CGlyphs", cSettings: [.unsafeFlags(["-I/usr/include/freetype2"])]),
        .target(name: "CTestJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CamPlatform", dependencies: ["CLinux"]),
        .target(name: "CamNetworking", dependencies: ["CLinux", "CFFmpeg", "CTLS", "CamPlatform"]),
        .target(name: "CamPictures", dependencies: ["CV4L2", "CamPlatform"]),
        .target(name: "Bitstream", dependencies: ["CamPictures", "CamPlatform"]),
        .target(name: "CamAcceleration", dependencies: ["CamPlatform", "CVAAPI", "CFFmpeg"]),
        .target(
            name: "Capture",
            dependencies: ["CamPictures", "CV4L2", "CYUV", "CamPlatform"]),
        .target(
            name: "Encoder",
            dependencies: [
                "CamAcceleration", "CamConversion", "CamPictures", "Bitstream", "CamPlatform", "CVAAPI",
                "CFFmpeg",
                "CYUV",
            ]),
        .target(
            name: "CamConversion",
            dependencies: ["CamAcceleration", "CamPictures", "CamPlatform", "CFFmpeg", "CGlyphs", "CYUV"]),
        .target(
            name: "Decoder",
            dependencies: [
                "CamAcceleration", "CamPictures", "CamConversion", "Bitstream", "CamPlatform", "CVAAPI",
                "CFFmpeg", "CScale",
            ]),
        .target(
            name: "Peers", path: "Peers",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("avcodec"),
                .linkedLibrary("avutil"),
            ]),
        .executableTarget(
            name: "ConversionBenchmark",
            dependencies: [
                "CamConversion", "CamPictures", "Capture", "Encoder", "CamPlatform", "CTestJPEG", "Peers",
            ],
            path: "Conversion"),
        .executableTarget(name: "ParserBenchmark", dependencies: ["Bitstream", "Peers"], path: "Parser"),
        .executableTarget(
            name: "LatencyBenchmark",
            dependencies: ["CamPictures", "Capture", "Decoder", "Bitstream", "CamNetworking", "CamPlatform"],
            path: "Latency"),
    ],
    swiftLanguageModes: [.v6]
)
