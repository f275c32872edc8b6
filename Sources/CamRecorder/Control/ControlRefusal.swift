/// Why a command is not carried out: one line, the next step last.
struct ControlRefusal: Error {
    let reason: String
}
