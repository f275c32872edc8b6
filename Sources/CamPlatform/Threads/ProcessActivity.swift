import Glibc

/// The work a process has done so far. Comparing two values shows whether it worked or waited in between.
struct ProcessActivity {
    /// Of all threads.
    let processorTime: Duration
    /// Pages read from a disk (getrusage(2)), such as those of a library being loaded.
    let majorFaults: Int

    static var untilNow: Self {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let time = Duration.seconds(usage.ru_utime.tv_sec) + .microseconds(usage.ru_utime.tv_usec)
        return Self(
            processorTime: time + .seconds(usage.ru_stime.tv_sec) + .microseconds(usage.ru_stime.tv_usec),
            majorFaults: usage.ru_majflt)
    }

    /// Returns whether the process used at least a twentieth of a processor, or read pages from disk. Discarding a
    /// camera's frames, or polling a GPU that does not answer, takes less.
    /// - Parameter tick: the time between the two values.
    func wasBusy(since earlier: Self, tick: Duration) -> Bool {
        processorTime - earlier.processorTime >= tick / 20 || majorFaults > earlier.majorFaults
    }
}
