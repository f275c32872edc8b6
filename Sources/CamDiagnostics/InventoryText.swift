import Bitstream

extension Inventory {
    /// The inventory as text, without a trailing newline.
    public var text: String {
        let cameraText =
            cameras.isEmpty
            ? "  none (--device test gives a test picture)" : cameras.map(\.text).joined(separator: "\n")
        let microphoneText = microphones.isEmpty ? "  none" : microphones.map(\.text).joined(separator: "\n")
        return "Cameras\n\(cameraText)\n\nMicrophones\n\(microphoneText)\n\nEncoders\n"
            + encoders.map(\.text).joined(separator: "\n")
    }
}

extension CameraEntry {
    fileprivate var text: String {
        var lines = ["  \(path)" + (name.map { "  \($0)" } ?? "")]
        if let driver, let bus { lines.append("    driver \(driver), bus \(bus)") }
        if let stablePath { lines.append("    \(stablePath)") }
        if let problem { lines.append("    \(problem)") }
        if let reservation { lines.append("    used only with --device: \(reservation)") }
        for input in inputs {
            lines.append("    input \(input.number): \(input.name)\(input.isInUse ? ", in use" : "")")
        }
        if !standards.isEmpty {
            let names = standards.map { $0.name + ($0.isInUse ? " (in use)" : "") }
            lines.append("    standards: \(names.joined(separator: ", "))")
        }
        for format in formats {
            lines.append("    \(format.pixelFormat)  \(format.name)")
            for size in format.sizes {
                let rates =
                    size.rates.isEmpty ? "" : "  at \(size.rates.map(Self.rate).joined(separator: ", "))"
                lines.append("      \(size.size)\(rates)")
            }
        }
        if let controls {
            lines.append(controls.isEmpty ? "    no controls" : "    Controls")
            lines += controls.map(\.text)
        }
        return lines.joined(separator: "\n")
    }

    private static func rate(_ rate: Double) -> String {
        let hundredths = Int((rate * 100).rounded())
        let (whole, fraction) = hundredths.quotientAndRemainder(dividingBy: 100)
        return fraction == 0 ? "\(whole)" : "\(whole).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}

extension MicrophoneSummary {
    fileprivate var text: String {
        var lines = ["  \(name)  \(title)"]
        if let lowestRate, let highestRate, let channels {
            let rates = lowestRate == highestRate ? "\(lowestRate)" : "\(lowestRate) to \(highestRate)"
            lines.append("    \(rates) Hz, \(channels == 1 ? "1 channel" : "up to \(channels) channels")")
        }
        if let problem { lines.append("    \(problem)") }
        return lines.joined(separator: "\n")
    }
}

extension EncoderEntry {
    fileprivate var text: String {
        var lines = ["  \(node ?? "software")  \(driver)"]
        if let problem { lines.append("    \(problem)") }
        for profile in profiles {
            let headers =
                profile.packedHeaders.isEmpty
                ? "written by the driver" : profile.packedHeaders.joined(separator: ", ")
            lines.append(
                "    \(profile.codec) \(profile.profile), \(profile.entryPoint): "
                    + "\(profile.rateControlModes.joined(separator: " "))"
                    + (node == nil ? "" : "; packed headers: \(headers)")
                    + (profile.maximumSize.map { "; up to \($0)" } ?? "")
                    + (profile.bFrames ? "; B frames" : ""))
        }
        for codec in Codec.allCases
        where problem == nil && !profiles.contains(where: { $0.codec == "\(codec)" }) {
            lines.append("    \(codec): no encoder")
        }
        return lines.joined(separator: "\n")
    }
}

extension CameraEntry.Control {
    fileprivate var text: String {
        let details = [choices, defaultValue.map { "default \($0)" }, obstacle].compactMap { $0 }
        return "      \(name)" + (value.map { "=\($0)" } ?? "") + "  (\(details.joined(separator: "; ")))"
    }
}
