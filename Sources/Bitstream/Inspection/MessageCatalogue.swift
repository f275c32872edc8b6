/// The supplemental enhancement information of a stream as it comes by.
struct MessageCatalogue: Sendable {
    private(set) var records: [MessageRecord] = []
}
