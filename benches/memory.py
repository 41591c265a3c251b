"""Peak memory of a fit, or of building kernels, each in a process of its own.

    benches/memory.py LIBSCMK REQUEST

The parent's side is `fits` and `building`; REQUEST and the answer on stdout are JSON.
"""
import ctypes
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from library import Scmk
from problems import blobs, paper_kernels

CLUSTERS = 10


def fits(library, samples, settings, cancels=0):
    """Fits of blobs with twelve borrowed kernels, one for each of `settings` (options by name).

    Answers what `measured_fit` does for each, and how long the fit took to answer each of
    `cancels` cancels, spread over the duration of the first fit.
    """
    return request(library, action="fits", samples=samples, settings=settings, cancels=cancels)


def building(library, samples, features):
    """Bytes that building the paper's kernels from features needs at its peak."""
    return request(library, action="building", samples=samples, features=features)


def request(library, **wanted):
    command = [sys.executable, __file__, library, json.dumps(wanted)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        last = run.stderr.strip().splitlines()[-1:]
        raise RuntimeError(f"process ended with {run.returncode}: {' '.join(last)}")
    return json.loads(run.stdout)


def resident(field):
    """Bytes of this process: VmRSS now, VmHWM at the peak."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])


def peak_beyond(action):
    """Most bytes resident during `action` beyond those before it."""
    # Memory that was freed but not given back would hide what the action takes of it.
    ctypes.CDLL(None).malloc_trim(0)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    action()
    return resident("VmHWM") - before


def page_in(scmk, settings):
    """Runs a tiny problem so that code and thread stacks are resident already."""
    with scmk.model(60, 3, threads=2, **settings) as model:
        model.add_features(blobs(60, 3), "paper")
        model.fit()


def run_fits(scmk, samples, settings, cancels):
    page_in(scmk, settings[0])
    kernels = list(paper_kernels(blobs(samples, CLUSTERS)))
    answer = {"fits": [], "latencies": []}
    for options in settings:
        with scmk.model(samples, CLUSTERS, threads=2, **options) as model:
            for kernel in kernels:
                model.borrow_kernel(kernel)
            answer["fits"].append(measured_fit(model))
            if options is settings[0]:
                answer["latencies"] = latencies(model, answer["fits"][0]["seconds"], cancels)
    return answer


def measured_fit(model):
    called = []
    model.on_progress(lambda _step: called.append(time.perf_counter()))
    required = model.memory_required
    called.append(time.perf_counter())
    peak = peak_beyond(model.fit)
    called.append(time.perf_counter())
    return {
        "seconds": model.info("seconds"),
        "required": required,
        "peak": peak,
        "resident": resident("VmHWM"),
        "progress_calls": len(called) - 2,
        "longest_silence": float(np.diff(called).max()),
    }


def latencies(model, duration, cancels):
    """Seconds from a cancel to the return of the fit, and the step it met, at random moments."""
    moments = (np.arange(cancels) + np.random.default_rng(0).random(cancels)) / max(cancels, 1)
    return list(model.cancelled(moments * duration))


def run_building(scmk, samples, features):
    page_in(scmk, {})
    x = np.random.default_rng(0).normal(size=(samples, features))
    with scmk.model(samples, CLUSTERS, threads=2) as model:
        return {"peak": peak_beyond(lambda: model.add_features(x, "paper"))}


if __name__ == "__main__":
    wanted = json.loads(sys.argv[2])
    run = {"fits": run_fits, "building": run_building}[wanted.pop("action")]
    print(json.dumps(run(Scmk(sys.argv[1]), **wanted)))
