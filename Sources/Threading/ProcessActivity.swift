import Glibc

/// The work a process has done so far. Two of these show whether it was working or waiting in between.
struct ProcessActivity {
    /// Nanoseconds of processor time, of all threads.
    let processorTime: Int64
    /// Pages that had to be read from a disk (getrusage(2)), as those of a library that is loaded.
    let majorFaults: Int

    static var untilNow: Self {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let microseconds = [usage.ru_utime, usage.ru_stime].reduce(Int64(0)) { sum, time in
            sum + Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec)
        }
        return Self(processorTime: microseconds * 1000, majorFaults: usage.ru_majflt)
    }

    /// Whether the process used at least a twentieth of a processor, or read pages from disk. Discarding a camera's
    /// frames, or polling a GPU that does not answer, takes less.
    /// - Parameter tick: nanoseconds between the two.
    func wasBusy(since earlier: Self, tick: Int64) -> Bool {
        processorTime - earlier.processorTime >= tick / 20 || majorFaults > earlier.majorFaults
    }
}
