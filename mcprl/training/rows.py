"""Training rows made of the engine's own ids, and the certificate that they are exact."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mcprl.text import common_prefix
from mcprl.types import Completion, Row, Trajectory


def training_rows(trajectory: Trajectory) -> list[Row]:
    """The training rows of a trajectory. A turn extends the last row if its prompt begins with that row, else it starts
    a new one."""
    rows: list[Row] = []
    for turn in trajectory.turns:
        row = rows.pop() if rows and _extends(turn.prompt_ids, rows[-1].ids) else Row(trajectory.id, (), (), ())
        new = turn.prompt_ids[len(row.ids) :]
        ids = (*row.ids, *new, *turn.completion_ids)
        mask = (*row.mask, *(False,) * len(new), *(True,) * len(turn.completion_ids))
        rows.append(Row(trajectory.id, ids, mask, (*row.logprobs, *(0.0,) * len(new), *turn.logprobs)))
    return rows


def trained_logprobs(row: Row) -> list[float]:
    """The sampler's log-probabilities of a row's trained tokens (T_trained)."""
    return [logprob for logprob, trained in zip(row.logprobs, row.mask, strict=True) if trained]


@dataclass(frozen=True)
class Certificate:
    """How many tokens are trained, and how many of them in exactly the context in which the engine sampled them.
    `exactness` must be 1.0."""

    trained: int
    exact: int

    @property
    def mismatches(self) -> int:
        return self.trained - self.exact

    @property
    def exactness(self) -> float:
        """The fraction of trained tokens whose context, id and log-probability are the engine's own."""
        return self.exact / self.trained if self.trained else 1.0


def certificate(rows: Iterable[Row], trajectories: Iterable[Trajectory]) -> Certificate:
    """Check rows against the turns of their trajectories. A token that is trained twice is a mismatch."""
    turns = {trajectory.id: trajectory.turns for trajectory in trajectories}
    trained = exact = 0
    by_trajectory = sorted(rows, key=lambda row: row.trajectory_id)
    for trajectory_id, its_rows in groupby(by_trajectory, lambda row: row.trajectory_id):
        unclaimed = list(turns.get(trajectory_id, ()))
        for row in its_rows:
            exact_T: set[int] = set()
            for turn in [turn for turn in unclaimed if _trains(row, turn)]:
                new = set(_exact(row, turn)) - exact_T
                if new:
                    unclaimed.remove(turn)
                    exact_T |= new
            trained += sum(row.mask)
            exact += len(exact_T)
    return Certificate(trained, exact)


def _trains(row: Row, turn: Completion) -> bool:
    """Whether the row trains any token at the places of the turn's completion."""
    start = len(turn.prompt_ids)
    return any(row.mask[start : start + len(turn.completion_ids)])


def _exact(row: Row, turn: Completion) -> Iterator[int]:
    """The places at which the row trains the turn's sampled tokens in the context that the engine was given."""
    start = len(turn.prompt_ids)
    ids = (*turn.prompt_ids, *turn.completion_ids)
    end = len(ids) if _extends(row.ids, ids) else common_prefix(row.ids, ids)
    return (at for at in range(start, end) if row.mask[at] and row.logprobs[at] == turn.logprobs[at - start])


def _extends(ids: tuple[int, ...], prefix: tuple[int, ...]) -> bool:
    return ids[: len(prefix)] == prefix
