"""Problems of the benchmarks: data sets, blobs, and kernels built by numpy."""
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).resolve().parent.parent / "examples/data/digits"


def load(name, folder):
    """Features and classes: of blobs, of the project's 400 digits, or of a data set in `folder`."""
    if name == "blobs":
        return blobs(800, 20), np.arange(800) % 20
    if name == "digits":
        x = np.loadtxt(DIGITS / "fac.csv", delimiter=",")
        x = (x - x.mean(0)) / np.maximum(x.std(0), 1e-12)
        return x, np.loadtxt(DIGITS / "labels.csv").astype(int)
    if folder is None:
        raise FileNotFoundError("no data folder is given")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        raise FileNotFoundError(f"the data folder has no {path.name}")
    with np.load(path) as archive:
        return archive["X"].astype(float), archive["y"].astype(int)


def blobs(samples, clusters, features=20, spread=4.0):
    """Gaussian clusters of unit deviation, in turn, about normal centres of deviation `spread`."""
    generator = np.random.default_rng(0)
    centres = spread * generator.normal(size=(clusters, features))
    return centres[np.arange(samples) % clusters] + generator.normal(size=(samples, features))


def torus(side):
    """side² evenly spaced points: the eigenvalues of their graph come in fours and eights."""
    angles = 2 * np.pi * np.arange(side) / side
    first, second = (part.ravel() for part in np.meshgrid(angles, angles))
    return np.stack([np.cos(first), np.sin(first), np.cos(second), np.sin(second)], axis=1)


def squared_distances(gram):
    """Exactly symmetric when the Gram matrix is, as numpy's x @ x.T."""
    squares = gram.diagonal()
    distances = np.add.outer(squares, squares)
    distances -= gram
    distances -= gram
    np.fill_diagonal(distances, 0)
    return np.maximum(distances, 0, out=distances)


def gaussian(x, t):
    distances = squared_distances(x @ x.T)
    return np.exp(-distances / (t * distances.max()))


def paper_kernels(x):
    """The paper's twelve kernels one by one; needs two matrices besides."""
    gram = x @ x.T
    distances = squared_distances(gram)
    distances /= -distances.max()
    for t in (0.01, 0.05, 0.1, 1, 10, 50, 100):
        kernel = distances / t
        yield np.exp(kernel, out=kernel)
    yield gram.copy()
    for a in (0, 1):
        for squarings in (1, 2):
            kernel = gram + a
            for _ in range(squarings):
                np.square(kernel, out=kernel)
            yield kernel


def mean_kernel(x):
    """The mean of the paper's kernels, each divided by its largest absolute entry."""
    mean = np.zeros((len(x), len(x)))
    for kernel in paper_kernels(x):
        kernel /= np.abs(kernel).max()
        mean += kernel
    return mean / 12
