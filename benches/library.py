"""The C interface of libscmk for the benchmarks, by ctypes."""
import ctypes
import threading
import time

import numpy as np

SIZE = ctypes.c_size_t
TEXT = ctypes.c_char_p
HANDLE = ctypes.c_void_p
ARRAY = ctypes.c_void_p
PROGRESS = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, TEXT, ctypes.c_int64, ctypes.c_double, ctypes.c_double
)
SIGNATURES = {
    "scmk_create": (SIZE, SIZE, ctypes.POINTER(HANDLE)),
    "scmk_destroy": (HANDLE,),
    "scmk_error_message": (HANDLE, TEXT, SIZE, ctypes.c_void_p),
    "scmk_borrow_kernel": (HANDLE, ARRAY, SIZE, SIZE),
    "scmk_add_features": (HANDLE, ARRAY, SIZE, SIZE, SIZE, SIZE, TEXT),
    "scmk_set_text": (HANDLE, TEXT, TEXT),
    "scmk_set_progress": (HANDLE, PROGRESS, ctypes.c_void_p),
    "scmk_fit": (HANDLE,),
    "scmk_cancel": (HANDLE,),
    "scmk_suggest_clusters": (HANDLE, SIZE, SIZE, ARRAY, SIZE),
    "scmk_info_real": (HANDLE, TEXT, ctypes.POINTER(ctypes.c_double)),
    "scmk_info_text": (HANDLE, TEXT, TEXT, SIZE, ctypes.POINTER(SIZE)),
    "scmk_kernel_name": (HANDLE, SIZE, ctypes.POINTER(SIZE), TEXT, SIZE, ctypes.POINTER(SIZE)),
    "scmk_labels": (HANDLE, ARRAY, SIZE),
    "scmk_weights": (HANDLE, ARRAY, SIZE),
    "scmk_view_weights": (HANDLE, ARRAY, SIZE),
    "scmk_embedding": (HANDLE, ARRAY, SIZE),
    "scmk_similarity_csc": (HANDLE, ARRAY, SIZE, ARRAY, ARRAY, SIZE),
    "scmk_metric": (TEXT, ARRAY, ARRAY, SIZE, ctypes.POINTER(ctypes.c_double)),
}
CANCELLED = 3


class Scmk:
    """The library."""

    def __init__(self, path):
        self.path = str(path)
        self.lib = ctypes.CDLL(self.path)
        for name, arguments in SIGNATURES.items():
            getattr(self.lib, name).argtypes = arguments
        self.lib.scmk_version.restype = TEXT
        self.lib.scmk_last_error.restype = TEXT

    @property
    def version(self):
        return self.lib.scmk_version().decode()

    def metric(self, name, truth, labels):
        """How well labels agree with a known division."""
        truth, labels = (np.ascontiguousarray(each, dtype=np.int32) for each in (truth, labels))
        assert len(truth) == len(labels)
        value = ctypes.c_double()
        arrays = truth.ctypes.data, labels.ctypes.data, len(truth)
        if self.lib.scmk_metric(name.encode(), *arrays, ctypes.byref(value)) != 0:
            raise RuntimeError(f"scmk_metric: {self.lib.scmk_last_error().decode()}")
        return value.value

    def model(self, samples, clusters=0, **options):
        """A model with options given by name, to be used as a context: `with scmk.model(...) as model`."""
        return Model(self.lib, samples, clusters).set(**options)


class Model:
    """One model; every call that fails raises a RuntimeError with the library's message."""

    def __init__(self, lib, samples, clusters):
        self.lib, self.samples = lib, samples
        self.handle = HANDLE()
        # What the library reads for as long as the model lives.
        self.kept = []
        self.call("scmk_create", samples, clusters, ctypes.byref(self.handle), on_self=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.scmk_destroy(self.handle)
        self.kept.clear()

    def call(self, name, *arguments, on_self=True):
        status = getattr(self.lib, name)(*([self.handle] if on_self else []), *arguments)
        if status != 0:
            message = ctypes.create_string_buffer(500)
            self.lib.scmk_error_message(self.handle, message, len(message), None)
            raise RuntimeError(f"{name}: {message.value.decode()}")

    def set(self, **options):
        for name, value in options.items():
            self.call("scmk_set_text", name.encode(), str(value).encode())
        return self

    def borrow_kernel(self, kernel):
        assert kernel.dtype == np.float64 and kernel.flags.c_contiguous
        self.kept.append(kernel)
        self.call("scmk_borrow_kernel", kernel.ctypes.data, len(kernel), len(kernel))

    def add_features(self, x, kernels="paper"):
        assert x.dtype == np.float64 and x.flags.c_contiguous
        samples, features = x.shape
        self.call(
            "scmk_add_features", x.ctypes.data, samples, features, features, 1, kernels.encode()
        )

    def on_progress(self, function):
        """`function(step)` is told the name of the step that is under way."""

        def progress(_user, step, _iteration, _fraction, _objective):
            function(step.decode())
            return 0

        self.kept.append(PROGRESS(progress))
        self.call("scmk_set_progress", self.kept[-1], None)

    def fit(self):
        """Wall-clock seconds of the call."""
        started = time.perf_counter()
        self.call("scmk_fit")
        return time.perf_counter() - started

    def cancel(self):
        self.call("scmk_cancel")

    def cancelled(self, moments):
        """Seconds from a cancel to the return of the fit, and the step it met, for each moment."""
        step = None
        asked = []

        def progress(name):
            nonlocal step
            step = name

        def cancel():
            asked.append((time.perf_counter(), step or "start"))
            self.cancel()

        self.on_progress(progress)
        for moment in moments:
            asked.clear()
            step = None
            timer = threading.Timer(moment, cancel)
            timer.start()
            self.fit()
            returned = time.perf_counter()
            timer.cancel()
            timer.join()
            # A fit that was done before its cancel tells nothing.
            if asked and self.info("outcome") == CANCELLED:
                when, where = asked[0]
                yield returned - when, where

    def info(self, name):
        value = ctypes.c_double()
        self.call("scmk_info_real", name.encode(), ctypes.byref(value))
        return value.value

    def info_text(self, name):
        return self.text("scmk_info_text", name.encode())

    def kernel_names(self):
        return [self.text("scmk_kernel_name", k, None) for k in range(int(self.info("kernels")))]

    def suggest_clusters(self):
        """The number suggested, the one to look at next and the confidence; the range is the library's."""
        self.call("scmk_suggest_clusters", 0, 0, None, 0)
        best, following = (int(self.info(f"suggested_{name}")) for name in ("clusters", "next"))
        return best, following, self.info("suggested_confidence")

    @property
    def memory_required(self):
        return int(self.info("memory_required"))

    def labels(self):
        return self.copied("scmk_labels", np.empty(self.samples, dtype=np.int32))

    def weights(self):
        return self.copied("scmk_weights", np.empty(int(self.info("kernels"))))

    def view_weights(self):
        return self.copied("scmk_view_weights", np.empty(int(self.info("views"))))

    def embedding(self):
        """A row for each sample."""
        shape = int(self.info("clusters")), self.samples
        return self.copied("scmk_embedding", np.empty(shape)).T

    def similarity_csc(self):
        from scipy.sparse import csc_array

        count = int(self.info("similarity_nnz"))
        starts = np.empty(self.samples + 1, dtype=np.uintp)
        rows = np.empty(count, dtype=np.uintp)
        values = np.empty(count)
        self.call(
            "scmk_similarity_csc",
            starts.ctypes.data, len(starts), rows.ctypes.data, values.ctypes.data, count,
        )  # fmt: skip
        indices = rows.astype(np.int32), starts.astype(np.int32)
        return csc_array((values, *indices), shape=(self.samples, self.samples))

    def text(self, name, *arguments):
        """What a call writes into a buffer, of which it tells the size."""
        needed = SIZE()
        self.call(name, *arguments, None, 0, ctypes.byref(needed))
        buffer = ctypes.create_string_buffer(needed.value)
        self.call(name, *arguments, buffer, len(buffer), None)
        return buffer.value.decode()

    def copied(self, name, out):
        self.call(name, out.ctypes.data, out.size)
        return out
