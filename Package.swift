// swift-tools-version: 6.2
import PackageDescription

/// How the programs are linked, so that little of them is read at the start and kept in memory. lld, which is part of
/// Swift's toolchain, and glibc 2.36 know both.
///
/// - 50,000 addresses of Swift's tables are adjusted when a program starts; packed, they take 10 kB instead of 1.2 MB.
/// - The functions of Swift's libraries that a recording calls are placed side by side (`scripts/link-order`).
let compact = LinkerSetting.unsafeFlags(
    [
        "-z", "pack-relative-relocs",
        "--symbol-ordering-file=\(Context.packageDirectory)/Sources/camrec/link-order.txt",
        "--no-warn-symbol-ordering",
    ].reduce(["-use-ld=lld"]) { $0 + ["-Xlinker", $1] })

/// The commit that `--version` prints, if the build names one.
let commit = (Context.environment["CAMREC_COMMIT"] ?? "").filter {
    $0.isLetter || $0.isNumber || ".-+".contains($0)
}

let package = Package(
    name: "camrec",
    products: [
        .executable(name: "camrec", targets: ["camrec"]),
        .executable(name: "camplay", targets: ["camplay"]),
        .executable(name: "camweb", targets: ["camweb"]),
    ],
    dependencies: [
        // One version: the help, the completions and the manual pages are made with it.
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // HTTP and WebSocket for camweb, without Foundation.
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        // Structures and ioctl numbers of V4L2 that the importer does not understand.
        .target(name: "CV4L2"),
        // VA-API's macros and unions.
        .target(name: "CVAAPI", linkerSettings: [.linkedLibrary("va"), .linkedLibrary("va-drm")]),
        // libavcodec: its log, its macros, and what differs between its releases; and libavformat, loaded only where a
        // container is read or written.
        .target(name: "CFFmpeg", linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        // libyuv, libjpeg-turbo, which jumps out of its errors, libv4lconvert, and color conversion with the processor's
        // vector unit.
        .target(
            name: "CYUV",
            linkerSettings: [
                .linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("v4lconvert"),
            ]),
        // Bitmaps of text: a font that is built in, and FreeType, loaded only for a font file.
        .target(name: "CGlyphs", cSettings: [.unsafeFlags(["-I/usr/include/freetype2"])]),
        // libswscale, whose types changed in FFmpeg 8.
        .target(name: "CScale", dependencies: ["CFFmpeg"], linkerSettings: [.linkedLibrary("swscale")]),
        // SDL, loaded only where there is a window.
        .target(name: "CSDL2"),
        // GnuTLS, loaded only where a stream is encrypted.
        .target(name: "CTLS"),
        // ALSA, loaded only where sound is recorded, and libswresample, which libavcodec brings along.
        .target(name: "CSound", dependencies: ["CFFmpeg"], linkerSettings: [.linkedLibrary("swresample")]),
        // System calls that the importer does not understand, or whose errno would not survive.
        .target(name: "CLinux"),
        // Passwords' hashes: libxcrypt, which logging in uses on every Debian.
        .target(name: "CCrypt", linkerSettings: [.linkedLibrary("crypt")]),
        // What a build says of itself.
        .target(
            name: "CBuild",
            cSettings: commit.isEmpty ? [] : [.define("CAMREC_COMMIT", to: "\"\(commit)\"")]),
        .target(name: "CamPlatform", dependencies: ["CLinux"]),
        .target(
            name: "CamCommandLine",
            dependencies: [
                "CBuild", "CamPlatform", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(name: "CamNetworking", dependencies: ["CLinux", "CFFmpeg", "CTLS", "CamPlatform"]),
        .target(name: "CamPictures", dependencies: ["CV4L2", "CamPlatform"]),
        .target(name: "Bitstream", dependencies: ["CamPictures", "CamPlatform"]),
        .target(name: "CamSound", dependencies: ["CamPlatform", "CFFmpeg", "CSound"]),
        .target(name: "CamAcceleration", dependencies: ["CamPlatform", "CVAAPI", "CFFmpeg"]),
        .target(
            name: "CamConversion",
            dependencies: ["CamAcceleration", "CamPictures", "CamPlatform", "CFFmpeg", "CGlyphs", "CYUV"]),
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
            name: "Decoder",
            dependencies: [
                "CamAcceleration", "CamPictures", "CamConversion", "Bitstream", "CamPlatform", "CVAAPI",
                "CFFmpeg", "CScale",
            ]),
        .target(
            name: "Containers",
            dependencies: ["CamPictures", "Bitstream", "CamPlatform", "CamNetworking", "CamSound", "CFFmpeg"]),
        .target(
            name: "CamDelivery",
            dependencies: ["Containers", "Bitstream", "CamPlatform", "CamNetworking", "CamSound", "CFFmpeg"]),
        .target(name: "CamStorage", dependencies: ["Containers", "Bitstream", "CamPlatform", "CamSound"]),
        .target(name: "CamControlProtocol"),
        .target(
            name: "CamRecorder",
            dependencies: [
                "CamControlProtocol", "CamPictures", "CamConversion", "Capture", "Decoder", "Encoder",
                "Containers", "CamDelivery", "CamStorage", "Bitstream", "CamPlatform", "CamNetworking",
                "CamSound",
            ]),
        .target(
            name: "CamInspection", dependencies: ["Bitstream", "CamPlatform"],
            resources: [.embedInCode("Page/page.css"), .embedInCode("Page/page.js")]),
        .target(
            name: "CamDiagnostics",
            dependencies: [
                "CamAcceleration", "CamPlatform", "CamPictures", "Capture", "Encoder", "Decoder", "Bitstream",
                "CamSound",
            ]),
        .target(
            name: "CamWeb",
            dependencies: [
                "Bitstream", "CCrypt", "CamControlProtocol", "CamPlatform", "CamNetworking", "Containers",
                "CamDelivery", "CamStorage",
                "CamSound", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            resources: [
                .embedInCode("Page/index.html"), .embedInCode("Page/login.html"),
                .embedInCode("Page/page.css"), .embedInCode("Page/icon.svg"),
                .embedInCode("Page/camweb.js"), .embedInCode("Page/stream.js"),
                .embedInCode("Page/picture.js"), .embedInCode("Page/tile.js"),
                .embedInCode("Page/media.js"), .embedInCode("Page/recordings.js"),
                .embedInCode("Page/timeline.js"), .embedInCode("Page/playback.js"),
                .embedInCode("Page/recorder.js"), .embedInCode("Page/controls.js"),
                .embedInCode("Page/chart.js"), .embedInCode("Page/element.js"),
            ]),
        .executableTarget(
            name: "camrec",
            dependencies: [
                "CamConversion",
                "CamAcceleration", "CamControlProtocol", "CamRecorder", "CamInspection", "CamPlatform",
                "CamDiagnostics", "CamPictures", "Capture", "Encoder", "Containers", "CamDelivery",
                "CamStorage", "Bitstream", "CamNetworking",
                "CamSound", "CamCommandLine",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], exclude: ["link-order.txt"], linkerSettings: [compact]),
        .executableTarget(
            name: "camplay",
            dependencies: [
                "CamAcceleration", "Decoder", "CamConversion", "Containers", "CamStorage",
                "CamPictures", "Bitstream",
                "CamPlatform", "CamNetworking", "CamSound", "CamCommandLine", "CSDL2",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], linkerSettings: [compact]),
        .executableTarget(
            name: "camweb",
            dependencies: [
                "CamNetworking", "CamPlatform", "CamCommandLine", "CamWeb",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], linkerSettings: [compact]),
        .target(
            name: "TestSupport", dependencies: ["CamPictures", "CamPlatform"], path: "Tests/TestSupport"),
        .testTarget(
            name: "CamPicturesTests", dependencies: ["CamPictures", "CamPlatform", "CV4L2", "TestSupport"]),
        .testTarget(
            name: "CamConversionTests", dependencies: ["CamConversion", "CamPictures", "CamPlatform"]),
        .testTarget(
            name: "BitstreamTests", dependencies: ["Bitstream", "CamPictures", "CamPlatform", "TestSupport"]),
        .testTarget(
            name: "CaptureTests",
            dependencies: ["Capture", "CamPictures", "CamPlatform", "CV4L2", "TestSupport"]),
        .target(
            name: "CTestJPEG", path: "Tests/CTestJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CTestAllocations", path: "Tests/CTestAllocations"),
        .testTarget(
            name: "EncoderTests",
            dependencies: [
                "CamConversion",
                "Encoder", "Capture", "CamPictures", "Bitstream", "CamPlatform", "CFFmpeg",
                "CGlyphs", "CYUV", "CTestJPEG", "CTestAllocations", "TestSupport",
            ]),
        .testTarget(
            name: "DecoderTests",
            dependencies: [
                "Decoder", "Encoder", "Capture", "CamPictures", "Bitstream", "CamPlatform", "CFFmpeg",
                "TestSupport",
            ]),
        .target(
            name: "CTestFormat", path: "Tests/CTestFormat",
            linkerSettings: [.linkedLibrary("avformat"), .linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .testTarget(
            name: "CamNetworkingTests", dependencies: ["CamNetworking", "CamPlatform", "CTLS", "TestSupport"]),
        .testTarget(
            name: "ContainersTests",
            dependencies: [
                "Containers", "CamDelivery", "CamStorage", "CamPictures", "Bitstream", "CamPlatform",
                "CamNetworking", "CamSound", "CFFmpeg",
                "CTestFormat", "CTestAllocations", "TestSupport",
            ]),
        .testTarget(
            name: "CamrecTests",
            dependencies: [
                "camrec", "CamAcceleration", "Capture", "CamRecorder", "Encoder", "Containers", "Bitstream",
                "CamPictures", "CamCommandLine", "TestSupport", "CamPlatform",
            ]),
        .testTarget(
            name: "CamplayTests",
            dependencies: [
                "camplay", "Decoder", "CamPictures", "Bitstream", "CamSound", "CamPlatform", "CFFmpeg",
                "TestSupport",
            ]),
        .testTarget(
            name: "CamWebTests",
            dependencies: [
                "CamWeb", "Bitstream", "CamPlatform", "CamNetworking", "CTestFormat", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "CamSoundTests",
            dependencies: ["CamSound", "CamPlatform", "CFFmpeg", "TestSupport"]),
        .testTarget(name: "CamPlatformTests", dependencies: ["CamPlatform", "CLinux", "TestSupport"]),
        .testTarget(name: "CamInspectionTests", dependencies: ["CamInspection", "Bitstream", "CamPlatform"]),
        .testTarget(
            name: "CamDiagnosticsTests",
            dependencies: ["CamDiagnostics", "CamPlatform", "Bitstream", "CamPictures", "TestSupport"]),
        .testTarget(name: "CamControlProtocolTests", dependencies: ["CamControlProtocol"]),
        .testTarget(
            name: "CamRecorderTests",
            dependencies: [
                "CamControlProtocol", "CamRecorder", "CamConversion", "CamPictures", "Capture", "Encoder",
                "Containers", "CamDelivery", "CamStorage", "Bitstream", "CamPlatform", "CamNetworking",
                "CamSound", "CV4L2",
                "CTestAllocations", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .test {
    // A section for each function, so that the linker can place it (see `compact`).
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release))
        ]
}

/// What touches every byte of a stream or a picture: without optimization, the unit tests of a debug build take a quarter
/// of an hour.
for target in package.targets
where ["Bitstream", "CYUV", "CGlyphs", "EncoderTests", "CamRecorder", "CamRecorderTests"].contains(
    target.name)
{
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"], .when(configuration: .debug))]
}

/// A release build optimizes only those tests that count allocations, which code that is not optimized makes itself:
/// the rest would take as long to compile as the programs.
let counting = ["EncoderTests", "ContainersTests", "CamRecorderTests"]

for target in package.targets where target.type == .test && !counting.contains(target.name) {
    target.swiftSettings = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}
