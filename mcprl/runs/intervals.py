"""Two-sided 95 % intervals for the proof: of a success rate, and of a gain, on held-out tasks that form clusters.

Tasks of one form, one plan or one entity succeed together, so they are not independent: the interval is made of whole
clusters. A set of tasks may be clustered in several ways; `widest_rate` and `widest_difference` take the widest.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_Z = NormalDist().inv_cdf(0.975)
_RESAMPLES = 10_000
_STUDENT = (12.7062, 4.3027, 3.1824, 2.7764)
"""Student's 97.5 % quantiles for 1 to 4 degrees of freedom, of any table."""

Series = Sequence[float] | NDArray[np.float64]
Clustering = Sequence[Hashable]
"""The label of each task's cluster, in the order of the tasks."""


# --- a success rate ---------------------------------------------------------------------------------------------------


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Wilson's score interval (JASA 22, 1927) for a success rate: never outside 0..1, never of width 0, good from n = 5
    on.

    `n` counts independent tasks; it may be a fraction, as the effective size of a clustered sample is. With several
    rollouts of each task, `successes` is the sum of the tasks' success rates: rollouts of one task are alike, so this
    is a little too wide rather than too narrow. Without tasks: (0, 1).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n, got {successes} of {n}")
    if n == 0:
        return 0.0, 1.0
    rate, z2 = successes / n, _Z * _Z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def clustered_rate(success: Series, clusters: Clustering) -> tuple[float, float]:
    """Wilson's interval at the effective number of tasks, for tasks that form clusters.

    `success[i]` is task i's success (0..1), `clusters[i]` labels its cluster. The effective number is

        n / max(1, deff) * (z / t)^2,    deff = C / (C - 1) * sum_c (s_c - p m_c)^2 / (n p (1 - p))

    for C clusters of m_c tasks with s_c successes, p = sum s_c / n, and t Student's quantile for C - 1 degrees of
    freedom (Korn & Graubard, Survey Methodology 24, 1998; Dean & Pagano, J. of Survey Statistics and Methodology 3,
    2015, find Wilson's interval good at that number). If all tasks succeeded or all failed, nothing shows how much the
    clusters differ, and C is the effective number. A single cluster says nothing about others: (0, 1).
    """
    values = np.asarray(success, float)
    sums_C, sizes_C = _by_cluster(values, clusters)
    n, count = len(values), len(sums_C)
    if count < 2:
        return 0.0, 1.0
    rate = min(1.0, float(values.mean()))
    if rate in (0.0, 1.0):
        return wilson(rate * count, count)
    spread = count / (count - 1) * float(((sums_C - rate * sizes_C) ** 2).sum())
    deff = max(1.0, spread / (n * rate * (1 - rate)))
    effective = n / deff * (_Z / student(count - 1)) ** 2
    return wilson(rate * effective, effective)


def widest_rate(success: Series, clusterings: Mapping[str, Clustering]) -> tuple[float, float, str]:
    """The widest interval of a success rate: (low, high, the name of its clustering).

    The clustering named "task" takes every task as independent of the others.
    """
    low, high = wilson(float(np.sum(success)), len(success))
    name = "task"
    for clustering, clusters in clusterings.items():
        if clustering == "task" and len(set(clusters)) == len(clusters):
            continue
        wide = clustered_rate(success, clusters)
        if wide[1] - wide[0] > high - low:
            (low, high), name = wide, clustering
    return low, high, name


# --- a gain -----------------------------------------------------------------------------------------------------------


def paired_difference(
    before: Series, after: Series, clusters: Clustering | None = None, seed: int = 0, resamples: int = _RESAMPLES
) -> tuple[float, float, float]:
    """The mean of `after - before` over the same tasks, with its interval: (mean, low, high).

    `before[i]` and `after[i]` are the success (0..1, averaged over rollouts) of task i. `clusters[i]` labels the
    cluster of task i (the task itself if several seeds are pooled). Whole clusters are resampled, since clusters are
    independent and their members are not (Field & Welsh, JRSS-B 69, 2007). A single cluster says nothing about others:
    its interval is (-1, 1).

    A percentile bootstrap, with three corrections for small samples:
    - Percentile rather than BCa: for a mean of bounded differences both are equally good, and BCa's acceleration does
      not exist if all differences are equal. The percentiles are moved outwards so that the interval is as wide as
      Student's (Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015: the
      "expanded" percentile interval).
    - One imagined gained cluster and one imagined lost cluster are added to the resampled sample, but not to the mean
      (as Bonett & Price do for paired proportions, J. of Educational and Behavioral Statistics 37, 2012). Without them
      a model that changed nothing on any task would get an interval of width 0. Their size is the square root of the
      mean cluster's: between one task, right if clusters do not matter, and a cluster, right if its tasks are one.
    - Resampled means of few clusters cannot leave the range of their means. So the interval reaches at least as far as
      Student's with the cluster-robust standard error and one degree of freedom less than there are clusters.

    Simulated with 3 to 24 clusters of 4 to 12 tasks, whose means were alike or far apart, such intervals held the true
    gain in 95 to 100 % of the cases.

    Raises `ValueError` if the lengths differ or are 0.
    """
    change = _change(before, after, clusters)
    mean = float(change.mean())
    sums_C, sizes_C = _with_imagined(change, clusters)
    n = len(sizes_C)
    if n < 4:
        return mean, -1.0, 1.0
    # Equal clusters are drawn together: few distinct changes (-1, 0, 1) make ten thousand resamples cheap.
    kinds_K2, counts_K = np.unique(np.stack([sums_C, sizes_C], axis=1), axis=0, return_counts=True)
    times_RK = np.random.default_rng(seed).multinomial(n, counts_K / n, size=resamples)
    sums_R, sizes_R = (times_RK @ kinds_K2).T
    tail = NormalDist().cdf(-sqrt(n / (n - 1)) * student(n - 1))
    low, high = np.quantile(sums_R / sizes_R, [tail, 1 - tail])
    half = _half_width(sums_C, sizes_C)
    return mean, max(-1.0, min(mean - half, float(low))), min(1.0, max(mean + half, float(high)))


def widest_difference(
    before: Series,
    after: Series,
    clusterings: Mapping[str, Clustering],
    seed: int = 0,
    resamples: int = _RESAMPLES,
) -> tuple[float, float, float, str]:
    """`paired_difference` by the clustering that has the widest interval: (mean, low, high, the clustering's name).

    Which one is widest is decided by Student's interval, so that only one is resampled.
    """
    change = _change(before, after, None)
    widths = {name: _half_width(*_with_imagined(change, clusters)) for name, clusters in clusterings.items()}
    name = max(widths, key=lambda name: widths[name])
    return *paired_difference(before, after, clusterings[name], seed, resamples), name


def _change(before: Series, after: Series, clusters: Clustering | None) -> NDArray[np.float64]:
    if len(before) != len(after) or (clusters is not None and len(clusters) != len(before)):
        raise ValueError(f"before, after and clusters must be of one length, got {len(before)} and {len(after)}")
    if len(before) == 0:
        raise ValueError("no pairs: a difference needs at least one task")
    return np.asarray(after, float) - np.asarray(before, float)


def _with_imagined(
    change: NDArray[np.float64], clusters: Clustering | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each cluster's sum and size, with the two imagined clusters at the end."""
    sums_C, sizes_C = _by_cluster(change, clusters)
    size = sqrt(len(change) / len(sizes_C))
    return np.append(sums_C, [size, -size]), np.append(sizes_C, [size, size])


def _half_width(sums_C: NDArray[np.float64], sizes_C: NDArray[np.float64]) -> float:
    """Student's quantile times the cluster-robust standard error of a ratio of sums, of which two are imagined."""
    n, total = len(sizes_C), float(sizes_C.sum())
    if n < 4:
        return 1.0
    residuals_C = sums_C - sums_C.sum() / total * sizes_C
    return student(n - 3) * sqrt(n / (n - 1) * float((residuals_C**2).sum())) / total


def _by_cluster(
    values: NDArray[np.float64], clusters: Clustering | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum of the values and the number of tasks, by cluster in the order of first appearance."""
    labels = range(len(values)) if clusters is None else clusters
    order = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    keys = [order[label] for label in labels]
    sums_C = np.bincount(keys, weights=values).astype(np.float64)
    return sums_C, np.bincount(keys).astype(np.float64)


def student(degrees: int) -> float:
    """The 97.5 % quantile of Student's t: of a table up to 4 degrees of freedom, then by the Cornish-Fisher expansion
    (Abramowitz & Stegun 26.7.5), which is good to 0.1 % from there on.
    """
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z, v = _Z, degrees
    terms = (
        z,
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return sum(terms)
