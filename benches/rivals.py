"""Rivals of single steps of the fit.

Of the Z-step: for each column k of a kernel K, min z'(K + αI)z − 2k'z over the simplex. A rival
is called with its module, the kernel, α, a sample of columns and the seconds it has. It answers
the seconds that all columns take (scaled up when it did not solve all), the columns it solved, and
their solutions as a matrix.

Of the P-step: the eigenvectors of the least eigenvalues of a Laplacian. A rival is called with
the Laplacian, the embedding to start from and a tolerance relative to the largest degree, and
answers the new embedding, or one with a larger residual where it gave up.
"""
import time
import warnings

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh, lobpcg


def spams(module, kernel, alpha, columns, seconds):
    """As least squares with the Cholesky factor of K + αI, whose computation is not counted."""
    n = len(kernel)
    root = np.asfortranarray(np.linalg.cholesky(kernel + alpha * np.eye(n)).T)
    targets = np.linalg.solve(root.T, kernel)

    def solve(some):
        right = np.asfortranarray(targets[:, some])
        started = time.perf_counter()
        z = module.decompSimplex(right, root, computeXtX=True, numThreads=1)
        return time.perf_counter() - started, some, z.toarray()

    # One column stands for what is done once, which must not be scaled.
    once, *_ = solve(columns[:1])
    spent, *solved = solve(columns)
    scaled = once + (spent - once) * (n - 1) / (len(columns) - 1)
    return solve(np.arange(n)) if scaled < seconds else (scaled, *solved)


def piqp(module, kernel, alpha, columns, seconds):
    n = len(kernel)
    solver = module.DenseSolver()
    started = time.perf_counter()
    hessian = np.asfortranarray(2 * (kernel + alpha * np.eye(n)))
    solver.setup(hessian, -2 * kernel[:, 0], A=np.ones((1, n)), b=np.ones(1), x_l=np.zeros(n))
    once = time.perf_counter() - started

    def solve(column):
        solver.update(c=-2 * kernel[:, column])
        solver.solve()
        return solver.result.x.copy()

    return one_by_one(solve, n, columns, once, seconds)


def quadprog(module, kernel, alpha, columns, seconds):
    n = len(kernel)
    started = time.perf_counter()
    inverse = np.linalg.inv(np.linalg.cholesky(2 * (kernel + alpha * np.eye(n))).T)
    constraints = np.asfortranarray(np.hstack([np.ones((n, 1)), np.eye(n)]))
    bounds = np.concatenate([[1.0], np.zeros(n)])
    once = time.perf_counter() - started

    def solve(column):
        return module.solve_qp(inverse, 2 * kernel[:, column], constraints, bounds, 1, True)[0]

    return one_by_one(solve, n, columns, once, seconds)


def one_by_one(solve, n, columns, once, seconds):
    solutions = []
    started = time.perf_counter()
    while len(solutions) < len(columns) and time.perf_counter() - started < seconds:
        solutions.append(solve(columns[len(solutions)]))
    spent = time.perf_counter() - started
    solved = columns[: len(solutions)]
    return once + spent * n / len(solved), solved, np.array(solutions).T


def sample(n, count):
    """Evenly spaced columns, in an order of which any beginning is spread out too."""
    return np.linspace(0, n - 1, count).astype(int)[np.arange(count) * 7 % count]


def gap(kernel, alpha, columns, solution):
    """The worst duality gap of these columns, relative to max|K| + α."""
    gradient = 2 * (kernel @ solution + alpha * solution - kernel[:, columns])
    gaps = (gradient * solution).sum(0) - gradient.min(0)
    return gaps.max() / (np.abs(kernel).max() + alpha)


def laplacian(similarity):
    """D − S of the graph S = (Z + Z')/2."""
    graph = (similarity + similarity.T) / 2
    return csr_array(diags_array(graph.sum(axis=1)) - graph)


def scipy_lobpcg(matrix, start, tolerance, preconditioner=None):
    largest = matrix.diagonal().max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lobpcg(
            matrix, start.copy(), M=preconditioner, largest=False, tol=tolerance * largest, maxiter=1000
        )[1]


def scipy_lobpcg_jacobi(matrix, start, tolerance):
    return scipy_lobpcg(matrix, start, tolerance, diags_array(1 / matrix.diagonal()))


def scipy_eigsh(matrix, start, tolerance):
    try:
        return eigsh(matrix, k=start.shape[1], which="SA", v0=start[:, 0], tol=tolerance)[1]
    except ArpackNoConvergence:
        return start


def residual(matrix, embedding):
    """The worst of an eigenvector, relative to the largest degree."""
    image = matrix @ embedding
    errors = image - embedding * (embedding * image).sum(0)
    return np.linalg.norm(errors, axis=0).max() / matrix.diagonal().max()


def excess(matrix, embedding):
    """How far the sum of its eigenvalues is from the least one, by a dense decomposition."""
    last = embedding.shape[1] - 1
    least = scipy.linalg.eigh(matrix.toarray(), eigvals_only=True, subset_by_index=[0, last]).sum()
    return abs((embedding * (matrix @ embedding)).sum() - least) / least
