"""Carries a run out: begins stages, bounds them, and prints what each said, in order."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from results import REPOSITORY, costs
from schedule import Schedule

UNAVAILABLE = 75  # a stage's status: this machine cannot have it
BUSY = "while :; do :; done"
LATER = ["nice", "-n", "10"]
LONGEST = 12


class Running:
    """A stage's processes."""

    def __init__(self, stage, results, environment, has_time):
        self.stage = stage
        self.begin = time.monotonic()
        self.log = open(results.log(stage), "wb")
        results.tally(stage).touch()
        environment = {**environment, "LAB_TALLY": str(results.tally(stage))}
        # A session of its own, by which all that it leaves behind is found.
        self.process = subprocess.Popen(
            isolated(stage, has_time), cwd=REPOSITORY, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )
        if has_time:
            give_way(self.process.pid)

    @property
    def seconds(self):
        return time.monotonic() - self.begin

    def processes(self):
        """Its session's, but for those that began one of their own."""
        listed = subprocess.run(["ps", "-o", "pid,ppid,stat,etimes,args", "--sid", str(self.process.pid)], capture_output=True, text=True, check=False)
        return listed.stdout.splitlines()

    def kill(self):
        for line in self.processes()[1:]:
            try:
                os.kill(int(line.split()[0]), signal.SIGKILL)
            except ProcessLookupError:
                pass


def give_way(session):
    """Puts a session behind others. The kernel schedules a session as one group, within which alone nice(1) counts
    (sched(7), the autogroup feature); where it does not, there is no such file."""
    try:
        pathlib.Path(f"/proc/{session}/autogroup").write_text("10", encoding="ascii")
    except OSError:
        pass


def isolated(stage, has_time):
    command = [str(REPOSITORY / stage.command[0]), *stage.command[1:]]
    if not stage.is_online and os.geteuid() == 0 and shutil.which("ip"):
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    return [*LATER, *command] if has_time else command


class Run:
    def __init__(self, stages, results, options):
        self.stages = stages
        self.results = results
        self.schedule = Schedule(stages, costs(stages), options.jobs)
        self.running = {}
        self.printed = 0
        self.begin = time.monotonic()
        self.load = options.load
        self.resumes = options.resume
        build = "release" if any(stage.name == "release-build" for stage in stages) else "debug"
        self.environment = {**os.environ, "CAMREC": str(REPOSITORY / ".build" / build / "camrec"), "CAMREC_BUILD": build}
        if options.filter:
            self.environment["UNIT_FILTER"] = options.filter

    def outcome(self):
        """The exit status, once every stage has ended."""
        self.results.folder.mkdir(parents=True, exist_ok=True)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        loops = [subprocess.Popen(["sh", "-c", BUSY]) for _ in range(self.load)]
        try:
            while self.schedule.waiting or self.running:
                self.begin_stages()
                self.show_progress()
                if self.running:
                    signal.sigtimedwait({signal.SIGCHLD}, 5)
                self.end_stages()
                self.print_ended()
        finally:
            for process in loops:
                process.kill()
            for running in self.running.values():
                running.kill()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        return self.summary()

    def begin_stages(self):
        for stage in iter(self.schedule.next, None):
            if self.resumes and self.results.passed(stage) and not stage.is_build:
                self.schedule.end(stage)
            elif missing := [need for need in stage.needs if need in self.schedule.needs[stage.name] and not self.is_met(need)]:
                self.leave_out(stage, missing[0])
            else:
                (self.results.folder / f"{stage.name}.json").unlink(missing_ok=True)
                self.results.tally(stage).unlink(missing_ok=True)
                self.running[stage.name] = Running(stage, self.results, self.environment, not (self.load or stage.is_real_time))

    def is_met(self, name):
        need = next(stage for stage in self.stages if stage.name == name)
        outcome = self.results.outcome(need)
        return outcome is not None and outcome["status"] == 0 and (not need.is_build or self.results.passed(need))

    def leave_out(self, stage, need):
        """What is needed is missing: a failure is not counted twice, and what this machine cannot have is skipped."""
        self.results.log(stage).write_text("", encoding="utf-8")
        self.results.tally(stage).write_text(f"skip\t{stage.name}\tneeds {need}\n", encoding="utf-8")
        self.results.record(stage, status=UNAVAILABLE, wall=0, processor=0)
        self.schedule.end(stage)

    def end_stages(self):
        for name, running in list(self.running.items()):
            pid, status, usage = os.wait4(running.process.pid, os.WNOHANG)
            if pid == 0 and running.seconds < running.stage.limit:
                continue
            if pid == 0:
                self.report(running, f"has not ended after {running.stage.limit} s; its processes: " + " / ".join(running.processes()))
                running.kill()
                _, status, usage = os.wait4(running.process.pid, 0)
            running.process.returncode = code = os.waitstatus_to_exitcode(status)
            if code not in (0, UNAVAILABLE):
                self.report(running, f"ended with status {code}")
            running.kill()  # what it left behind
            running.log.close()
            self.results.record(running.stage, status=code, wall=round(running.seconds, 1), processor=round(usage.ru_utime + usage.ru_stime, 1))
            self.schedule.end(running.stage)
            del self.running[name]

    def report(self, running, reason):
        with open(self.results.tally(running.stage), "a", encoding="utf-8") as tally:
            print("fail", running.stage.name, reason, sep="\t", file=tally)
        running.log.write(f"FAIL  {running.stage.name}: {reason}\n".encode())

    def print_ended(self):
        """Logs stay apart: a stage's is printed when all before it are."""
        while self.printed < len(self.stages) and self.stages[self.printed].name in self.schedule.ended:
            stage = self.stages[self.printed]
            outcome = self.results.outcome(stage)
            print(f"\n==> {stage.name}", flush=True)
            sys.stdout.buffer.write(self.results.log(stage).read_bytes())
            print(f"    ({outcome['wall']:.0f} s, processors {outcome['processor']:.0f} s, {outcome['checks']} checks)", flush=True)
            self.printed += 1

    def show_progress(self):
        if sys.stderr.isatty():
            print(f"\r\033[K{len(self.schedule.ended)} of {len(self.stages)} stages; {', '.join(self.running)}", end="", file=sys.stderr, flush=True)

    def times(self):
        """Where the time went: it decides which stage is worth shortening."""
        outcomes = {stage.name: self.results.outcome(stage) for stage in self.stages}
        longest = sorted(outcomes, key=lambda name: -outcomes[name]["processor"])[:LONGEST]
        lines = [f"  {name}: {outcomes[name]['wall']:.0f} s, processors {outcomes[name]['processor']:.0f} s" for name in longest]
        used = sum(outcome["processor"] for outcome in outcomes.values())
        return "\n".join([f"{time.monotonic() - self.begin:.0f} s, processors {used:.0f} s, most of them in:", *lines])

    def summary(self):
        """Prints what failed and was skipped, and the totals."""
        checks = [(stage, *check) for stage in self.stages for check in self.results.checks(stage)]
        print()
        for outcome, title in (("fail", "Failed"), ("skip", "Skipped")):
            if found := [check for check in checks if check[1] == outcome]:
                print(f"{title}:")
                for _, _, name, reason in found:
                    print(f"  {name}: {reason}")
                print()
        print(self.times(), end="\n\n")
        counts = [sum(check[1] == outcome for check in checks) for outcome in ("pass", "fail", "skip")]
        print(f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped", flush=True)
        if any(stage.is_build and not self.results.passed(stage) for stage in self.stages):
            return 2
        return int(counts[1] > 0 or counts[0] == 0)
