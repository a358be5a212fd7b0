"""MUSIC: which columns of a Jacobian are not zero, from its answers to random probes.

Schmidt, *Multiple emitter location and signal parameter estimation*, IEEE Transactions on Antennas and
Propagation 34(3), 1986; for joint sparsity Feng & Bresler, ICASSP 1996, and Davies & Eldar, *Rank awareness
in joint sparse recovery*, IEEE Transactions on Information Theory 58(2), 2012.

Symbols: n coordinates (positions), m outputs, p probes; W (p × n) the weights of the coordinates in the
probes, J (m × n) the Jacobian, S its columns that are not zero, k their number. The answers are

    Y = J Wᵀ + errors    (m × p),

so if the columns in S are linearly independent (which needs k ≤ m) and k < p, the row space of Y is the
span of the columns w_i of W with i in S, and no other w_i lies in it. GraCe is the case m = 1: two probes,
and one coordinate that is told by the ratio of their answers.

The number k is not known, and a gap in the singular values is a poor judge of it. A sharper one: for a
coordinate outside S the direction of w_i has nothing to do with that space, and the share of its squared
length that lies outside of a k-dimensional space,

    t_i = |P⊥ w_i|² / |w_i|²,

has (for directions distributed evenly, and nearly so for the weights used here) the law
Beta((p − k)/2, k/2). The n − k coordinates that do not
matter are drawn from it, and k is right if exactly k coordinates have a share that is too small for chance.
Any probe beyond the k-th is so a test of all coordinates and all outputs at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, chdtrc

from gracezo.core.types import FloatArray, IntArray
from gracezo.sparse.weights import Weights

CHANCE = 1e-5  # wrong columns that chance may bring about in a decoding
_CLEAR = 3.0  # times the largest singular value of errors alone: what cannot be one
_WRONG = 0.1  # of the least singular value: what a space leaves in which a column is missing is larger
_FALL = 2.0  # by so much at least a singular value falls at the rank
_RANKS = 3  # so many of the largest falls are tried


@dataclass(frozen=True, eq=False)
class Decoded:
    """The columns of a set of positions.

    Attributes
    ----------
    positions : ndarray of int
        Where they are.
    columns : ndarray
        The columns, m × k.
    rest : float
        Root mean square of what they leave of the answers, in units of the errors.
    spare : int
        Probes beyond the number of columns.
    """

    positions: IntArray
    columns: FloatArray
    rest: float
    spare: int


def decode(
    weights: Weights,
    probes: IntArray,
    start: int,
    stop: int,
    answers: FloatArray,
    errors: FloatArray,
    *,
    common: bool = False,
    flat: float = 3.0,
) -> Decoded | None:
    """Find the columns that explain the answers to probes of a set of positions.

    Parameters
    ----------
    weights, probes
        W, and which of its rows were asked.
    start, stop
        The set: positions from `start` up to, not including, `stop`. All others stood still.
    answers
        Y, a row for each output and a column for each probe.
    errors
        The standard error of an answer, for each output. Units of outputs are so of no importance.
    common
        Whether something unknown may be common to all probes (an error of r(x), which all differences
        share; or weights of one sign): it is projected out, at the price of one probe.
    flat
        Answers that are smaller than so many errors hold no column.

    Returns
    -------
    Decoded or None
        None when no number of columns is consistent with the answers: there are more than m of them, or
        as many as probes, or the errors are larger than said.

    Examples
    --------
    >>> import numpy as np
    >>> weights, probes = Weights(1000, seed=1), np.arange(4)
    >>> jacobian = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])  # of the positions 17 and 640
    >>> answers = jacobian @ weights.columns(np.array([17, 640]), probes).T
    >>> found = decode(weights, probes, 0, 1000, answers, np.full(3, 1e-9))
    >>> sorted(found.positions.tolist())
    [17, 640]
    """
    whitened = answers / errors[:, None]
    m, p = whitened.shape
    size = stop - start
    if np.linalg.norm(whitened) < flat * math.sqrt(m * p):
        return Decoded(np.zeros(0, np.int64), np.zeros((m, 0)), 1.0, p)
    basis = np.eye(p)
    if common:
        basis = np.linalg.qr(np.column_stack([np.ones(p), np.eye(p)[:, : p - 1]]))[0][:, 1:]
        whitened, p = whitened @ basis, p - 1
    if p < min(2, size):
        return None
    level = math.sqrt(m) + math.sqrt(p)  # the largest singular value of errors alone
    if size < p or size == 1:  # fewer coordinates than probes: least squares
        candidates = {size: np.arange(start, stop)}
        singular = np.zeros(p)
    else:
        _, found, rows = np.linalg.svd(whitened, full_matrices=True)
        singular = np.concatenate([found, np.zeros(p - len(found))])
        ranks = _ranks(singular, level, min(m, p - 1, size - 1), size)
        candidates = _inside(weights, probes, start, stop, basis @ rows.T, ranks)
    for k in sorted(candidates, reverse=True):
        positions = candidates[k]
        if len(positions) != k:
            continue
        w = basis.T @ weights.columns(positions, probes)
        columns, left = _solved(w, whitened)
        # They explain all that anything of rank k can, or all but what a wrong one would leave at least.
        explicable = _CLEAR * float(np.linalg.norm(singular[k:])) + 1.5 * level
        if k == size or left <= max(explicable, _WRONG * float(singular[k - 1])):
            rest = left / math.sqrt(m * max(1, p - k))
            if common and 1 < k == size and rest > flat:
                continue
            seen = _seen(columns, w, max(1.0, rest), size)
            if k == size and not seen.all():
                # Those that are not seen may be zero, or may be confounded with each other: then the others
                # alone leave more than all of them did.
                columns, left = _solved(w[:, seen], whitened)
                if left > flat * max(1.0, rest) * math.sqrt(m * (p - int(seen.sum()))):
                    continue
                positions, rest, seen = (
                    positions[seen],
                    left / math.sqrt(m * (p - int(seen.sum()))),
                    seen[seen],
                )
            if seen.all():
                return Decoded(positions, columns * errors[:, None], rest, p - len(positions))
    return None


def _solved(w: FloatArray, answers: FloatArray) -> tuple[FloatArray, float]:
    """Return the columns that explain answers best, and the norm of what they leave."""
    columns = np.asarray(np.linalg.lstsq(w, answers.T, rcond=None)[0].T, np.float64)
    return columns, float(np.linalg.norm(answers - columns @ w.T))


def rank(answers: FloatArray, errors: FloatArray) -> tuple[int, float]:
    """Return how many dimensions of the answers cannot be errors, and the relative error of the least."""
    if answers.shape[1] == 0:
        return 0, 1.0 / _CLEAR
    singular = np.linalg.svd(answers / errors[:, None], compute_uv=False)
    level = sum(map(math.sqrt, answers.shape))
    clear = singular[singular > _CLEAR * level]
    return len(clear), float(level / clear[-1]) if len(clear) else 1.0 / _CLEAR


def spare(size: int, error: float) -> int:
    """Return how many probes beyond their number tell columns from all others, of so many positions.

    The weights of a column lie in the space up to the relative `error` τ of its weakest direction; by chance
    those of one of n others come as near with a probability of about n·τ^q, for q probes.

    Examples
    --------
    >>> spare(10_000, 1e-8), spare(10_000, 1e-2), spare(10_000, 0.3)
    (2, 5, 18)
    """
    return max(2, math.ceil(math.log(size / CHANCE) / -math.log(max(error, 1e-300))))


def _seen(columns: FloatArray, w: FloatArray, error: float, size: int) -> NDArray[np.bool_]:
    """Return which columns are not errors of the answers alone, whose sum of squares has the law χ²(m).

    `error` is that of an answer; that of a column is larger by the diagonal of (WᵀW)⁻¹.
    """
    variances = np.diag(np.linalg.pinv(w.T @ w, hermitian=True)) * error**2
    chance = chdtrc(len(columns), (columns**2).sum(axis=0) / variances) * size
    return np.asarray(chance < CHANCE)


def _ranks(singular: FloatArray, level: float, most: int, size: int) -> list[int]:
    """Return the numbers of columns that are worth a pass over W: where singular values end or fall.

    A fall at k of a factor c leaves shares of about 1/c² outside the space. If chance would give one of
    `size` coordinates a share ten thousand times smaller, there are not yet enough probes to tell.
    """
    p = len(singular)
    falls = singular[:-1] / np.maximum(singular[1:], level / 3.0)
    wanted = {int((singular > _CLEAR * level).sum()), *(np.argsort(-falls)[:_RANKS] + 1).tolist()}
    return sorted(
        k
        for k in wanted
        if 1 <= k <= most
        and falls[k - 1] > _FALL
        and betainc((p - k) / 2, k / 2, min(1.0, 1e-4 / falls[k - 1] ** 2)) * size < CHANCE
    )


def _inside(
    weights: Weights, probes: IntArray, start: int, stop: int, rows: FloatArray, ranks: list[int]
) -> dict[int, IntArray]:
    """Return, for each rank k, the positions whose weights lie in the span of the first k of the `rows`.

    Where some do and others are in doubt, the doubt is less beside those that are certain: with a of them
    taken out of the space, chance has k − a dimensions left to hit instead of k, and the share of what is
    left of w_i has the law Beta((p − k)/2, (k − a)/2) (rank-aware order-recursive matching pursuit, Davies
    & Eldar). So it is asked again, without them, until none is added.
    """
    inside = {}
    for k in ranks:
        outer, inner = rows[:, k:], rows[:, :k]
        certain = np.zeros(0, np.int64)
        while len(certain) < k:
            near = _nearest(weights, probes, start, stop, outer, inner, k - len(certain) + 1, certain)
            if len(near) == 0:
                break
            certain = np.concatenate([certain, near])
            basis = np.linalg.qr(rows[:, :k].T @ weights.columns(certain, probes), mode="complete")[0]
            inner = rows[:, :k] @ basis[:, len(certain) :]
        inside[k] = certain
    return inside


def _nearest(
    weights: Weights,
    probes: IntArray,
    start: int,
    stop: int,
    outer: FloatArray,
    inner: FloatArray,
    count: int,
    known: IntArray,
) -> IntArray:
    """Return the positions whose share in `outer`, beside `inner`, is too small for chance: at most so many.

    One pass over W. More than the space has dimensions decide against it as well as all would.
    """
    shares, positions = np.zeros(0), np.zeros(0, np.int64)
    both, dimensions = np.ascontiguousarray(np.column_stack([outer, inner]).T), outer.shape[1]
    for first, block in weights.blocks(probes, start, stop):
        parts = both @ block
        parts *= parts
        share = parts[:dimensions].sum(axis=0) / parts.sum(axis=0)
        share[known[(known >= first) & (known < first + len(share))] - first] = 1.0
        near = np.argpartition(share, count)[:count] if len(share) > count else np.arange(len(share))
        shares = np.concatenate([shares, share[near]])
        positions = np.concatenate([positions, near + first])
        order = np.argsort(shares)[:count]
        shares, positions = shares[order], positions[order]
    chance = betainc(dimensions / 2, inner.shape[1] / 2, np.minimum(shares, 1.0)) * (stop - start)
    return np.asarray(positions[chance < CHANCE])
