#if compiler(<6.3)
    import Testing

    extension Test {
        /// Ends a test that cannot run here. Swift 6.2 cannot skip a running test: it fails, with the reason.
        public static func cancel(_ reason: String) throws -> Never { throw Cancelled(description: reason) }

        private struct Cancelled: Error, CustomStringConvertible { let description: String }
    }
#endif
