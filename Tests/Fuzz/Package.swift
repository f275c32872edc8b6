// swift-tools-version: 6.2
// libFuzzer targets for everything in Bitstream that reads foreign bytes; `scripts/fuzz` builds and runs them.
// Apart from the package of the project: Sources/Bitstream is a link, so that it is compiled with coverage.
import PackageDescription

/// Coverage and AddressSanitizer, in optimised code that still checks its assertions. The build needs
/// `--sanitize fuzzer` besides, which links libFuzzer's `main`.
let instrumented: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=fuzzer,address", "-assert-config", "Debug", "-parse-as-library"])
]

let targets = [
    "AnnexBParserFuzz", "AVCCReaderFuzz", "AVCRecordFuzz", "HEVCRecordFuzz", "H264SyntaxFuzz",
    "H265SyntaxFuzz", "AccessUnitDetectorFuzz", "StreamShaperFuzz", "StreamShapeCheckerFuzz",
    "EmulationPreventionFuzz", "StreamInspectorFuzz",
]

let package = Package(
    name: "Fuzz",
    targets: [
        .target(name: "Bitstream", swiftSettings: instrumented),
        .target(name: "FuzzSupport", dependencies: ["Bitstream"], swiftSettings: instrumented),
    ]
        + targets.map { name in
            .executableTarget(
                name: name, dependencies: ["Bitstream", "FuzzSupport"], swiftSettings: instrumented,
                linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])])
        },
    swiftLanguageModes: [.v6]
)
