// swift-tools-version: 6.2
import PackageDescription

/// Whether another package depends on a version of this one: it may not have unsafe flags then, and needs none of them.
/// While versions are chosen, manifests are read without a folder.
let isDependency = Context.packageDirectory.contains("/checkouts/") || Context.packageDirectory == "/"

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

/// A library of the system that pkg-config knows.
func system(_ library: String, _ module: String, pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(
        name: module, path: "Sources/SystemLibraries/\(library)", pkgConfig: pkgConfig,
        providers: [.apt([package])])
}

let package = Package(
    name: "camrec",
    products: [
        .library(name: "Capture", targets: ["Capture"]),
        .library(name: "Encoder", targets: ["Encoder"]),
        .library(name: "Decoder", targets: ["Decoder"]),
        .library(name: "Bitstream", targets: ["Bitstream"]),
        .library(name: "Containers", targets: ["Containers"]),
        .executable(name: "camrec", targets: ["camrec"]),
        .executable(name: "camplay", targets: ["camplay"]),
        .executable(name: "camweb", targets: ["camweb"]),
    ],
    dependencies: [
        // The help, the completions and the manual pages are made with one version.
        .package(
            url: "https://github.com/apple/swift-argument-parser",
            isDependency ? "1.5.0"..<"2.0.0" : "1.8.2"..<"1.8.3"),
        // HTTP and WebSocket for camweb, without Foundation.
        .package(
            url: "https://github.com/apple/swift-nio",
            isDependency ? "2.65.0"..<"3.0.0" : "2.101.2"..<"2.101.3"),
    ],
    targets: [
        system("avcodec", "CSystemAvcodec", pkgConfig: "libavcodec", apt: "libavcodec-dev"),
        system("avutil", "CSystemAvutil", pkgConfig: "libavutil", apt: "libavutil-dev"),
        system("swscale", "CSystemSwscale", pkgConfig: "libswscale", apt: "libswscale-dev"),
        system("swresample", "CSystemSwresample", pkgConfig: "libswresample", apt: "libswresample-dev"),
        system("va", "CSystemVa", pkgConfig: "libva", apt: "libva-dev"),
        system("va-drm", "CSystemVaDrm", pkgConfig: "libva-drm", apt: "libva-dev"),
        system("jpeg", "CSystemJpeg", pkgConfig: "libjpeg", apt: "libjpeg62-turbo-dev"),
        system("v4lconvert", "CSystemV4lconvert", pkgConfig: "libv4lconvert", apt: "libv4l-dev"),
        system("freetype", "CSystemFreetype", pkgConfig: "freetype2", apt: "libfreetype-dev"),
        system("crypt", "CSystemCrypt", pkgConfig: "libcrypt", apt: "libcrypt-dev"),
        // camweb's index of recordings.
        system("sqlite", "CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        // Structures and ioctl numbers of V4L2 that the importer does not understand.
        .target(name: "CV4L2"),
        // VA-API's macros and unions.
        .target(name: "CVAAPI", dependencies: ["CSystemVa", "CSystemVaDrm"]),
        // libavcodec: its log, its macros, and what differs between its releases; and libavformat, loaded only where a
        // container is read or written.
        .target(name: "CFFmpeg", dependencies: ["CSystemAvcodec", "CSystemAvutil"]),
        // libyuv, libjpeg-turbo, which jumps out of its errors, libv4lconvert, and color conversion with the processor's
        // vector unit. Debian 12 has no pkg-config file for libyuv.
        .target(
            name: "CYUV", dependencies: ["CSystemJpeg", "CSystemV4lconvert"],
            linkerSettings: [.linkedLibrary("yuv")]),
        // Bitmaps of text: a font that is built in, and FreeType, loaded only for a font file.
        .target(
            name: "CGlyphs", dependencies: isDependency ? ["CSystemFreetype"] : [],
            // pkg-config would link what is loaded only for a font file. Built for another machine, the folder is in
            // its sysroot.
            cSettings: isDependency ? [] : [.unsafeFlags(["-iwithsysroot", "/usr/include/freetype2"])]),
        // libswscale, whose types changed in FFmpeg 8.
        .target(name: "CScale", dependencies: ["CFFmpeg", "CSystemSwscale"]),
        // SDL, loaded only where there is a window.
        .target(name: "CSDL2"),
        // GnuTLS, loaded only where a stream is encrypted.
        .target(name: "CTLS"),
        // ALSA, loaded only where sound is recorded, and libswresample, which libavcodec brings along.
        .target(name: "CSound", dependencies: ["CFFmpeg", "CSystemSwresample"]),
        // System calls that the importer does not understand, or whose errno would not survive.
        .target(name: "CLinux"),
        // Passwords' hashes: libxcrypt, which logging in uses on every Debian.
        .target(name: "CCrypt", dependencies: ["CSystemCrypt"]),
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
                "Bitstream", "CCrypt", "CSQLite", "CamControlProtocol", "CamPlatform", "CamNetworking",
                "Containers",
                "CamDelivery", "CamStorage",
                "CamSound", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            resources: [
                .embedInCode("Page/index.html"), .embedInCode("Page/login.html"),
                .embedInCode("Page/page.css"), .embedInCode("Page/icon.svg"),
                .embedInCode("Page/manifest.webmanifest"),
                .embedInCode("Page/address.js"), .embedInCode("Page/camweb.js"),
                .embedInCode("Page/chart.js"), .embedInCode("Page/controls.js"),
                .embedInCode("Page/element.js"), .embedInCode("Page/events.js"),
                .embedInCode("Page/export.js"), .embedInCode("Page/gestures.js"),
                .embedInCode("Page/kept.js"), .embedInCode("Page/keyframe.js"),
                .embedInCode("Page/library.js"),
                .embedInCode("Page/login.js"), .embedInCode("Page/media.js"), .embedInCode("Page/notes.js"),
                .embedInCode("Page/picture.js"), .embedInCode("Page/playback.js"),
                .embedInCode("Page/player.js"), .embedInCode("Page/question.js"),
                .embedInCode("Page/recorder.js"), .embedInCode("Page/recordings.js"),
                .embedInCode("Page/request.js"),
                .embedInCode("Page/selection.js"), .embedInCode("Page/snapshot.js"),
                .embedInCode("Page/state.js"), .embedInCode("Page/storage.js"),
                .embedInCode("Page/stream.js"), .embedInCode("Page/tile.js"),
                .embedInCode("Page/time.js"), .embedInCode("Page/timeline.js"),
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
            name: "CTestJPEG", dependencies: ["CSystemJpeg"], path: "Tests/CTestJPEG"),
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
                "CamPictures", "CamCommandLine", "CamNetworking", "TestSupport", "CamPlatform",
            ]),
        .testTarget(
            name: "CamplayTests",
            dependencies: [
                "camplay", "CamCommandLine", "Decoder", "CamPictures", "Bitstream", "CamSound", "CamPlatform",
                "CFFmpeg",
                "TestSupport",
            ]),
        .testTarget(
            name: "CamWebTests",
            dependencies: [
                "CamControlProtocol", "camweb", "CamCommandLine", "CamWeb", "Bitstream", "CamPlatform",
                "CamNetworking",
                "Containers", "CTestFormat", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ]),
        .testTarget(
            name: "CamSoundTests",
            dependencies: ["CamSound", "CamPlatform", "CFFmpeg", "TestSupport"]),
        .testTarget(name: "CamPlatformTests", dependencies: ["CamPlatform", "CLinux", "TestSupport"]),
        .testTarget(
            name: "CamInspectionTests",
            dependencies: ["CamInspection", "Bitstream", "CamPlatform", "TestSupport"]),
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

for target in package.targets where !isDependency && ![.test, .system].contains(target.type) {
    // A section for each function, so that the linker can place it (see `compact`).
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release))
        ]
}

/// What touches every byte of a stream or a picture, or every sample: without optimization, a debug build's unit tests
/// take a quarter of an hour.
let touching = [
    "Bitstream", "CYUV", "CGlyphs", "TestSupport", "EncoderTests", "CamRecorder", "CamRecorderTests",
    "CamSoundTests",
]

for target in package.targets where !isDependency && touching.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"], .when(configuration: .debug))]
}

/// All other tests take longer to optimize than they run.
for target in package.targets where !isDependency && target.type == .test && !touching.contains(target.name) {
    target.swiftSettings = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}
