import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs.
    ///
    /// A test's time counts while it waits for a thread, and all tests begin at once on as many threads as there are
    /// processors. So the limit is longer than a run of all tests on a busy machine.
    public static var hangGuard: Self { .timeLimit(.minutes(20)) }
}
