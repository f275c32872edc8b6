import Glibc

/// What the process has done so far: with it one that works is told from one that waits.
struct ProcessActivity {
    /// Nanoseconds of processors, of all threads.
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

    /// Whether it worked for a twentieth of the time at least, or read pages: a camera's pictures that are thrown
    /// away meanwhile, and a driver that looks again and again whether its GPU answers, take less.
    /// - Parameter tick: nanoseconds between the two.
    func wasBusy(since earlier: Self, tick: Int64) -> Bool {
        processorTime - earlier.processorTime >= tick / 20 || majorFaults > earlier.majorFaults
    }
}
