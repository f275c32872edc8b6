import Glibc
import NIOHTTP1
import Output

extension Refusal {
    static let noRecordings = Refusal(
        status: .notFound,
        reason: "no folder of recordings is known for this camera; start camweb with --recordings NAME=FOLDER"
    )
    static let noSegment = Refusal(
        status: .notFound, reason: "this recording is gone; load the list of recordings again")
    static let nothingRecorded = Refusal(
        status: .notFound, reason: "nothing was recorded then; choose another time")
    static let busy = Refusal(
        status: .serviceUnavailable, reason: "too many recordings are being read; try again in a moment",
        headers: ["Retry-After": "2"])

    /// None of the bytes exists.
    static func noSuchRange(of count: Int) -> Refusal {
        Refusal(
            status: .rangeNotSatisfiable, reason: "the file has \(count) bytes",
            headers: ["Content-Range": "bytes */\(count)"])
    }

    static func noRoom(for count: Int, in folder: String) -> Refusal {
        Refusal(
            status: .insufficientStorage,
            reason: "\(folder): too little free space for \(count >> 20) MB; choose a shorter time")
    }

    static func noScratch(_ folder: String) -> Refusal {
        Refusal(
            status: .insufficientStorage,
            reason: "\(folder): cannot be used for downloads; start camweb with another --scratch"
        )
    }

    static func unreadable(_ name: String, _ reason: String) -> Refusal {
        Refusal(status: .unprocessableEntity, reason: "\(name): \(reason)")
    }

    static func unreadable(_ error: RemuxError) -> Refusal {
        Refusal(status: .unprocessableEntity, reason: "\(error)")
    }

    /// The copy failed: because of what was read, or of where it is written.
    static func notCopied(_ error: RemuxError) -> Refusal {
        switch error {
        case .output: Refusal(status: .insufficientStorage, reason: "\(error)")
        default: unreadable(error)
        }
    }
}
