// swift-tools-version: 6.2
// libFuzzer targets for everything in Bitstream, Decoder and CamNetworking that reads untrusted bytes; `scripts/fuzz` builds and
// runs them. A separate package that links to the project's Sources, so that they are compiled with coverage.
import PackageDescription

/// Coverage and AddressSanitizer, in optimized code that still checks its assertions. The build also needs
/// `--sanitize fuzzer`, which links libFuzzer's `main`.
///
/// Comparisons are not traced: that takes half of the time, and reaches less in the same time.
let instrumented: [SwiftSetting] = [
    .unsafeFlags([
        "-sanitize=fuzzer,address", "-sanitize-coverage=edge,indirect-calls,inline-8bit-counters,pc-table",
        "-assert-config", "Debug", "-parse-as-library",
    ])
]

/// Each target and what it imports; libavcodec itself has no coverage.
let fuzzers: [(name: String, imports: [String])] =
    [
        "AnnexBParserFuzz", "AVCCReaderFuzz", "AVCRecordFuzz", "HEVCRecordFuzz", "AccessUnitDetectorFuzz",
        "AccessUnitAssemblerFuzz", "StreamShapeCheckerFuzz", "EmulationPreventionFuzz", "StreamInspectorFuzz",
        "StreamKindFuzz",
    ].map { ($0, ["Bitstream"]) }
    + ["H264SyntaxFuzz", "H265SyntaxFuzz"].map { ($0, []) }
    + [("StreamShaperFuzz", ["Bitstream", "CamPlatform"]), ("RequestTextFuzz", ["CamNetworking"])]
    + [("PictureDecoderFuzz", ["Bitstream", "Decoder"])]

let package = Package(
    name: "Fuzz",
    targets: [
        .target(name: "CV4L2"),
        .target(name: "CamPictures", dependencies: ["CV4L2", "CamPlatform"], swiftSettings: instrumented),
        .target(
            name: "Bitstream", dependencies: ["CamPictures", "CamPlatform"], swiftSettings: instrumented),
        .target(name: "CVAAPI", linkerSettings: [.linkedLibrary("va"), .linkedLibrary("va-drm")]),
        .target(name: "CFFmpeg", linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .target(name: "CScale", dependencies: ["CFFmpeg"], linkerSettings: [.linkedLibrary("swscale")]),
        .target(name: "CLinux"),
        .target(name: "CamPlatform", dependencies: ["CLinux"], swiftSettings: instrumented),
        .target(name: "CTLS"),
        .target(
            name: "CYUV",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("v4lconvert"),
            ]),
        .target(name: "CGlyphs", cSettings: [.unsafeFlags(["-I/usr/include/freetype2"])]),
        .target(
            name: "CamNetworking", dependencies: ["CLinux", "CFFmpeg", "CTLS", "CamPlatform"],
            swiftSettings: instrumented),
        .target(
            name: "CamAcceleration", dependencies: ["CamPlatform", "CVAAPI", "CFFmpeg"],
            swiftSettings: instrumented),
        .target(
            name: "CamConversion",
            dependencies: ["CamAcceleration", "CamPictures", "CamPlatform", "CFFmpeg", "CGlyphs", "CYUV"],
            swiftSettings: instrumented),
        .target(
            name: "Decoder",
            dependencies: [
                "CamAcceleration", "CamPictures", "CamConversion", "Bitstream", "CamPlatform", "CVAAPI",
                "CFFmpeg", "CScale",
            ],
            swiftSettings: instrumented),
        .target(name: "FuzzSupport", dependencies: ["Bitstream"], swiftSettings: instrumented),
    ]
        + fuzzers.map { fuzzer in
            .executableTarget(
                name: fuzzer.name,
                dependencies: (["FuzzSupport"] + fuzzer.imports).map { .byName(name: $0) },
                swiftSettings: instrumented,
                linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])])
        },
    swiftLanguageModes: [.v6]
)
