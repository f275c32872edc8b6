/// Motion triggers a ring, and is seen in pictures.
struct MotionRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let motion = command.motion
        guard motion.onMotion else {
            return motion.motionSensitivity == nil && motion.motionMask == nil
                ? nil : "--motion-sensitivity and --motion-mask need --on-motion; add it"
        }
        if command.segments.ring == nil { return "--on-motion needs --ring; add it, as in --ring 10s" }
        return command.source.format == .h264
            ? "--on-motion needs pictures, and --format h264 passes on what the camera has coded; use another --format"
            : nil
    }
}
