"""How a judge that reads agrees with the checks of the tasks: over rollouts, and on their order within a group.

Training uses the order: scores count by their distance within a group. So the order decides whether a judge can judge.
A judge whose scores are all too high orders well; its kappa is low, and its verdict on a single rollout worth little.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from mcprl.runs import intervals
from mcprl.runs.journal import Journal
from mcprl.text import counted

BOUND: Final = 0.2
"""The order below which a judge cannot judge: six of ten pairs right. As the kappa of a choice between two, it ends
what Landis & Koch (Biometrics 33, 1977) call slight agreement."""
ENOUGH: Final = 24
"""Groups with a pair to order that a finding needs: the order of a judge that guesses then has a standard deviation of
about 0.1."""


@dataclass(frozen=True)
class GroupAgreement:
    """Counts of one group's rollouts that judge and checks scored. By what they call a success: `both`, the `judge`
    alone, the `checks` alone, `neither`. Of the pairs that the checks tell apart, the judge's scores order so many
    `right` and `wrong`, and give so many `tied` scores. Where all checks agree, there is no such pair.
    """

    scenario: str
    both: int
    judge: int
    checks: int
    neither: int
    right: int
    wrong: int
    tied: int

    @property
    def pairs(self) -> int:
        return self.right + self.wrong + self.tied


@dataclass(frozen=True)
class Agreement:
    """Judge and checks over several groups. `kappa` is of `rollouts`; `order` with its interval is of the `groups` that
    have a pair to order. `None` for what these rollouts cannot show."""

    rollouts: int
    kappa: float | None
    groups: int
    order: float | None
    order_ci95: tuple[float, float] | None


def compare_group(scenario: str, scores: Iterable[tuple[float, bool]], success_from: float) -> GroupAgreement:
    """A group's counts, of each rollout's score by the judge and success by the checks. The judge calls scores from
    `success_from` on a success."""
    scores_G = list(scores)
    verdicts_G = [(value >= success_from, passed) for value, passed in scores_G]
    passed_over_failed = [a - b for a, passed in scores_G if passed for b, other in scores_G if not other]
    return GroupAgreement(
        scenario,
        both=verdicts_G.count((True, True)),
        judge=verdicts_G.count((True, False)),
        checks=verdicts_G.count((False, True)),
        neither=verdicts_G.count((False, False)),
        right=sum(difference > 0 for difference in passed_over_failed),
        wrong=sum(difference < 0 for difference in passed_over_failed),
        tied=passed_over_failed.count(0),
    )


def kappa(groups: Sequence[GroupAgreement]) -> float | None:
    """Cohen's kappa of judge and checks as to success (Educational and Psychological Measurement 20, 1960): 1 always, 0
    as often as by chance. `None` if both call all rollouts alike, where chance agrees, too."""
    both, judge, checks, neither = (sum(getattr(g, name) for g in groups) for name in _VERDICTS)
    n = both + judge + checks + neither
    by_chance = (both + judge) * (both + checks) + (neither + checks) * (neither + judge)  # times n^2
    return None if by_chance == n * n else (n * (both + neither) - by_chance) / (n * n - by_chance)


_VERDICTS: Final = ("both", "judge", "checks", "neither")


def order(groups: Sequence[GroupAgreement]) -> float | None:
    """Somers' d of the judge's scores within groups (American Sociological Review 27, 1962; within strata: Newson,
    Stata Journal 6, 2006): of the pairs that the checks tell apart, the fraction in the right order minus that in the
    wrong one. 1 always right, 0 chance or equal scores, -1 reversed; also Cohen's kappa of the choice between the two.
    """
    pairs = sum(group.pairs for group in groups)
    return sum(group.right - group.wrong for group in groups) / pairs if pairs else None


def agreement(groups: Sequence[GroupAgreement]) -> Agreement:
    """All groups together. The order's interval is by task, whose groups of several steps are alike."""
    signs = [[1.0] * group.right + [-1.0] * group.wrong + [0.0] * group.tied for group in groups]
    tasks = [group.scenario for group in groups for _ in range(group.pairs)]
    interval = intervals.paired_difference([0.0] * len(tasks), [*chain(*signs)], tasks)[1:] if tasks else None
    rollouts = sum(getattr(group, name) for group in groups for name in _VERDICTS)
    return Agreement(rollouts, kappa(groups), sum(group.pairs > 0 for group in groups), order(groups), interval)


def is_unfit(found: Agreement) -> bool:
    """Whether a judge with this agreement cannot judge."""
    return found.order is not None and found.groups >= ENOUGH and found.order < BOUND


def recorded(journal: Journal) -> list[GroupAgreement]:
    """The groups of a run of which judge and checks are known, oldest first."""
    judged = (event.data.get("agreement") for event in journal.events("judged"))
    return [GroupAgreement(**counts) for counts in judged if counts]


def newest(journal: Journal) -> Agreement:
    """Judge and checks over the newest groups: as many as `ENOUGH` have a pair to order, or all there are."""
    groups = recorded(journal)
    ordered = [at for at, group in enumerate(groups) if group.pairs]
    return agreement(groups[ordered[-ENOUGH] :] if len(ordered) >= ENOUGH else groups)


def described(found: Agreement) -> str:
    """The agreement in a phrase."""
    parts: list[str] = []
    if found.order is not None and found.order_ci95:
        low, high = found.order_ci95
        parts.append(
            f"order within a group {found.order:+.2f} ({low:+.2f} to {high:+.2f}; 1 is always right, 0 is chance) over "
            f"{counted(found.groups, 'group')}"
        )
    if found.kappa is not None:
        parts.append(f"Cohen's kappa {found.kappa:+.2f} over {counted(found.rollouts, 'rollout')}")
    return ", ".join(parts) or "nothing to compare: all was alike"
