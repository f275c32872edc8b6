import TestSupport
import Testing

@testable import CamWeb

@Suite("cameras of the recorders' settings")
struct CameraSourceTests {
    private let folder = TemporaryFolder()

    private func cameras() -> [String] {
        CameraSource.settings(folder: folder.path(".")).find().cameras.map { "\($0.name) \($0.address)" }
    }

    @Test("those that listen, by name")
    func found() {
        folder.write("garden.conf", "device = /dev/video1\nlisten = 0.0.0.0:9983\n")
        folder.write("door.conf", "listen = unix:/run/camrec/door/live,mode=660 # for camweb\n")
        folder.write("shed.conf", "listen = unix:live\nsize = 640x480\n")
        folder.write("attic.conf", "listen = [::]:9984\nlisten = \"unix:/run/a b/live\"\n")
        #expect(
            cameras() == [
                "attic unix:/run/a b/live", "door unix:/run/camrec/door/live", "garden tcp://127.0.0.1:9983",
                "shed unix:/var/lib/camrec/shed/live",
            ])
    }

    @Test("of several streams, that of the whole pictures")
    func renditions() {
        folder.write("a.conf", "listen = unix:/small,mode=660,size=640x360\nlisten = 9982\n")
        folder.write("b.conf", "listen = 9983,fps=5\n")
        folder.write("c.conf", "listen = 9984,size=1280x720\n")
        folder.write(
            "d.conf", "listen = 9985\nlisten = 9986,size=320x240\nlisten = unix:d,size=320x240,fps=5\n")
        folder.write(
            "e.conf",
            "listen = 1\nlisten = 2,size=640x360\nlisten = 3,size=320x180\nlisten = 4,size=2x2,codec=hevc\n")
        #expect(
            cameras() == [
                "a tcp://127.0.0.1:9982", "b tcp://127.0.0.1:9983", "c tcp://127.0.0.1:9984",
                "d tcp://127.0.0.1:9985", "e tcp://127.0.0.1:1",
            ])
        let small = CameraSource.settings(folder: folder.path(".")).find().cameras.map(\.smallAddress)
        #expect(
            small.map { $0.map { "\($0)" } } == [
                "unix:/small", nil, nil, "unix:/var/lib/camrec/d/d", "tcp://127.0.0.1:3",
            ])
    }

    @Test("their control sockets")
    func controls() {
        folder.write("a.conf", "listen = unix:/live\ncontrol-socket = /run/camrec/a/control,mode=660\n")
        folder.write("b.conf", "listen = 9982\ncontrol-socket = control\n")
        folder.write("c.conf", "listen = 9983\n")
        let cameras = CameraSource.settings(folder: folder.path(".")).find().cameras
        #expect(cameras.map(\.control) == ["/run/camrec/a/control", "/var/lib/camrec/b/control", nil])
    }

    @Test("no others, and no files that are not settings")
    func others() {
        folder.write("silent.conf", "output = a.mkv\n")
        folder.write("container.conf", "listen = 9982\nstream-format = mkv\n")
        folder.write("anyport.conf", "listen = 0\n")
        folder.write("wrong.conf", "listen = unix:\n")
        folder.write("binary.conf", [0xFF, 0xFE, 0])
        folder.write("door.conf~", "listen = 9982\n")
        folder.write(".hidden.conf", "listen = 9982\n")
        folder.write("password", "listen = 9982\n")
        #expect(cameras().isEmpty)
    }

    @Test("a folder that is not there has none")
    func missing() {
        let found = CameraSource.settings(folder: folder.path("none")).find()
        #expect(found.cameras.isEmpty)
        #expect(found.emptiness?.contains("/none: No such file or directory; start camweb with") == true)
    }

    @Test("why there are none names the folder")
    func empty() {
        let source = CameraSource.settings(folder: folder.path)
        #expect(
            source.find().emptiness
                == "none yet; add listen = unix:/run/camrec/NAME/live,mode=660 to \(folder.path)/NAME.conf")
        folder.write("silent.conf", "output = a.mkv\n")
        #expect(source.find().emptiness?.hasPrefix("none of the 1 settings offers a raw stream; add") == true)
    }
}
