import ArgumentParser
import Encoder
import CamRecorder
import Output
import CamCommandLine

/// Options for a ring that triggers by itself.
struct MotionOptions: ParsableArguments {
    @Flag(
        help:
            "With --ring, trigger by itself while something moves. Noise, flicker and changes of the light do not trigger."
    )
    var onMotion = false

    @Option(
        help: ArgumentHelp(
            "How small and faint a thing triggers --on-motion, from 1 (only large and clear ones) to 10. Default: 5.",
            valueName: "N"), transform: PlainValue.number(MotionSensitivity.levels))
    var motionSensitivity: Int?

    @Option(
        help: ArgumentHelp(
            "A PGM or PNG picture of any size: nothing triggers --on-motion where it is black.",
            valueName: "FILE"),
        completion: .file(extensions: ["pgm", "png"]))
    var motionMask: String?

    /// What to watch for; nil without `--on-motion`.
    /// - Parameter crop: the part of the camera's picture that is recorded.
    /// - Throws: if the mask cannot be used.
    func plan(crop: CropRectangle?) throws(RecordingError) -> MotionPlan? {
        guard onMotion else { return nil }
        do throws(InputError) {
            return MotionPlan(
                sensitivity: motionSensitivity.flatMap(MotionSensitivity.init) ?? .usual,
                mask: try motionMask.map { path throws(InputError) in try MotionMask(path: path) },
                crop: crop)
        } catch { throw .input(error) }
    }
}
