"""Two-sided 95 % intervals for the proof: of a success rate, and of a gain, on a given number of held-out tasks."""

from collections.abc import Hashable, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_Z = NormalDist().inv_cdf(0.975)
_RESAMPLES = 10_000


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson's score interval (JASA 22, 1927) for a success rate: never outside 0..1, never of width 0, good from n = 5
    on.

    `n` counts independent tasks. With several rollouts of each, `successes` is the sum of the tasks' success rates:
    rollouts of one task are alike, so this is a little too wide rather than too narrow. Without tasks: (0, 1).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n, got {successes} of {n}")
    if n == 0:
        return 0.0, 1.0
    rate, z2 = successes / n, _Z * _Z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def paired_difference(
    before: Sequence[float] | NDArray[np.float64],
    after: Sequence[float] | NDArray[np.float64],
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> tuple[float, float, float]:
    """The mean of `after - before` over the same tasks, with its interval: (mean, low, high).

    `before[i]` and `after[i]` are the success (0..1, averaged over rollouts) of task i. `clusters[i]` labels the
    cluster of task i (the task itself if several seeds are pooled). Whole clusters are resampled, since clusters are
    independent and their members are not (Field & Welsh, JRSS-B 69, 2007).

    A percentile bootstrap over 10,000 resamples, with two corrections for small samples:
    - Percentile rather than BCa: for a mean of bounded differences both are equally good, and BCa's acceleration does
      not exist if all differences are equal. The percentiles are moved outwards so that the interval is as wide as
      Student's (Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015: the
      "expanded" percentile interval).
    - One imagined gained task and one imagined lost task are added to the resampled sample, but not to the mean (as
      Bonett & Price do for paired proportions, J. of Educational and Behavioral Statistics 37, 2012). Without them a
      model that changed nothing on any task would get an interval of width 0.

    Raises `ValueError` if the lengths differ or are 0.
    """
    if len(before) != len(after) or (clusters is not None and len(clusters) != len(before)):
        raise ValueError(f"before, after and clusters must be of one length, got {len(before)} and {len(after)}")
    if len(before) == 0:
        raise ValueError("no pairs: a difference needs at least one task")
    change = np.asarray(after, float) - np.asarray(before, float)
    mean = float(change.mean())
    order = {label: index for index, label in enumerate(dict.fromkeys(clusters or range(len(change))))}
    keys = [order[label] for label in clusters or range(len(change))]
    size = len(change) / len(order)
    sizes_C = np.append(np.bincount(keys), [size, size])
    sums_C = np.append(np.bincount(keys, weights=change), [size, -size])
    n = len(sizes_C)
    # Equal clusters are drawn together: few distinct changes (-1, 0, 1) make ten thousand resamples cheap.
    kinds_K2, counts_K = np.unique(np.stack([sums_C, sizes_C], axis=1), axis=0, return_counts=True)
    times_RK = np.random.default_rng(seed).multinomial(n, counts_K / n, size=_RESAMPLES)
    sums_R, sizes_R = (times_RK @ kinds_K2).T
    means_R = sums_R / sizes_R
    tail = NormalDist().cdf(-sqrt(n / (n - 1)) * student(n - 1))
    low, high = np.quantile(means_R, [tail, 1 - tail])
    return mean, min(mean, float(low)), max(mean, float(high))


def student(degrees: int) -> float:
    """The 97.5 % quantile of Student's t, by the Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5).

    Good to 0.1 % from 5 degrees of freedom on.
    """
    z, v = _Z, degrees
    terms = (
        z,
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return sum(terms)
