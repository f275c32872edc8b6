import Glibc
import CamPictures
import TestSupport

extension Scene {
    /// What changes pictures in which nothing moves.
    enum Disturbance: String, CaseIterable {
        case faintNoise, noise, strongNoise, strongestNoise, darkNoise
        case lightSteps, lightStepsWithExposure, dimming
        case exposureHunting, fastExposureHunting
        case flickerAt50Hz, flickerAt60Hz, pulsedLight

    }

    /// A scene in which nothing moves.
    static func disturbed(by disturbance: Disturbance, _ size: PictureSize, seed: UInt64) -> Scene {
        var scene = Scene(size, seed: seed)
        switch disturbance {
        case .faintNoise: scene.noise = 0.3
        case .noise: scene.noise = 1
        case .strongNoise: scene.noise = 3
        case .strongestNoise: scene.noise = 6
        case .darkNoise: (scene.noise, scene.ambient) = (4, 0.02)
        case .lightSteps:
            scene.light(
                [steps(seed, every: 20, lasting: 0.05), steps(seed + 9, every: 33, lasting: 0.05)], seed)
        case .lightStepsWithExposure:
            let level = steps(seed, every: 20, lasting: 0.05)
            scene.light([level], seed)
            // The camera follows within two seconds.
            scene.gain = { time in
                1 / (0.3 + (0..<8).reduce(0) { $0 + level(max(0, time - Double($1) * 0.2)) } / 16)
            }
        case .dimming: scene.light([steps(seed, every: 20, lasting: 6)], seed)
        case .exposureHunting: scene.gain = { 1 + 0.35 * Float(sin($0 * 2.1) * sin($0 * 0.13)) }
        case .fastExposureHunting: scene.gain = { 1.5 * expf(0.6 * Float(sin($0 * 5.3) * sin($0 * 0.13))) }
        case .flickerAt50Hz: scene.flicker = waves(100.03, readout: 0.025)
        case .flickerAt60Hz: scene.flicker = waves(120.3, readout: 0.03)
        case .pulsedLight:
            scene.flicker = { time, place in
                let phase = 200.2 * (time + Double(place) * 0.02)
                return phase - phase.rounded(.down) < 0.6 ? 1 : 0.6
            }
        }
        return scene
    }

    private mutating func light(_ levels: [(Double) -> Float], _ seed: UInt64) {
        ambient = 0.2
        lamps = levels.enumerated().map { Lamp(layout, seed: seed + UInt64($0) * 100, level: $1) }
    }

    /// Light that goes to another level from time to time.
    private static func steps(_ seed: UInt64, every period: Double, lasting ramp: Double) -> (Double) -> Float
    {
        func level(_ number: Int) -> Float {
            guard number > 0 else { return 0 }
            var random = SeededGenerator(seed: seed &* 31 &+ UInt64(number))
            return [0, 0.5, 1.5, 3].randomElement(using: &random) ?? 0
        }
        return { time in
            let number = Int(time / period)
            let share = Float(min(1, (time - Double(number) * period) / ramp))
            return level(number - 1) + (level(number) - level(number - 1)) * share
        }
    }

    /// Light from the mains, seen by a sensor that reads row after row.
    /// - Parameter readout: from the first row to the last, in seconds.
    private static func waves(_ frequency: Double, readout: Double) -> (Double, Float) -> Float {
        { time, place in 1 + 0.25 * Float(sin(2 * .pi * frequency * (time + Double(place) * readout))) }
    }
}
