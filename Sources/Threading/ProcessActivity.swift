import Glibc

/// The work a process has done so far. Two of these show whether it was working or waiting in between.
struct ProcessActivity {
    /// Of all threads.
    let processorTime: Duration
    /// Pages that had to be read from a disk (getrusage(2)), as those of a library that is loaded.
    let majorFaults: Int

    static var untilNow: Self {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let time = Duration.seconds(usage.ru_utime.tv_sec) + .microseconds(usage.ru_utime.tv_usec)
        return Self(
            processorTime: time + .seconds(usage.ru_stime.tv_sec) + .microseconds(usage.ru_stime.tv_usec),
            majorFaults: usage.ru_majflt)
    }

    /// Whether the process used at least a twentieth of a processor, or read pages from disk. Discarding a camera's
    /// frames, or polling a GPU that does not answer, takes less.
    /// - Parameter tick: the time between the two.
    func wasBusy(since earlier: Self, tick: Duration) -> Bool {
        processorTime - earlier.processorTime >= tick / 20 || majorFaults > earlier.majorFaults
    }
}
