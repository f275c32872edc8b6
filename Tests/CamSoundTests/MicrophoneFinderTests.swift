import CamPlatform
import Foundation
import TestSupport
import Testing

@testable import CamSound

/// Microphones as the kernel lists them, in a folder that looks like sysfs.
@Suite struct MicrophoneFinderTests {
    private let folder: TemporaryFolder

    /// A camera and a microphone in one USB device, another camera, and a sound card on the board.
    init() throws {
        folder = TemporaryFolder()
        for path in [
            "devices/usb1/1-2/1-2:1.0", "devices/usb1/1-2/1-2:1.2", "devices/usb1/1-20/1-20:1.0",
            "devices/pci/0000:00:1f.3", "class/video4linux/video0", "class/video4linux/video2",
            "class/sound/card0", "class/sound/card1", "class/sound/pcmC0D0c", "class/sound/pcmC0D0p",
            "class/sound/pcmC1D0c", "class/sound/pcmC1D3c", "proc/card1/pcm0c", "dev",
        ] { try make(path) }
        try link("class/video4linux/video0/device", to: "devices/usb1/1-2/1-2:1.0")
        try link("class/video4linux/video2/device", to: "devices/usb1/1-20/1-20:1.0")
        try link("class/sound/card0/device", to: "devices/pci/0000:00:1f.3")
        try link("class/sound/card1/device", to: "devices/usb1/1-2/1-2:1.2")
        try write("class/sound/card0/id", "PCH\n")
        try write("class/sound/card1/id", "C920\n")
        try write("proc/card1/pcm0c/info", "card: 1\nname: USB Audio\nsubname: x\n")
        for node in ["video0", "video2"] { try write("dev/\(node)", "") }
        try link("dev/by-id", to: "dev/video0")
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path(path), withIntermediateDirectories: true)
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(path), withDestinationPath: folder.path(target))
    }

    private func write(_ path: String, _ text: String) throws {
        try text.write(toFile: folder.path(path), atomically: false, encoding: .utf8)
    }

    private var finder: MicrophoneFinder {
        MicrophoneFinder(sys: folder.path("."), proc: folder.path("proc"))
    }

    @Test("lists what records, by card")
    func list() {
        #expect(
            finder.microphones.map(\.name) == [
                "plughw:CARD=PCH,DEV=0", "plughw:CARD=C920,DEV=0", "plughw:CARD=C920,DEV=3",
            ])
        #expect(finder.microphones[1].title == "USB Audio")
        #expect(finder.microphones[1].node == "/dev/snd/pcmC1D0c")
        #expect(finder.microphones[1].hardwareName == "hw:CARD=C920,DEV=0")
    }

    @Test("a camera's own microphone is in the same USB device", arguments: ["dev/video0", "dev/by-id"])
    func own(device: String) {
        #expect(finder.microphone(ofCamera: folder.path(device))?.name == "plughw:CARD=C920,DEV=0")
    }

    @Test("a camera without a microphone has none, whatever its number begins with")
    func none() {
        #expect(finder.microphone(ofCamera: folder.path("dev/video2")) == nil)
        #expect(finder.microphone(ofCamera: "test") == nil)
    }

    @Test("the choice is made once: nothing takes the place of a microphone that is away")
    func choice() throws {
        let choice = MicrophoneChoice(nil, camera: folder.path("dev/video0"), finder: finder)
        #expect(choice.name == "plughw:CARD=C920,DEV=0" && choice.reason == .inCamera)
        try FileManager.default.removeItem(atPath: folder.path("class/sound/card1"))
        #expect(choice.name == "plughw:CARD=C920,DEV=0")
        let other = MicrophoneChoice(nil, camera: folder.path("dev/video2"), finder: finder)
        #expect(other.name == "default" && other.reason == .systemDefault)
        #expect(MicrophoneChoice("hw:3", camera: "", finder: finder).reason == .requested)
    }
}
