import Testing

@testable import Bitstream
