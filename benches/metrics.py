"""Times scmk_metric("accuracy") beside scipy's assignment on the same labels, in one run.

    python benches/metrics.py LIBRARY
"""

import ctypes
import sys
import time

import numpy
from scipy.optimize import linear_sum_assignment


def ours(library, truth, labels):
    """The accuracy and its seconds, the table of both divisions included."""
    value = ctypes.c_double()
    pointer = ctypes.POINTER(ctypes.c_int32)
    started = time.perf_counter()
    status = library.scmk_metric(
        b"accuracy",
        truth.ctypes.data_as(pointer),
        labels.ctypes.data_as(pointer),
        ctypes.c_size_t(len(truth)),
        ctypes.byref(value),
    )
    if status != 0:
        raise SystemExit(f"scmk_metric answered {status}")
    return value.value, time.perf_counter() - started


def scipys(truth, labels, kinds):
    """The accuracy and the seconds of the assignment alone."""
    table = numpy.zeros((kinds, kinds))
    numpy.add.at(table, (truth, labels), 1)
    started = time.perf_counter()
    rows, columns = linear_sum_assignment(-table)
    seconds = time.perf_counter() - started
    return table[rows, columns].sum() / len(truth), seconds


def main():
    library = ctypes.CDLL(sys.argv[1])
    random = numpy.random.default_rng(0)
    worst = 0
    print("samples      labels  kind      scmk s   scipy s   ratio")
    for samples, kinds, kind in [
        (10**5, 2000, "random"),
        (10**5, 4000, "random"),
        (10**5, 4000, "related"),
        (10**6, 1000, "random"),
        (10**6, 4000, "random"),
        (10**7, 4000, "random"),
    ]:
        truth = random.integers(0, kinds, samples).astype(numpy.int32)
        labels = random.integers(0, kinds, samples).astype(numpy.int32)
        if kind == "related":
            same = random.random(samples) < 0.7
            labels = numpy.where(same, (7 * truth + 1) % kinds, labels).astype(numpy.int32)
        value, seconds = ours(library, truth, labels)
        expected, others = scipys(truth, labels, kinds)
        if abs(value - expected) > 1e-12:
            raise SystemExit(f"{value} and {expected}")
        worst = max(worst, seconds / others)
        print(
            f"{samples:9d} {kinds:9d}  {kind:8s} {seconds:8.3f} {others:9.3f} {seconds / others:7.2f}"
        )
    print(f"worst ratio {worst:.2f} (wanted: at most 3)")


main()
