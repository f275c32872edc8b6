"""Which stages run when: the same decisions for a real run and for a simulated one."""

import dataclasses
import itertools

# Loads are averages, so a little more than the machine's processors keeps all of them busy. But stages that mostly wait
# also have moments in which they want a processor at once.
OVERCOMMITMENT = 1.25
MORE_STAGES = 1


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a stage took alone: seconds of the clock and of the processors, and how many checks it made."""

    wall: float
    processor: float
    checks: int = 0

    @property
    def load(self):
        """How many processors it keeps busy."""
        return max(0.1, self.processor / max(self.wall, 1))


class Schedule:
    """Begins the stages whose needs have ended, those on the longest path first, while there are free processors."""

    def __init__(self, stages, costs, jobs):
        self.jobs = jobs
        self.costs = costs
        self.waiting = list(stages)
        self.running = []
        self.ended = set()
        planned = {stage.name for stage in stages}
        self.needs = {stage.name: [need for need in stage.needs if need in planned] for stage in stages}
        self.guests = max(1, jobs // 2)
        self.urgency = {}
        guests = 0.0
        for stage in reversed(stages):  # a stage stands behind what it needs
            after = [self.urgency[other.name] for other in stages if stage.name in self.needs[other.name]]
            self.urgency[stage.name] = costs[stage.name].wall + max(after, default=0)
            if stage.is_guest:  # they wait for each other
                guests += costs[stage.name].wall / self.guests
                self.urgency[stage.name] = max(guests, self.urgency[stage.name])

    def load(self, stage):
        return min(self.costs[stage.name].load, self.jobs)

    def next(self):
        """A stage to begin now, or None."""
        ready = [stage for stage in self.waiting if self.ended.issuperset(self.needs[stage.name]) and self.may_begin(stage)]
        ready.sort(key=lambda stage: -self.urgency[stage.name])
        room = self.jobs * OVERCOMMITMENT - sum(map(self.load, self.running))
        fitting = [stage for stage in ready if self.load(stage) <= room]
        # Where none fits, a processor is shared rather than left to one stage that also waits.
        chosen = next(iter(fitting or (ready if len(self.running) < self.jobs else [])), None)
        if chosen:
            self.waiting.remove(chosen)
            self.running.append(chosen)
        return chosen

    def may_begin(self, stage):
        if self.jobs == 1 or stage.is_alone or any(other.is_alone for other in self.running):
            return not self.running
        guests = sum(other.is_guest for other in self.running)
        return len(self.running) < self.jobs + MORE_STAGES and not (stage.is_guest and guests >= self.guests)

    def end(self, stage):
        self.running.remove(stage)
        self.ended.add(stage.name)


def simulate(stages, costs, processors):
    """How long the stages would take, and how much of the processors they would use.

    A stage never takes less than it did alone: what a build would gain from more processors is not known. Where the
    running stages want more processors than there are, all of them slow down alike.
    """
    schedule = Schedule(stages, costs, processors)
    left, clock = {}, 0.0
    while schedule.waiting or schedule.running:
        for stage in iter(schedule.next, None):
            left[stage.name] = costs[stage.name].wall
        wanted = sum(min(costs[stage.name].load, processors) for stage in schedule.running)
        speed = min(1, processors / wanted)
        step = min(left[stage.name] for stage in schedule.running) / speed
        clock += step
        for stage in list(schedule.running):
            left[stage.name] -= step * speed
            if left[stage.name] < 1e-6:
                schedule.end(stage)
    used = sum(costs[stage.name].processor for stage in stages)
    return clock, used / (clock * processors) if clock else 0


def with_needs(chosen, stages):
    """The chosen stages and all that they need, in the table's order."""
    wanted, known = {stage.name for stage in chosen}, {stage.name: stage for stage in stages}
    while True:
        more = set(itertools.chain(*(known[name].needs for name in wanted))) & known.keys() - wanted
        if not more:
            return [stage for stage in stages if stage.name in wanted]
        wanted |= more
