import CV4L2

@testable import Capture

/// Several scripted devices under their paths.
final class ScriptedMachine: V4L2Calls, @unchecked Sendable {
    // Safe to share: a test uses it from one thread.
    var devices: [String: ScriptedDevice]
    private(set) var openDescriptors: [Int32: ScriptedDevice] = [:]
    private var nextDescriptor: Int32 = 2000
    /// What sysfs says about the nodes, by their paths.
    var places: [String: NodePlace] = [:]
    /// Paths that may not be opened.
    var forbidden: Set<String> = []
    /// The error of open if there is no device.
    var openError = ENOENT

    init(_ devices: [String: ScriptedDevice]) { self.devices = devices }

    var paths: [String] { devices.keys.sorted() }

    func open(_ path: String) -> Int32 {
        if forbidden.contains(path) { return -EACCES }
        guard let device = devices[path] else { return -openError }
        nextDescriptor += 1
        openDescriptors[nextDescriptor] = device
        return nextDescriptor
    }

    func lock(_ descriptor: Int32) -> Int32 { openDescriptors[descriptor]?.lock(descriptor) ?? -EBADF }

    func unlock(_ descriptor: Int32) {}

    func close(_ descriptor: Int32) { openDescriptors.removeValue(forKey: descriptor)?.close(descriptor) }

    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
        openDescriptors[descriptor]?.control(descriptor, request, argument) ?? -EBADF
    }

    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno> {
        openDescriptors[descriptor]?.map(descriptor, length: length, offset: offset)
            ?? .failure(Errno(code: EBADF))
    }
}
