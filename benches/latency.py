"""How long a fit takes to return after scmk_cancel, in every step of every method.

    benches/latency.py LIBSCMK [--samples N] [--clusters C] [--cancels K] [--methods NAME ...]

Each fit is cancelled once, from another thread, at a random moment of its own course, K of them for
each method. Prints a line for each method and step with the median, the 99th percentile and the
longest wait in seconds; exit status 1 if the percentile of any is above its limit: 0.5 s for a
thousand samples, 2 s for ten thousand, in between by their number.
"""
import argparse
import sys

import numpy as np

from library import Scmk
from problems import blobs, gaussian

METHODS = ["scmk", "kkm", "sc", "rkkm", "mkkm", "aasc", "rmkkm"]


def arguments():
    parser = argparse.ArgumentParser(description="Latency of scmk_cancel.")
    parser.add_argument("library")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--cancels", type=int, default=100, help="for each method (100)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--longest", type=float, default=20, help="seconds into a fit at most (20)")
    parser.add_argument("--alpha", type=float, default=0.01)
    return parser.parse_args()


def kernels(samples, clusters):
    x = blobs(samples, clusters)
    yield x @ x.T
    for t in (0.1, 10):
        yield gaussian(x, t)


def waits(model, moments):
    """Seconds from the cancel to the return of the fit, by the step that it met."""
    found = {}
    for seconds, step in model.cancelled(moments):
        found.setdefault(step, []).append(seconds)
    return found


def main():
    wanted = arguments()
    limit = np.interp(wanted.samples, [1000, 10_000], [0.5, 2.0])
    matrices = list(kernels(wanted.samples, wanted.clusters))
    scmk = Scmk(wanted.library)
    random = np.random.default_rng(0)
    slow = False
    print(f"{wanted.samples} samples, {len(matrices)} kernels, limit {limit:.2f} s")
    print(f"{'method':<8}{'step':<12}{'cancels':>8}{'median':>9}{'99 %':>9}{'longest':>9}")
    for method in wanted.methods:
        options = dict(method=method, threads=2, normalize="max", alpha=wanted.alpha, beta=1e-5)
        with scmk.model(wanted.samples, wanted.clusters, **options) as model:
            for matrix in matrices:
                model.borrow_kernel(matrix)
            model.set(time_limit=wanted.longest)
            duration = model.fit()
            model.set(time_limit=0)
            for step, seconds in waits(model, random.random(wanted.cancels) * duration).items():
                late = np.quantile(seconds, 0.99)
                slow |= late > limit
                print(
                    f"{method:<8}{step:<12}{len(seconds):>8}{np.median(seconds):>9.3f}"
                    f"{late:>9.3f}{max(seconds):>9.3f}{'  too slow' if late > limit else ''}",
                    flush=True,
                )
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
