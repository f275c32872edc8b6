import Testing

@testable import Encoder
