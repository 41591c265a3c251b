#!/usr/bin/env python3
"""kkm and sc beside the same methods elsewhere: kernlab (R) and scikit-learn.

    build/rivals/bin/python benches/methods.py LIBSCMK [DATA]

LIBSCMK is the path of libscmk.so. DATA, a folder with the paper's data sets, adds BA (1404
samples) to the 400 digits that ship with the project. Each figure is the median of several runs
in this process or, for R, within one R process; the ratio is rival time over ours. A rival that
is absent is named as absent.
"""
import importlib.metadata
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from library import Scmk
from problems import gaussian, load

RUNS = 5


def fit(scmk, kernel, clusters, **options):
    """Seconds and labels."""
    with scmk.model(len(kernel), clusters, **options) as model:
        model.borrow_kernel(kernel)
        return model.fit(), model.labels()


def problems(data):
    x, truth = load("digits", data)
    yield "digits", gaussian(x, 0.2), truth
    if data is None:
        print("no data folder given: BA is left out")
        return
    x, truth = load("BA", data)
    yield "BA", gaussian(x, 0.1), truth


def purity(truth, labels):
    return sum(np.bincount(truth[labels == k]).max() for k in np.unique(labels)) / len(truth)


def kernlab(kernel, clusters, method):
    """Median seconds and labels of a kernlab function on a kernel matrix."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.bin"
        kernel.tofile(path)
        script = f"""
            suppressMessages(library(kernlab))
            K <- as.kernelMatrix(matrix(readBin("{path}", "double", {kernel.size}), {len(kernel)}))
            set.seed(1)
            times <- numeric(0)
            for (i in 1:{RUNS}) {{
                time <- system.time(fit <- try({method}(K, centers = {clusters}), silent = TRUE))
                if (!inherits(fit, "try-error")) times <- c(times, time[["elapsed"]])
            }}
            if (length(times) == 0) stop("every run failed: ", fit)
            cat(median(times), "\\n")
            if (!inherits(fit, "try-error")) cat(fit@.Data, "\\n")
        """
        run = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
        if run.returncode != 0:
            return None, run.stderr.strip().splitlines()[-1]
        lines = run.stdout.strip().splitlines()
        labels = np.array(lines[1].split(), dtype=int) if len(lines) > 1 else None
        return float(lines[0]), labels


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    scmk = Scmk(sys.argv[1])
    data = sys.argv[2] if len(sys.argv) > 2 else None
    print(f"scmk {scmk.version}, two columns of purity to see that all solve the same")
    try:
        from sklearn.cluster import SpectralClustering

        sklearn = "scikit-learn " + importlib.metadata.version("scikit-learn")
    except ImportError:
        sklearn = None
        print("scikit-learn is absent: its ratios are missing")
    version = 'suppressMessages(library(kernlab)); cat(as.character(packageVersion("kernlab")))'
    r = shutil.which("Rscript") and subprocess.run(["Rscript", "-e", version], capture_output=True, text=True)
    r = "kernlab " + r.stdout if r and r.returncode == 0 else None
    if r is None:
        print("R with kernlab is absent: its ratios are missing")

    slower = 0
    print(f"{'data':8}{'method':8}{'rival':24}{'theirs, s':>10}{'ours, s':>10}{'ratio':>8}   purity theirs, ours")
    for name, kernel, truth in problems(data):
        clusters = len(np.unique(truth))
        cases = []
        if r:
            cases.append(("kkm", r, lambda: kernlab(kernel, clusters, "kkmeans"), 1))
            cases.append(("sc", r, lambda: kernlab(kernel, clusters, "specc"), 1))
        if sklearn:

            def spectral():
                times = []
                for seed in range(RUNS):
                    rival = SpectralClustering(
                        clusters, affinity="precomputed", n_init=20, random_state=seed
                    )
                    started = time.perf_counter()
                    labels = rival.fit_predict(kernel)
                    times.append(time.perf_counter() - started)
                return statistics.median(times), labels

            cases.append(("sc", sklearn, spectral, 20))
        for method, rival, run, restarts in cases:
            theirs, their_labels = run()
            if theirs is None:
                print(f"{name:8}{method:8}{rival:24}failed: {their_labels}")
                continue
            options = dict(method=method, restarts=restarts, normalize="max")
            fits = [fit(scmk, kernel, clusters, seed=seed, **options) for seed in range(RUNS)]
            ours = statistics.median(seconds for seconds, _ in fits)
            theirs_purity = purity(truth, their_labels) if their_labels is not None else float("nan")
            ratio = theirs / ours
            slower += ratio < 1
            print(
                f"{name:8}{method:8}{rival:24}{theirs:10.3f}{ours:10.3f}{ratio:8.1f}   "
                f"{theirs_purity:.2f}, {purity(truth, fits[0][1]):.2f}"
            )
    print("no method is slower than its rival" if slower == 0 else f"{slower} ratios below 1")
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
