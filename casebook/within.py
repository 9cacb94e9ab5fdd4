"""How much of one quantity does another explain within groups? Least squares with an effect of its own for each group.

Method: in each group the means are taken off, so that what differs between groups (other instructions, another unit)
explains nothing; one slope is fitted for all. The share explained is that of the variance within groups. A third
quantity may be taken off as well, at a price of its own in each group: the share is then of the variance that it leaves
(Frisch and Waugh, Econometrica 1, 1933). A slope below 0 explains nothing here: no misprediction saves time. Intervals:
bootstrap over groups, as the cells of one group share more than their effect. With 36 groups whose variances differ, 95
% intervals held the planted slope in 373 of 400 simulations (scripts/test_profiles.py). Checked there against the
normal equations in exact fractions.
Limits: a share is of the variance there is. Where one group has nearly all of it, the share is that group's, and so is
the interval.
"""

import random
from dataclasses import dataclass

RESAMPLES = 2000
LEVEL = 0.95
# What differs by a smaller share of its mean is taken for constant: the same loop's counts differ by its windows' ends.
VARIES = 0.01


@dataclass(frozen=True)
class Sums:
    """Sums of squares and products within groups."""

    xx: float = 0.0
    xy: float = 0.0
    yy: float = 0.0

    def plus(self, other, times=1):
        return Sums(self.xx + times * other.xx, self.xy + times * other.xy, self.yy + times * other.yy)

    @property
    def slope(self):
        """None: what would explain does not vary."""
        return self.xy / self.xx if self.xx > 0 else None

    @property
    def explained(self):
        """From 0 to 1."""
        return self.xy**2 / (self.xx * self.yy) if self.xy > 0 and self.yy > 0 else 0.0


def product(one, other):
    return sum(a * b for a, b in zip(one, other))


def centred(values):
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def of_group(pairs, beside=None):
    """Sums of one group's pairs of explaining and explained values; `beside`: of each pair, what is taken off first."""
    x, y = centred([x for x, _ in pairs]), centred([y for _, y in pairs])
    if beside is not None and max(beside) - min(beside) > VARIES * abs(sum(beside)) / len(beside):
        z = centred(beside)
        x, y = ([v - z_v * product(z, of) / product(z, z) for v, z_v in zip(of, z)] for of in (x, y))
    return Sums(product(x, x), product(x, y), product(y, y))


def total(groups):
    found = Sums()
    for group in groups:
        found = found.plus(group)
    return found


def draws(groups, seed=1, resamples=RESAMPLES):
    """How often each group is drawn, for each resample: shared by all fits that are compared with each other."""
    chance = random.Random(seed)
    for _ in range(resamples):
        times = [0] * groups
        for _ in range(groups):
            times[chance.randrange(groups)] += 1
        yield times


def drawn(groups, times):
    found = Sums()
    for group, often in zip(groups, times):
        if often:
            found = found.plus(group, often)
    return found


def interval(values, level=LEVEL):
    """The middle share of the values."""
    ordered = sorted(values)
    out = (1 - level) / 2
    last = len(ordered) - 1
    return ordered[round(out * last)], ordered[round((1 - out) * last)]
