// swift-tools-version: 6.2
import PackageDescription

// An application of the libraries: `swift run FirstFrames` records 200 frames of the test picture.
let camrec = Package.Dependency.package(name: "camrec", path: "..")

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "camrec") }

let package = Package(
    name: "camrec-examples",
    dependencies: [camrec],
    targets: [
        .executableTarget(name: "FirstFrames", dependencies: [product("Capture"), product("Encoder")]),
        .executableTarget(name: "Sender", dependencies: [product("Capture"), product("Encoder")]),
        .executableTarget(name: "Receiver", dependencies: [product("Bitstream"), product("Decoder")]),
        .executableTarget(name: "Animation", dependencies: [product("Encoder"), product("Containers")]),
        .executableTarget(name: "AsyncPipeline", dependencies: [product("Capture"), product("Encoder")]),
        .executableTarget(name: "LengthPrefixed", dependencies: [product("Bitstream")]),
    ],
    swiftLanguageModes: [.v6]
)
