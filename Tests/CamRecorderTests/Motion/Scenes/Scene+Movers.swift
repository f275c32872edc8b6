import CamPictures
import TestSupport

extension Scene {
    /// What moves through a scene, for a picture of 90 rows; smaller pictures have it smaller.
    struct Kind: Sendable, CustomStringConvertible {
        let description: String
        var width: Float = 8
        var height: Float = 20
        /// Cells a second.
        var speed: Float = 12
        var upper: ClosedRange<Float> = 0.1...0.6
        /// How much more the lower half reflects.
        var contrast: Float = 0.3
        var noise: Float = 0.5
        var ambient: Float = 0.6

        /// Known events: each must be seen.
        static let all = [
            Kind(description: "a person"), Kind(description: "a slow person", speed: 2),
            Kind(description: "a fast person", speed: 80),
            Kind(description: "a person near the camera", width: 40, height: 85, speed: 40),
            Kind(description: "a small thing", width: 4, height: 4, speed: 8),
            Kind(description: "a small and fast thing", width: 4, height: 4, speed: 60),
            Kind(description: "a person with little contrast", speed: 10, upper: 0.35...0.35, contrast: 0.05),
            Kind(description: "a person in noise", speed: 10, noise: 4),
            Kind(description: "a person at night", speed: 10, noise: 2.5, ambient: 0.05),
            Kind(description: "a slow person at night", speed: 3, noise: 2.5, ambient: 0.05),
        ]
    }

    /// A scene through which something moves from one side to the other, after five seconds.
    /// - Returns: the scene, and when it is there, in seconds.
    static func crossing(_ kind: Kind, _ size: PictureSize, seed: UInt64) -> (
        scene: Scene, times: ClosedRange<Double>
    ) {
        var scene = Scene(size, seed: seed)
        var random = SeededGenerator(seed: seed &* 77)
        (scene.noise, scene.ambient) = (kind.noise, kind.ambient)
        let (columns, rows) = (Float(scene.layout.columns), Float(scene.layout.rows))
        let scale = rows / 90
        let (width, height, speed) = (kind.width * scale, kind.height * scale, kind.speed * scale)
        let row = Float.random(in: height / 2...max(height / 2, rows - height / 2), using: &random)
        let goesRight = Bool.random(using: &random)
        let upper = Float.random(in: kind.upper, using: &random)
        let times = 5...5 + Double((columns + width) / speed)
        scene.movers = [
            Mover(
                width: width, height: height, upper: upper, lower: upper + kind.contrast,
                start: SIMD2(goesRight ? -width / 2 : columns + width / 2, row),
                velocity: SIMD2(goesRight ? speed : -speed, 0), times: times)
        ]
        return (scene, times)
    }
}
