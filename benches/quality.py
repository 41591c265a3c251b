#!/usr/bin/env python3
"""How good the clusters of plain defaults are, beside what a user would pick instead.

    sets     labels of every data set against its classes: accuracy, NMI, ARI, seconds
    noise    the same with views of noise added, and in other units and orders of the features
    numbers  the number of clusters that is suggested, also where there are no clusters
    cost     seconds beside scikit-learn, and beside a fit that learns no weights

Classes are looked at only to compare labels with them, and for their number. scmk gets raw views and
no option but that number; rivals get the views as "auto" prepared them for scmk. Rivals that are
absent, fail or take too long are named. The exit status is 1 only when a measurement of scmk itself
failed, and 2 when this was called wrongly.
"""
import argparse
import csv
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from library import Scmk
from problems import blobs

SECTIONS = ("sets", "noise", "numbers", "cost")
MEASURES = {"accuracy": "accuracy", "nmi": "NMI", "ari": "ARI"}
CLOSE = 0.03
SPECC_SECONDS = 120
STRUCTURELESS = 50
COST_SET = "Handwritten"
COST_RUNS = 5


@dataclass
class Fit:
    """What scmk answers to one call of its defaults."""

    labels: np.ndarray
    seconds: float
    shares: np.ndarray
    preparations: list
    warning: str


def fit(scmk, views, clusters, **options):
    """Seconds are those of all that is done with the views, building kernels included."""
    started = time.perf_counter()
    with scmk.model(len(views[0]), clusters, **options) as model:
        for view in views:
            model.add_features(view, "auto")
        model.fit()
        labels, seconds = model.labels(), time.perf_counter() - started
        # As in "view 0: tfidf; unit_rows; gaussian(t=25,neighbors=7)".
        steps = [name.rpartition(": ")[2].split("; ")[:-1] for name in model.kernel_names()]
        return Fit(labels, seconds, model.view_weights(), steps, model.info_text("warning"))


@dataclass
class Problem:
    """A data set: raw views and the classes of its samples."""

    name: str
    views: list
    classes: np.ndarray
    # Steps of each view, as "auto" chose them; told by the first fit.
    preparations: list = field(default_factory=list)

    @property
    def clusters(self):
        return int(self.classes.max()) + 1

    @cached_property
    def prepared(self):
        views = []
        for view, steps in zip(self.views, self.preparations, strict=True):
            for step in steps:
                view = PREPARATIONS[step](view)
            views.append(view)
        return views

    @cached_property
    def side_by_side(self):
        """The prepared views in one matrix, each centred and of mean squared row norm 1."""
        centred = [view - view.mean(0) for view in self.prepared]
        return np.hstack([view / np.sqrt((view**2).sum(1).mean()) for view in centred])


def problems(folder, only):
    """The data sets in a folder and in its subfolder multiview, one view before several."""
    found = []
    for path in sorted(folder.glob("*.npz")) + sorted(folder.glob("multiview/*.npz")):
        if only and path.stem not in only:
            continue
        with np.load(path) as archive:
            numbers = sorted(int(name[1:]) for name in archive if name[0] == "v" and name[1:].isdigit())
            names = ["X"] if "X" in archive else [f"v{number}" for number in numbers]
            if not names or "y" not in archive:
                print(f"{path.name} is left out: X or v0, v1, … and y expected")
                continue
            views = [np.ascontiguousarray(archive[name], dtype=float) for name in names]
            classes = np.unique(archive["y"], return_inverse=True)[1]
        found.append(Problem(path.stem, views, classes))
    return found


def standardize(view):
    deviations = view.std(0)
    constant = deviations <= 1e-12 * np.abs(view).max(0)
    return (view - view.mean(0)) * ~constant / np.where(constant, 1, deviations)


def tfidf(view):
    return view * (np.log((1 + len(view)) / (1 + (view != 0).sum(0))) + 1)


def unit_rows(view):
    lengths = np.linalg.norm(view, axis=1, keepdims=True)
    return view / np.where(lengths > 0, lengths, 1)


PREPARATIONS = {"standardize": standardize, "tfidf": tfidf, "unit_rows": unit_rows}


class Absent(Exception):
    """A rival has no answer, and why."""


def spectral(affinity, clusters, **options):
    return SpectralClustering(clusters, affinity=affinity, random_state=0, **options).fit_predict


def neighbours(problem):
    return spectral("nearest_neighbors", problem.clusters, n_neighbors=10)(problem.side_by_side)


def rbf(problem):
    return spectral("rbf", problem.clusters, gamma=1)(problem.side_by_side)


def k_means(problem):
    return KMeans(problem.clusters, n_init=10, random_state=0).fit_predict(problem.side_by_side)


def fusion(problem):
    """Similarity network fusion (Wang et al. 2014); of a single view, with nothing to fuse, its affinity."""
    try:
        from snf import compute
    except ImportError as error:
        raise Absent(f"snfpy is absent ({error})") from error
    # snfpy 0.2.2 names an argument as scikit-learn did before release 1.6 and does not since 1.8.
    compute.check_array = lambda array, force_all_finite, **options: check_array(
        array, ensure_all_finite=force_all_finite, **options
    )
    affinities = compute.make_affinity(problem.prepared, metric="euclidean", K=20, mu=0.5, normalize=False)
    fused = affinities[0] if len(affinities) == 1 else compute.snf(affinities, K=20)
    return spectral("precomputed", problem.clusters)(fused)


def specc(problem):
    with tempfile.TemporaryDirectory() as folder:
        path, x = Path(folder) / "features.bin", problem.side_by_side
        x.T.tofile(path)
        script = f"""
            suppressMessages(library(kernlab))
            x <- matrix(readBin("{path}", "double", {x.size}), {len(x)})
            set.seed(1)
            time <- system.time(fit <- specc(x, centers = {problem.clusters}))
            cat(time[["elapsed"]], fit@.Data)
        """
        command = ["Rscript", "-e", script]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=SPECC_SECONDS)
        except FileNotFoundError as error:
            raise Absent("R is absent") from error
        except subprocess.TimeoutExpired as error:
            raise Absent(f"more than {SPECC_SECONDS} s") from error
    if run.returncode != 0:
        raise Absent(" ".join(run.stderr.split())[-200:])
    seconds, *labels = run.stdout.split()
    return np.array(labels, dtype=int), float(seconds)


OURS = "scmk"
# By the name of the column: what runs, and whether --quick leaves it out.
RIVALS = {
    "spectral, 10 neighbours": (neighbours, False),
    "spectral, rbf": (rbf, False),
    "k-means": (k_means, False),
    "SNF": (fusion, True),
    "specc": (specc, True),
}
METHODS = ("sc", "kkm")


@dataclass
class Table:
    """Rows of texts under columns: printed, and written as Markdown."""

    columns: tuple
    rows: list
    title: str = ""

    def print(self):
        rows = [[text.replace("**", "") for text in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        print(f"\n{self.title}" if self.title else "")
        for first, *others in rows:
            cells = [text.rjust(width) for text, width in zip(others, widths[1:])]
            print("  ".join([first.ljust(widths[0]), *cells]).rstrip())

    def markdown(self):
        lines = ["| " + " | ".join(row) + " |" for row in (self.columns, *self.rows)]
        lines.insert(1, "| --- |" + " ---: |" * (len(self.columns) - 1))
        return "\n".join([f"**{self.title}**\n"] * bool(self.title) + lines)


def figure(value, digits=3):
    return "–" if value is None else f"{value:.{digits}f}"


def yes(truth):
    return "yes" if truth else "no"


@dataclass
class Bench:
    """One run."""

    scmk: Scmk
    problems: list
    out: Path
    quick: bool = False
    # What the sections found, as Markdown, by the name of the section.
    texts: dict = field(default_factory=dict)

    def write(self, name, columns, rows):
        with open(self.out / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])

    def show(self, section, *parts):
        """Prints tables and sentences, and keeps them for the page."""
        for part in parts:
            part.print() if isinstance(part, Table) else print(f"\n{part}")
        self.texts[section] = "\n\n".join(
            part.markdown() if isinstance(part, Table) else part for part in parts
        )


@dataclass
class Score:
    """What one method reached on one data set; nothing but a note where it has no answer."""

    measures: dict = field(default_factory=dict)
    seconds: float | None = None
    note: str = ""


def measure_sets(bench):
    scores = {}
    print("NMI of each set:", "; ".join([OURS, *RIVALS, *METHODS]))
    for problem in bench.problems:
        scores[problem.name] = row = score_methods(bench, problem)
        cells = [figure(score.measures.get("nmi")) for score in row.values()]
        print(f"{problem.name:12} {len(problem.classes):5} samples  {'  '.join(cells)}", flush=True)
        for method, score in row.items():
            if score.note:
                print(f"{'':12} {method}: {score.note}", flush=True)
    bench.write(
        "sets",
        ("set", "samples", "views", "classes", "prepared", "method", *MEASURES, "seconds", "note"),
        [
            (problem.name, len(problem.classes), len(problem.views), problem.clusters, prepared(problem))
            + (method, *(score.measures.get(measure) for measure in MEASURES), score.seconds, score.note)
            for problem in bench.problems
            for method, score in scores[problem.name].items()
        ],
    )
    described = Table(
        ("set", "samples", "features", "classes", "prepared by"),
        [
            (problem.name, str(len(problem.classes)), widths(problem))
            + (str(problem.clusters), prepared(problem))
            for problem in bench.problems
        ],
    )
    tables = [set_table(scores, measure) for measure in ("nmi", "accuracy")]
    sentences = *comparisons(scores), *warned(scores), *unanswered(scores)
    bench.show("sets", described, *tables, mean_table(scores), *sentences)
    plot_sets(bench.out / "quality.svg", scores)


def score_methods(bench, problem):
    """Score of scmk and of each rival, by name."""

    def score(labels, seconds, note=""):
        measures = {name: bench.scmk.metric(name, problem.classes, labels) for name in MEASURES}
        return Score(measures, seconds, note)

    ours = fit(bench.scmk, problem.views, problem.clusters)
    problem.preparations = ours.preparations
    scores = {OURS: score(ours.labels, ours.seconds, ours.warning)}
    for name, (rival, slow) in RIVALS.items():
        if bench.quick and slow:
            scores[name] = Score(note="left out by --quick")
            continue
        try:
            scores[name] = score(*labelled(rival, problem))
        except Absent as why:
            scores[name] = Score(note=str(why))
    for method in METHODS:
        theirs = fit(bench.scmk, problem.views, problem.clusters, method=method)
        scores[method] = score(theirs.labels, theirs.seconds)
    return scores


def labelled(rival, problem):
    """A rival's labels and seconds, preparing the views not counted."""
    problem.side_by_side
    started = time.perf_counter()
    with warnings.catch_warnings():
        # That a graph of neighbours is in several parts, which is what it is for.
        warnings.simplefilter("ignore")
        answer = rival(problem)
    # What runs in another process tells its seconds itself.
    return answer if isinstance(answer, tuple) else (answer, time.perf_counter() - started)


def widths(problem):
    """Features of each view."""
    return " + ".join(str(view.shape[1]) for view in problem.views)


def prepared(problem):
    """In words, such as "standardize" where that is what was done to every view."""
    return " + ".join(dict.fromkeys("; ".join(steps) for steps in problem.preparations))


def set_table(scores, measure):
    """A line for each set; the best of it is bold."""
    rows = []
    for name, row in scores.items():
        values = [score.measures.get(measure) for score in row.values()]
        best = figure(max(value for value in values if value is not None))
        cells = map(figure, values)
        rows.append((name, *(f"**{cell}**" if cell == best else cell for cell in cells)))
    return Table(("set", *methods_of(scores)), rows, f"{capital(MEASURES[measure])} of each set")


def mean_table(scores):
    """A line for each method; means are over all sets, and absent where an answer is."""

    def mean(values):
        return None if None in values else float(np.mean(values))

    rows = []
    for method in methods_of(scores):
        column = [row[method] for row in scores.values()]
        means = [mean([score.measures.get(measure) for score in column]) for measure in MEASURES]
        seconds = mean([score.seconds for score in column])
        rows.append((method, *map(figure, means), figure(seconds)))
    return Table(("method", *MEASURES.values(), "seconds"), rows, f"Means over {len(scores)} sets")


def comparisons(scores):
    """Sentences: where scmk is furthest behind the best rival of each set, and how often it is near."""
    for measure, name in MEASURES.items():
        behind = {}
        for set_name, row in scores.items():
            ours, *theirs = (score.measures.get(measure) for score in row.values())
            behind[set_name] = max(value for value in theirs if value is not None) - ours
        worst = max(behind, key=behind.get)
        near = sum(gap <= CLOSE for gap in behind.values())
        ahead = sum(gap <= 0 for gap in behind.values())
        distance = f"{abs(behind[worst]):.3f} {'behind' if behind[worst] > 0 else 'ahead of'}"
        yield (
            f"{capital(name)}: at most {CLOSE} behind the best rival of each set on {near} of {len(behind)} "
            f"sets, level or ahead on {ahead}; worst on {worst}, {distance} it."
        )


def warned(scores):
    """Sentences: what scmk itself says against its answers."""
    for name, row in scores.items():
        if row[OURS].note:
            yield f"{OURS} warns on {name}: {row[OURS].note}."


def unanswered(scores):
    """Sentences: which rival has no answer, where and why."""
    for method in methods_of(scores):
        notes = {name: row[method].note for name, row in scores.items() if not row[method].measures}
        for note in dict.fromkeys(notes.values()):
            sets = ", ".join(name for name in notes if notes[name] == note)
            yield f"No answer of {method} on {sets}: {note}."


def methods_of(scores):
    return list(next(iter(scores.values())))


def capital(text):
    return text[0].upper() + text[1:]


def plot_sets(path, scores):
    """A line for each set, the best of scmk on top, with a mark for each method."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "scmk", "axes.spines.top": False, "axes.spines.right": False})
    names = sorted(scores, key=lambda name: scores[name][OURS].measures["nmi"])
    figure, axes = plt.subplots(figsize=(9, 0.36 * len(names) + 1.4), layout="constrained")
    rivals = [method for method in methods_of(scores) if method != OURS]
    for line, name in enumerate(names):
        values = [score.measures["nmi"] for score in scores[name].values() if score.measures]
        axes.plot([min(values), max(values)], [line, line], color="0.85", linewidth=1, zorder=1)
    # A ring, which hides no rival.
    ring = dict(s=110, marker="o", facecolors="none", edgecolors="black", linewidths=2, zorder=3)
    looks = [dict(s=28, marker=marker, zorder=2) for marker in "s^vDPx+"]
    for method, look in zip([OURS, *rivals], [ring, *looks], strict=True):
        answered = [line for line, name in enumerate(names) if scores[name][method].measures]
        values = [scores[names[line]][method].measures["nmi"] for line in answered]
        axes.scatter(values, answered, label=method, **look)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("NMI")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def noise_views(samples):
    generator = np.random.default_rng(2017)
    return [
        generator.normal(size=(samples, 20)),
        generator.uniform(size=(samples, 100)),
        generator.normal(size=(samples, 500)),
    ]


def measure_noise(bench):
    several, same, rows = [], [], []
    for problem in bench.problems:
        agreement = {}
        plain = fit(bench.scmk, problem.views, problem.clusters)
        before = bench.scmk.metric("nmi", problem.classes, plain.labels)
        after = share = None
        if len(problem.views) > 1:
            noise = noise_views(len(problem.classes))
            noisy = fit(bench.scmk, problem.views + noise, problem.clusters)
            after = bench.scmk.metric("nmi", problem.classes, noisy.labels)
            share = float(noisy.shares[-len(noise):].sum())
            figures = map(figure, (before, after, share))
            several.append((problem.name, str(len(problem.views)), *figures))
        for change, versions in changed(problem).items():
            labels = [fit(bench.scmk, views, problem.clusters).labels for views in versions]
            agreement[change] = min(bench.scmk.metric("ari", plain.labels, other) for other in labels)
        cells = ("yes" if ari == 1 else f"no, ARI {ari:.3f}" for ari in agreement.values())
        same.append((problem.name, *cells))
        rows.append((problem.name, len(problem.views), before, after, share, *agreement.values()))
        told = f"NMI {figure(before)}, with noise {figure(after)}; same labels: {'; '.join(same[-1][1:])}"
        print(f"{problem.name:12} {told}", flush=True)
    known = "set", "views", "nmi", "nmi_with_noise", "noise_share"
    bench.write("noise", (*known, *(f"ari, {change}" for change in agreement)), rows)
    parts = [Table(("set", *agreement), same, "Labels stay the same")]
    if several:
        columns = ("set", "views", "NMI", "with three views of noise", "weight of the noise")
        parts.insert(0, Table(columns, several, "Views of noise"))
    bench.show("noise", *parts)


def changed(problem):
    """Lists of views that say the same as those of the problem, by what was changed."""
    generator = np.random.default_rng(2017)

    def scaled(factor):
        for k, view in enumerate(problem.views):
            yield [*problem.views[:k], view * factor, *problem.views[k + 1 :]]

    permuted = [view[:, generator.permutation(view.shape[1])].copy() for view in problem.views]
    return {
        "one view × 1e6": scaled(1e6),
        "one view × 1e-6": scaled(1e-6),
        "features permuted": [permuted],
    }


def measure_numbers(bench):
    rows = []
    for problem in bench.problems:
        best, following, confidence, seconds = suggestion(bench.scmk, problem.views)
        rows.append((problem.name, problem.clusters, best, following, confidence, seconds))
        print(f"{problem.name:12} classes {problem.clusters}, suggested {best}, then {following}", flush=True)
    columns = ("set", "classes", "suggested", "next", "confidence", "seconds")
    bench.write("numbers", columns, rows)
    close = [abs(best - classes) <= max(1, 0.1 * classes) for _, classes, best, *_ in rows]
    table = Table(
        (*columns[:-1], "close"),
        [
            (name, str(classes), str(best), str(following), figure(confidence, 2), yes(near))
            for (name, classes, best, following, confidence, _), near in zip(rows, close)
        ],
        "Number of clusters",
    )
    exact = sum(best == classes for _, classes, best, *_ in rows)
    either = sum(classes in (best, following) for _, classes, best, following, *_ in rows)
    sentence = (
        f"The number of classes is the one suggested on {exact} of {len(rows)} sets, that or the next on "
        f"{either}; the one suggested is close, by at most one or a tenth, on {sum(close)}."
    )
    bench.show("numbers", table, sentence, *structureless(bench))


def suggestion(scmk, views):
    """Best, next, confidence, and the seconds of the call."""
    with scmk.model(len(views[0])) as model:
        for view in views:
            model.add_features(view, "auto")
        started = time.perf_counter()
        return *model.suggest_clusters(), time.perf_counter() - started


def structureless(bench):
    """Sentences: how often data without clusters are said to have none."""
    generator = np.random.default_rng(2017)
    rows = []
    for kind, draw in (("one Gaussian", generator.normal), ("uniform", generator.uniform)):
        for _ in range(STRUCTURELESS):
            samples, features = generator.integers(100, 501), generator.integers(2, 51)
            best, following, confidence, _ = suggestion(bench.scmk, [draw(size=(samples, features))])
            rows.append((kind, samples, features, best, following, confidence))
        found = [row[3] for row in rows[-STRUCTURELESS:]]
        others = Counter(each for each in found if each > 1)
        told = ", ".join(f"{times} × {each}" for each, times in sorted(others.items()))
        told = f" (else {told})" if told else ""
        said = f"{found.count(1)} are said to have none{told}"
        yield f"Of {STRUCTURELESS} sets without clusters, {kind}: {said}."
    bench.write("structureless", ("kind", "samples", "features", "suggested", "next", "confidence"), rows)


def measure_cost(bench):
    problem = next((problem for problem in bench.problems if problem.name == COST_SET), None)
    if problem is None:
        views = [view.copy() for view in np.hsplit(blobs(2000, 10, features=60), 6)]
        problem = Problem("blobs", views, np.arange(2000) % 10)
    views, clusters = problem.views, problem.clusters
    problem.preparations = fit(bench.scmk, views, clusters).preparations
    with bench.scmk.model(len(views[0]), clusters) as learned:
        with bench.scmk.model(len(views[0]), clusters, learn_weights=0) as equal:
            for view in views:
                learned.add_features(view, "auto")
                equal.add_features(view, "auto")
            # In turn, so that all see the same machine.
            runs = [
                (
                    fit(bench.scmk, views, clusters).seconds, labelled(neighbours, problem)[1],
                    learned.fit(), equal.fit(),
                )
                for _ in range(COST_RUNS)
            ]  # fmt: skip
    call, rival, weights, fixed = np.min(runs, axis=0)
    rows = [
        ("default call, kernels included", f"scikit-learn, {next(iter(RIVALS))}", call, rival),
        ("default fit, kernels there", "scmk with equal weights (learn_weights=0)", weights, fixed),
    ]
    bench.write("cost", ("ours", "beside", "our_seconds", "their_seconds"), rows)
    bench.show(
        "cost",
        Table(
            ("what", "beside", "seconds", "theirs", "ratio"),
            [
                (what, other, figure(ours), figure(theirs), figure(ours / theirs, 2))
                for what, other, ours, theirs in rows
            ],
            f"{problem.name}, {len(problem.classes)} samples, {len(views)} views, best of {COST_RUNS} runs",
        ),
    )


def write_page(page, texts):
    """Puts the sections between their markers in a page of Markdown."""
    text = page.read_text()
    for section, table in texts.items():
        opening, closing = markers(section)
        before, _, rest = text.partition(opening)
        text = f"{before}{opening}\n{table}\n{closing}{rest.partition(closing)[2]}"
    page.write_text(text)


def markers(section):
    return f"<!-- {section}: written by benches/quality.py -->", f"<!-- end of {section} -->"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", metavar="LIBSCMK", help="path of libscmk.so")
    parser.add_argument("--out", type=Path, required=True, help="folder for the CSV files and quality.svg")
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets, .npz files")
    parser.add_argument("--only", nargs="+", metavar="SET", help="the names of the sets to measure")
    parser.add_argument(
        "--sections", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION",
        help="the sections to measure: " + ", ".join(SECTIONS),
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="leave out the slow rivals, SNF and specc")
    parser.add_argument(
        "--markdown", type=Path, metavar="PAGE",
        help="write the tables into this page, and the plot into the folder figures beside it",
    )  # fmt: skip
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"{arguments.data} is no folder")
    found = problems(arguments.data, arguments.only)
    if absent := set(arguments.only or []) - {problem.name for problem in found}:
        parser.error(f"the data folder has no {', '.join(sorted(absent))}")
    if not found:
        parser.error(f"{arguments.data} has no .npz files")
    if arguments.markdown:
        check_page(parser, arguments)
    try:
        scmk = Scmk(arguments.library)
    except OSError as error:
        parser.error(str(error))
    arguments.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(scmk, found, arguments.out, arguments.quick)
    threads = len(os.sched_getaffinity(0))
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("scikit-learn", "numpy"))
    print(f"scmk {scmk.version}, {packages}, {threads} threads, {time.strftime('%Y-%m-%d')}")
    started = time.perf_counter()
    # As many as scmk takes by itself.
    with threadpool_limits(threads):
        failed = run_sections(bench, arguments.sections)
    if arguments.markdown:
        write_page(arguments.markdown, bench.texts)
        if "sets" in bench.texts:
            plot = (arguments.out / "quality.svg").read_bytes()
            (arguments.markdown.parent / "figures/quality.svg").write_bytes(plot)
    print(f"\n{time.perf_counter() - started:.0f} s; written to {arguments.out}")
    return int(failed)


def check_page(parser, arguments):
    """Refuses what could not be written, or would be only a part, before anything is measured."""
    if arguments.only or arguments.quick:
        parser.error("--markdown wants all sets and rivals: leave out --only and --quick")
    if not arguments.markdown.exists():
        parser.error(f"{arguments.markdown} does not exist")
    text = arguments.markdown.read_text()
    for section in arguments.sections:
        for marker in markers(section):
            if marker not in text:
                parser.error(f"{arguments.markdown} lacks '{marker}'")


def run_sections(bench, sections):
    """Measures section by section; whether one failed."""
    failed = False
    measures = (measure_sets, measure_noise, measure_numbers, measure_cost)
    for section, measure in zip(SECTIONS, measures):
        if section not in sections:
            continue
        print(f"\n== {section}", flush=True)
        try:
            measure(bench)
        except Exception:
            # What the other sections measure is worth having.
            traceback.print_exc()
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
