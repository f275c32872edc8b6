import Bitstream
import CamPlatform
import CamSound
import Containers

/// Keeps what is written, and fails or stalls under a test's control.
final class ScriptedSink: AccessUnitSink, @unchecked Sendable {
    // Safe to share: the writer's alone, until it has ended.
    let name = "scripted"
    let identity: FileIdentity? = nil
    private(set) var units: [AccessUnit] = []
    var takesSound = false
    private(set) var sounds: [SoundPacket] = []
    private(set) var descriptions: [StreamDescription] = []
    private(set) var isFinished = false
    /// The failures, by access unit, counted from 0.
    var failures: [Int: OutputError.Kind] = [:]
    /// Whether it continues after a failure; access units that failed are counted, too.
    var recovers = false
    private var count = 0
    private(set) var currentOutage: OutputOutage?
    /// What each look finds while nothing is written.
    var findings: [OutputOutage?] = []
    /// Called with the room that each look wants.
    var onLook: (Int) -> Void = { _ in }

    func lookForOutage(room: Int) {
        onLook(room)
        if !findings.isEmpty { currentOutage = findings.removeFirst() }
    }

    var finishFailure: OutputError.Kind?
    /// Called with the number of each access unit before it is written.
    var onUnit: (Int) -> Void = { _ in }

    /// What turns out to be lost after the access unit with this number, counted from 0, was written.
    var retractions: [Int: WrittenUnits] = [:]

    func takeRetracted() -> WrittenUnits { retractions.removeValue(forKey: count - 1) ?? WrittenUnits() }

    var maintenanceInterval: Duration?
    var onMaintenance: () -> Void = {}

    func maintain() { onMaintenance() }

    func write(_ unit: AccessUnit) throws(OutputError) {
        onUnit(count)
        defer { count += 1 }
        if let kind = failures[count] {
            let error = OutputError(kind, output: name)
            if recovers { currentOutage = OutputOutage(error, since: WallTime(seconds: 5)) }
            throw error
        }
        currentOutage = nil
        units.append(unit)
    }

    private(set) var hasSoundEnded = false

    func write(_ sound: SoundPacket) { sounds.append(sound) }

    func endSound() { hasSoundEnded = true }

    func beginStream(_ description: StreamDescription) { descriptions.append(description) }

    func finish() throws(OutputError) {
        if let finishFailure { throw OutputError(finishFailure, output: name) }
        isFinished = true
    }

    var idrPositions: [Int] { units.indices.filter { units[$0].isIDR } }
    var sequences: [UInt32] { units.map(\.sequence) }
}
