"""The table of a benchmark, its summary, the CSV file and the plot of growth."""
import csv
import math
import sys
import time
from collections import defaultdict
from dataclasses import dataclass

COLUMNS = ("target", "what", "rival", "theirs, s", "ours, s", "ratio", "wanted", "", "")


def at_least(bound):
    return bound, math.inf


def at_most(bound):
    return -math.inf, bound


@dataclass
class Line:
    """A measurement: seconds of a rival and of ours, their ratio or another figure, and its range."""

    target: int
    what: str
    rival: str
    theirs: float | None
    ours: float | None
    ratio: float | None
    wanted: tuple | None
    note: str

    @property
    def reached(self):
        if self.wanted is None:
            return None
        low, high = self.wanted
        return low <= self.ratio <= high

    def texts(self):
        return (
            str(self.target), self.what, self.rival, number(self.theirs), number(self.ours),
            number(self.ratio), wanted(self.wanted), verdict(self.reached), self.note,
        )  # fmt: skip


class Report:
    """Collects lines, and what could not be measured, for each target."""

    def __init__(self, targets):
        self.targets = targets
        self.lines = []
        self.missing = defaultdict(list)
        self.started = time.perf_counter()

    @property
    def elapsed(self):
        return time.perf_counter() - self.started

    def begin(self, what):
        print(f"[{self.elapsed:5.0f} s] {what}", file=sys.stderr, flush=True)

    def add(self, target, what, ratio=None, wanted=None, rival="", theirs=None, ours=None, note=""):
        self.lines.append(Line(target, what, rival, theirs, ours, ratio, wanted, note))

    def faster(self, target, what, rival, theirs, ours, times, note=""):
        """Ours is wanted to be `times` as fast as the rival."""
        self.add(target, what, theirs / ours, at_least(times), rival, theirs, ours, note)

    def miss(self, target, why):
        if why not in self.missing[target]:
            self.missing[target].append(why)
            self.begin(f"target {target}: not measured: {why}")

    def print(self):
        rows = [COLUMNS, *(line.texts() for line in self.lines)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
        for row in rows:
            cells = (
                text.rjust(width) if 3 <= i <= 6 else text.ljust(width)
                for i, (text, width) in enumerate(zip(row, widths))
            )
            print("  ".join(cells).rstrip())
        print("\nratio: theirs over ours where ≥ is wanted, ours over theirs where ≤ is, or as the line says")

    def summarise(self):
        print()
        for target, what in self.targets.items():
            verdicts = [line.reached for line in self.lines if line.target == target]
            verdicts = [reached for reached in verdicts if reached is not None]
            if not verdicts:
                text = "not measured"
            elif all(verdicts):
                text = "reached, as far as measured" if self.missing[target] else "reached"
            else:
                text = f"not reached: {verdicts.count(False)} of {len(verdicts)} figures are not"
            print(f"target {target}  {text}  ({what})")
            for why in self.missing[target]:
                print(f"          not measured: {why}")

    def write(self, path):
        with open(path, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(
                ("target", "what", "rival", "their_seconds", "our_seconds", "ratio")
                + ("wanted_least", "wanted_most", "reached", "note")
            )
            for line in self.lines:
                bounds = (bound if math.isfinite(bound) else "" for bound in line.wanted or at_most(math.inf))
                out.writerow(
                    (line.target, line.what, line.rival, line.theirs, line.ours, line.ratio)
                    + (*bounds, verdict(line.reached), line.note)
                )
            for target, reasons in self.missing.items():
                out.writerows((target, why, "", "", "", "", "", "", "not measured", "") for why in reasons)


def number(value):
    if value is None:
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def wanted(bounds):
    if bounds is None:
        return ""
    low, high = bounds
    if math.isinf(high):
        return f"≥ {low:g}"
    return f"≤ {high:g}" if math.isinf(low) else f"{low:g} to {high:g}"


def verdict(reached):
    return {None: "", True: "reached", False: "not reached"}[reached]


def plot_growth(path, panels):
    """A panel for each of `panels`: the label of its axis and, by name, sizes, values and exponent."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    plt.rcParams.update({"svg.hashsalt": "scmk", "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 3.8), layout="constrained")
    for panel, (label, curves) in zip(axes, panels.items()):
        for (name, (sizes, values, exponent)), marker in zip(curves.items(), "os^"):
            panel.loglog(sizes, values, marker + "-", markersize=5, label=f"{name}: n^{exponent:.2f}")
        panel.set_xlabel("samples n, thousands")
        panel.set_ylabel(label)
        panel.set_xticks(sizes, [f"{n / 1000:g}" for n in sizes])
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
