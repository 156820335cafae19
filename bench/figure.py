"""What is measured: figures, their contenders and their goals, as plain data."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Contender:
    """One way of doing a figure's work.

    `make` is "module:function" below bench.contenders. The function takes `options` and
    is a context manager that gives a callable; each call does the work once and
    returns the value, or (value, note).
    """

    name: str
    make: str
    options: dict = field(default_factory=dict)
    needs: str = ""  # the package without which it is skipped
    fresh: bool = False  # a new process every round
    limit: float = 60.0  # seconds for one round, after which it counts as hung


@dataclass(frozen=True)
class Goal:
    """A bound of infeed's value, or of its ratio to, or difference from, a contender."""

    bound: float
    to: str = ""  # a contender's name
    by: str = "value"  # "value", "ratio" or "difference"
    at_most: bool = False

    def met(self, value):
        return value <= self.bound if self.at_most else value >= self.bound


@dataclass(frozen=True)
class Figure:
    """A line of the table. The first contender is infeed."""

    name: str
    unit: str
    contenders: tuple
    goals: tuple = ()
    less: bool = False  # smaller is better
    rounds: int = 0  # 0: as many as were asked for
    warm: bool = True  # a first round that does not count


def at_least(bound, to="", by="value"):
    return Goal(bound, to, by)


def at_most(bound, to="", by="value"):
    return Goal(bound, to, by, at_most=True)


def times(bound, to):
    """infeed's value is at least bound times that of another."""
    return Goal(bound, to, "ratio")
