#!/usr/bin/env python3
"""Speed and memory beside what a user would pick instead: one table, a CSV file and a plot.

Each figure is the least of several runs, ours and the rivals' in turn so that all see the same
machine; a rival that takes longer than 8 seconds runs once. Rivals and data sets that are
absent are named. A target that is not reached is not an error; the exit status is 1 only when a
measurement failed, and 2 when this was called wrongly.
"""
import argparse
import dataclasses
import functools
import importlib
import importlib.metadata
import math
import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import memory
import rivals
from library import Scmk
from problems import blobs, load, mean_kernel, paper_kernels, torus
from report import Report, at_least, at_most, number, plot_growth

TARGETS = {
    1: "Z-step, cold, one thread, beside solvers of the same problem",
    2: "whole fit with 12 kernels, two threads",
    3: "two threads, and two fits at once",
    4: "warm P-step beside scipy's eigensolvers",
    5: "grid of 16 (alpha, beta)",
    6: "12 kernels from features",
    7: "memory_required beside the measured peak",
}
PAPER = {"preset": "paper"}
UNIT = {"preset": "joint"}


@dataclass(frozen=True)
class Plan:
    """What is measured; as it stands, the sizes of the targets."""

    runs: int = 2
    rivals_run_once_beyond_seconds: float = 8
    z_step_data: tuple = ("ORL", "TR41", "BA")
    z_step_alphas: tuple = (1e-3, 1e-2, 1, 10)
    z_step_regimes: tuple = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100)
    sampled_columns: int = 20
    seconds_for_sampled_columns: float = 10
    growth_sizes: tuple = (1000, 2000, 4000, 8000)
    fit_in_products_size: int = 4000
    largest_size: int = 10000
    cancels: int = 4
    two_threads_data: str = "BA"
    two_threads_alphas: tuple = (1e-2, 10)
    p_step_size: int = 4000
    p_step_clusters: int = 50
    grid_size: int = 1000
    building_size: int = 4000
    building_features: int = 1000
    memory_sizes: tuple = (2000, 4000, 10000)
    largest_wide_size: int = 4000
    seconds_in_all: float = math.inf


QUICK = Plan(
    rivals_run_once_beyond_seconds=1,
    z_step_data=("digits", "ORL"),
    z_step_alphas=(1e-2, 10),
    z_step_regimes=(1e-5, 1e-2, 1, 100),
    sampled_columns=5,
    seconds_for_sampled_columns=2,
    growth_sizes=(250, 500, 1000),
    fit_in_products_size=1000,
    largest_size=1000,
    cancels=4,
    two_threads_data="blobs",
    p_step_size=1000,
    p_step_clusters=20,
    grid_size=300,
    building_size=1500,
    building_features=400,
    memory_sizes=(500, 1000),
    seconds_in_all=100,
)


class OutOfTime(Exception):
    """The plan's seconds are used up."""


@dataclass
class Bench:
    """One run of the benchmarks."""

    scmk: Scmk
    plan: Plan
    report: Report
    data: Path | None
    # What fits in processes of their own have shown, by samples and options.
    apart: dict = dataclasses.field(default_factory=dict)

    def begin(self, what):
        if self.report.elapsed > self.plan.seconds_in_all:
            raise OutOfTime(f"{what} and later: {self.plan.seconds_in_all:g} seconds are over")
        self.report.begin(what)

    def rival(self, target, module, package):
        """A rival's module, and its name with the version; None twice when it is absent."""
        try:
            return importlib.import_module(module), f"{package} {importlib.metadata.version(package)}"
        except ImportError as error:
            self.report.miss(target, f"{package} is absent ({error})")
            return None, None

    def load(self, target, name):
        """Features and classes of a data set; None twice when it is absent."""
        try:
            return load(name, self.data)
        except FileNotFoundError as error:
            self.report.miss(target, f"{name}: {error}")
            return None, None

    def alternate(self, ours, rivals):
        """The least seconds of ours and of each rival; all are functions that answer seconds."""
        least, theirs = math.inf, dict.fromkeys(rivals, math.inf)
        waiting = set(rivals)
        for _ in range(self.plan.runs):
            least = min(least, ours())
            for name in [name for name in rivals if name in waiting]:
                started = time.perf_counter()
                theirs[name] = min(theirs[name], rivals[name]())
                if time.perf_counter() - started > self.plan.rivals_run_once_beyond_seconds:
                    waiting.remove(name)
        return least, theirs

    def fit_apart(self, samples, *settings, cancels=0):
        """Seconds of a fit in a process of its own; the least and the largest peak are kept."""
        answer = memory.fits(self.scmk.path, samples, settings, cancels)
        for options, fit in zip(settings, answer["fits"]):
            earlier = self.apart.get((samples, str(options)), fit)
            self.apart[samples, str(options)] = {
                **fit,
                "seconds": min(earlier["seconds"], fit["seconds"]),
                "peak": max(earlier["peak"], fit["peak"]),
                "latencies": answer["latencies"],
            }
        return answer["fits"][0]["seconds"]


def timed(action):
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def numpy_product(n):
    """A function that answers the seconds of numpy's product of two n×n matrices."""
    a, b = np.random.default_rng(0).random((2, n, n))
    return lambda: timed(lambda: a @ b)


def numpy_name():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"numpy {np.__version__}, {blas['name']} {blas['version']}, two threads"


def exponent(sizes, values):
    """Of the power of n that fits the values best."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def z_step(bench, kernel, alpha, threads):
    """Seconds of one cold Z-step, and its solution: β = 0 and one kernel need no second."""
    options = dict(preset="joint", alpha=alpha, beta=0, learn_weights=0, normalize="none", kkt_tolerance=1e-8)
    with bench.scmk.model(len(kernel), 10, labels="qr", threads=threads, **options) as model:
        model.borrow_kernel(kernel)
        model.fit()
        return model.info("seconds_similarity"), model.similarity_csc()


def measure_z_step(bench):
    plan, report = bench.plan, bench.report
    solvers = []
    for solve, package, times in (
        (rivals.spams, "spams-bin", 5),
        (rivals.piqp, "piqp", 100),
        (rivals.quadprog, "quadprog", 1000),
    ):
        module, name = bench.rival(1, solve.__name__, package)
        if module:
            solvers.append((functools.partial(solve, module), name, times))
    for data in plan.z_step_data:
        x, _ = bench.load(1, data)
        if x is None:
            continue
        kernel = mean_kernel(x)
        for alpha in plan.z_step_alphas:
            z_step_beside_rivals(bench, data, kernel, alpha, solvers)
        regimes, gaps = {}, []
        for alpha in plan.z_step_regimes:
            bench.begin(f"Z-step, {data}, α = {alpha:g}")
            runs = [z_step(bench, kernel, alpha, threads=1) for _ in range(plan.runs)]
            regimes[alpha] = min(seconds for seconds, _ in runs)
            gaps.append(rivals.gap(kernel, alpha, slice(None), runs[0][1].toarray()))
        slowest, fastest = max(regimes, key=regimes.get), min(regimes, key=regimes.get)
        report.add(
            1, f"{data}, slowest α over fastest", regimes[slowest] / regimes[fastest], at_most(4),
            f"scmk, α = {fastest:g}", regimes[fastest], regimes[slowest], f"slowest at α = {slowest:g}",
        )  # fmt: skip
        report.add(1, f"{data}, our worst gap of all α", max(gaps), at_most(1e-8))


def z_step_beside_rivals(bench, data, kernel, alpha, solvers):
    n, what = len(kernel), f"{data}, α = {alpha:g}"
    columns, limit = rivals.sample(n, bench.plan.sampled_columns), bench.plan.seconds_for_sampled_columns
    bench.begin(f"Z-step, {what}, beside rivals")
    solved = {}

    def run(name, solve):
        seconds, *solved[name] = solve(kernel, alpha, columns, limit)
        return seconds

    ours, theirs = bench.alternate(
        lambda: z_step(bench, kernel, alpha, threads=1)[0],
        {name: functools.partial(run, name, solve) for solve, name, _ in solvers},
    )
    for _, name, times in solvers:
        solved_columns, solution = solved[name]
        note = f"gap {rivals.gap(kernel, alpha, solved_columns, solution):.0e}"
        if len(solved_columns) < n:
            note += f", scaled from {len(solved_columns)} of {n} columns"
        bench.report.faster(1, what, name, theirs[name], ours, times, note)


def measure_whole_fit(bench):
    plan, report = bench.plan, bench.report
    for n in plan.growth_sizes:
        bench.begin(f"whole fit, n = {n}")
        if n == plan.fit_in_products_size:
            name = numpy_name()
            ours, theirs = bench.alternate(
                lambda: bench.fit_apart(n, PAPER), {name: numpy_product(n)}
            )
            report.add(
                2, f"fit of n = {n}, in products", ours / theirs[name], at_most(5),
                name, theirs[name], ours,
            )  # fmt: skip
        else:
            bench.alternate(lambda: bench.fit_apart(n, PAPER), {})
            report.add(2, f"fit of n = {n}", ours=bench.apart[n, str(PAPER)]["seconds"])
    seconds = [bench.apart[n, str(PAPER)]["seconds"] for n in plan.growth_sizes]
    first, last = plan.growth_sizes[0], plan.growth_sizes[-1]
    growth = exponent(plan.growth_sizes, seconds)
    report.add(2, f"exponent of time, n = {first} to {last}", growth, at_most(2.3))

    n = plan.largest_size
    bench.begin(f"whole fit, n = {n}, and {plan.cancels} cancels")
    bench.fit_apart(n, PAPER, cancels=plan.cancels)
    fit = bench.apart[n, str(PAPER)]
    report.add(2, f"fit of n = {n}", ours=fit["seconds"])
    report.add(2, f"n = {n}, GiB of the process", fit["resident"] / 2**30, at_most(24))
    report.add(2, f"n = {n}, peak beyond the kernels, n² doubles", fit["peak"] / (8 * n * n), at_most(3))
    silence = f"at most {fit['longest_silence']:.2f} s apart"
    report.add(2, f"n = {n}, progress calls", fit["progress_calls"], at_least(1), note=silence)
    if fit["latencies"]:
        slowest, step = max(fit["latencies"])
        met = f"worst of {len(fit['latencies'])}, when the step last told was {step}"
        report.add(2, f"n = {n}, seconds until a cancel is answered", slowest, at_most(2), note=met)
    else:
        report.miss(2, f"cancel at n = {n}: every fit was done before it")


def measure_two_threads(bench):
    plan, report, data = bench.plan, bench.report, bench.plan.two_threads_data
    x, classes = bench.load(3, data)
    if x is None:
        return
    kernel = mean_kernel(x)
    for alpha in plan.two_threads_alphas:
        bench.begin(f"Z-step on two threads, {data}, α = {alpha:g}")
        two, one = bench.alternate(
            lambda: z_step(bench, kernel, alpha, threads=2)[0],
            {"one": lambda: z_step(bench, kernel, alpha, threads=1)[0]},
        )
        what = f"Z-step, {data}, α = {alpha:g}, two threads"
        report.faster(3, what, "scmk, one thread", one["one"], two, 1.7)

    bench.begin(f"two fits at once, {data}")
    kernels = list(paper_kernels(x))

    def fits(count):
        """Seconds until so many fits that start together are all done."""

        def fit(_):
            with bench.scmk.model(len(x), len(set(classes)), threads=1, **PAPER) as model:
                for kernel in kernels:
                    model.borrow_kernel(kernel)
                ready.wait()
                return model.fit()

        ready = threading.Barrier(count, timeout=600)
        with ThreadPoolExecutor(count) as pool:
            return max(pool.map(fit, range(count)))

    both, alone = bench.alternate(lambda: fits(2), {"alone": lambda: fits(1)})
    report.add(
        3, f"two whole fits at once, {data}", both / alone["alone"], at_most(1.15),
        "scmk, one fit", alone["alone"], both, "one thread each; 1.15 allows for noise",
    )  # fmt: skip


def measure_p_step(bench):
    plan, report = bench.plan, bench.report
    n, clusters = plan.p_step_size, plan.p_step_clusters
    what, scipy = f"n = {n}, c = {clusters}", f"scipy {importlib.metadata.version('scipy')}"
    bench.begin(f"P-step, {what}")
    x = blobs(n, clusters, spread=1)
    state = {}

    def ours():
        """Seconds of the P-steps of a warm fit of one iteration, with a larger β than before."""
        options = dict(PAPER, warm_start=1, labels="qr", threads=2)
        with bench.scmk.model(n, clusters, **options) as model:
            model.add_features(x, "paper")
            model.fit()
            state["before"] = model.embedding()
            model.set(beta=1.5e-5, max_iterations=1)
            model.fit()
            state["after"] = model.embedding()
            state["laplacian"] = rivals.laplacian(model.similarity_csc())
            state["components"] = int(model.info("components"))
            return model.info("seconds_embedding")

    ours()
    matrix, before = state["laplacian"], state["before"]
    if state["components"] >= clusters:
        report.miss(4, f"{state['components']} parts of the graph leave no eigenvectors to compute")
        return
    # Rivals are asked for no more than they can reach in double precision.
    goal = max(rivals.residual(matrix, state["after"]), 1e-9)
    solvers = {}
    for solve in (rivals.scipy_eigsh, rivals.scipy_lobpcg, rivals.scipy_lobpcg_jacobi):
        name = f"{scipy}, {solve.__name__.removeprefix('scipy_').replace('_', ', ')}"
        bench.begin(f"P-step, tolerance for {name}")
        for tolerance in goal * np.array([1e3, 1e2, 10, 1, 0.1]):
            if rivals.residual(matrix, solve(matrix, before, tolerance)) <= goal:
                run = functools.partial(solve, matrix, before, tolerance)
                solvers[name] = functools.partial(timed, run)
                break
        else:
            report.miss(4, f"{name} does not reach a residual of {goal:.0e}")
    bench.begin(f"P-step, {what}, beside rivals")
    seconds, theirs = bench.alternate(ours, solvers)
    note = f"residual {goal:.0e}; graph in {state['components']} part(s); ours may be several P-steps"
    for name in solvers:
        report.faster(4, f"P-step, {what}, warm", name, theirs[name], seconds, 1, note)

    bench.begin(f"P-step, {what}, eigenvalues")
    x = torus(math.isqrt(n))
    with bench.scmk.model(len(x), clusters, **PAPER, labels="qr", threads=2) as model:
        model.set(beta=0).add_features(x, "gaussian(t=0.1)")
        model.fit()
        repeated = rivals.laplacian(model.similarity_csc()), model.embedding()
    for graph, case in (((matrix, state["after"]), "that P-step"), (repeated, "repeated eigenvalues")):
        rival = f"{scipy}, eigh of the dense matrix"
        report.add(4, f"excess of Tr(P'LP), {case}", rivals.excess(*graph), at_most(1e-6), rival)


def measure_grid(bench):
    n = bench.plan.grid_size
    bench.begin(f"grid, n = {n}")
    kernels = list(paper_kernels(blobs(n, 10)))
    pairs = [(alpha, beta) for alpha in (1, 1e-1, 1e-2, 1e-3) for beta in (1e-6, 1e-5, 1e-4, 1e-3)]

    def fits(pairs, warm_start):
        """Seconds of the fits of one model."""
        with bench.scmk.model(n, 10, **PAPER, warm_start=warm_start, threads=2) as model:
            for kernel in kernels:
                model.borrow_kernel(kernel)
            return sum(model.set(alpha=alpha, beta=beta).fit() for alpha, beta in pairs)

    grid, single = bench.alternate(
        lambda: fits(pairs, 1), {"mean": lambda: sum(fits([pair], 0) for pair in pairs) / len(pairs)}
    )
    bench.report.add(
        5, f"grid of {len(pairs)}, n = {n}, 12 kernels, in single fits", grid / single["mean"], at_most(5),
        "scmk, mean cold fit of the pairs", single["mean"], grid,
    )  # fmt: skip


def measure_building(bench):
    plan, report = bench.plan, bench.report
    n, features = plan.building_size, plan.building_features
    what = f"12 kernels, n = {n}, d = {features}"
    bench.begin(what)
    x = np.random.default_rng(0).normal(size=(n, features))

    def ours():
        with bench.scmk.model(n, 10, threads=2) as model:
            return timed(lambda: model.add_features(x, "paper"))

    seconds, theirs = bench.alternate(
        ours, {"gram": lambda: timed(lambda: x @ x.T), "product": numpy_product(n)}
    )
    beyond = seconds - theirs["gram"]
    report.add(
        6, f"{what}, in products beyond the Gram", beyond / theirs["product"], at_most(2),
        numpy_name(), theirs["product"], beyond, f"less {number(theirs['gram'])} s of numpy's x @ x.T",
    )  # fmt: skip
    bench.begin(f"memory of {what}")
    squares = memory.building(bench.scmk.path, n, features)["peak"] / (8 * n * n)
    copy = features / n
    note = f"{copy:g} is a copy of the features"
    report.add(6, f"{what}, peak, n² doubles", squares, at_most(13 + copy), note=note)


def measure_memory(bench):
    for n in bench.plan.memory_sizes:
        # The supports of UNIT are wide: ten minutes for 10,000 samples.
        for options in (PAPER, UNIT) if n <= bench.plan.largest_wide_size else (PAPER,):
            setting = " ".join(f"{name}={value}" for name, value in options.items())
            if (n, str(options)) not in bench.apart:
                bench.begin(f"memory, n = {n}, {setting}")
                bench.fit_apart(n, options)
            fit = bench.apart[n, str(options)]
            required, peak = fit["required"], fit["peak"]
            bench.report.add(
                7, f"memory_required over peak, n = {n}, {setting}", required / peak, (0.9, 1.1),
                note=f"{required / 1e6:.0f} MB said, {peak / 1e6:.0f} MB measured",
            )  # fmt: skip


def draw_growth(bench, path):
    """Time and memory of the whole fit against n; exponents are those of the growth sizes."""
    fits = {n: fit for (n, options), fit in sorted(bench.apart.items()) if options == str(PAPER)}
    fitted = [n for n in bench.plan.growth_sizes if n in fits]
    if len(fitted) < 2:
        bench.report.miss(2, "the plot: too few sizes")
        return

    def curve(key, unit):
        power = exponent(fitted, [fits[n][key] for n in fitted])
        return list(fits), [fit[key] / unit for fit in fits.values()], power

    panels = {
        "seconds of the fit": {"scmk, 12 kernels, two threads": curve("seconds", 1)},
        "memory beyond the kernels, GiB": {
            "measured peak": curve("peak", 2**30),
            "memory_required": curve("required", 2**30),
        },
    }
    try:
        plot_growth(path, panels)
    except ImportError as error:
        bench.report.miss(2, f"the plot: matplotlib is absent ({error})")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", metavar="LIBSCMK", help="path of libscmk.so")
    parser.add_argument("--out", type=Path, required=True, help="folder for results.csv and growth.svg")
    parser.add_argument("--data", type=Path, help="folder with the paper's data sets, .npz files")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, two minutes")
    parser.add_argument(
        "--only", type=int, nargs="+", choices=TARGETS, metavar="TARGET", default=list(TARGETS),
        help="the numbers of the targets to measure, 1 to 7",
    )  # fmt: skip
    parser.add_argument("--runs", type=int, help="runs of which the fastest counts")
    arguments = parser.parse_args()
    if arguments.data and not arguments.data.is_dir():
        parser.error(f"{arguments.data} is no folder")
    try:
        scmk = Scmk(arguments.library)
    except OSError as error:
        parser.error(str(error))
    arguments.out.mkdir(parents=True, exist_ok=True)
    plan = QUICK if arguments.quick else Plan()
    plan = dataclasses.replace(plan, runs=arguments.runs or plan.runs)
    bench = Bench(scmk, plan, Report(TARGETS), arguments.data)
    print(f"scmk {scmk.version}, {os.cpu_count()} cores, best of {plan.runs} runs, {time.strftime('%Y-%m-%d')}")
    print(f"load average {os.getloadavg()[0]:.2f} at the start: other work spoils the figures")
    if arguments.quick:
        print_differences(plan)
    try:
        failed = run_sections(bench, arguments.only)
    except KeyboardInterrupt:
        print("interrupted: what was measured so far")
        failed = True
    draw_growth(bench, arguments.out / "growth.svg")
    bench.report.write(arguments.out / "results.csv")
    bench.report.print()
    print("SPAMS: the factorization that brings the Z-step into its form is not counted")
    bench.report.summarise()
    print(f"\n{bench.report.elapsed:.0f} s; written to {arguments.out}")
    return int(failed)


def print_differences(plan):
    print("quick: not the sizes of the targets, but")
    for field in dataclasses.fields(Plan):
        value = getattr(plan, field.name)
        if value != field.default:
            print(f"  {field.name.replace('_', ' ')}: {value} instead of {field.default}")


def run_sections(bench, targets):
    """Measures target by target; whether one failed."""
    failed = False
    sections = (
        measure_z_step, measure_whole_fit, measure_two_threads, measure_p_step,
        measure_grid, measure_building, measure_memory,
    )  # fmt: skip
    for target, section in enumerate(sections, start=1):
        if target not in targets:
            bench.report.miss(target, "not asked for")
            continue
        # The Z-step is compared on one thread; everything else has two, on any machine.
        with threadpool_limits(1 if target == 1 else 2):
            try:
                section(bench)
            except OutOfTime as late:
                bench.report.miss(target, str(late))
            except Exception as error:
                # What the other sections measure is worth having.
                traceback.print_exc()
                bench.report.miss(target, f"failed: {error}")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
