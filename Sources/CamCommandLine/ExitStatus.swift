import Glibc

/// The exit codes of all programs: those of `<sysexits.h>` that fit.
package enum ExitStatus: Int32, Error {
    case done = 0
    /// A check failed.
    case violation = 1
    case usage = 64
    case badInput = 65
    /// No such device or file.
    case noInput = 66
    case unavailable = 69
    case cannotCreate = 73
    case inputOutput = 74
    case busy = 75
    /// As a service: the recording is finished, with losses. Do not restart.
    case incomplete = 76
    case noPermission = 77
    /// As a service: the recording ended at a cut, and continues in a newer version of the program.
    case superseded = 79
}
