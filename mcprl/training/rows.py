"""Training rows made of the engine's own ids, and the certificate that they are exact."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mcprl.text import common_prefix
from mcprl.types import Row, Trajectory


def training_rows(trajectory: Trajectory) -> list[Row]:
    """The training rows of a trajectory: a row goes on while the next prompt begins with it, else a new one starts."""
    result: list[Row] = []
    for turn in trajectory.turns:
        row = result.pop() if result and _extends(turn.prompt_ids, result[-1].ids) else Row(trajectory.id, (), (), ())
        new = turn.prompt_ids[len(row.ids) :]
        ids = (*row.ids, *new, *turn.completion_ids)
        mask = (*row.mask, *(False,) * len(new), *(True,) * len(turn.completion_ids))
        result.append(Row(trajectory.id, ids, mask, (*row.logprobs, *(0.0,) * len(new), *turn.logprobs)))
    return result


@dataclass(frozen=True)
class Certificate:
    """How many trained tokens stand in the very context in which the engine sampled them. `exactness` must be 1.0."""

    trained: int
    exact: int

    @property
    def mismatches(self) -> int:
        return self.trained - self.exact

    @property
    def exactness(self) -> float:
        """The share of trained tokens whose context, id and log-probability are the engine's own."""
        return self.exact / self.trained if self.trained else 1.0


def certificate(rows: Iterable[Row], trajectories: Iterable[Trajectory]) -> Certificate:
    """Check rows against the turns they claim to come from. A token that is trained twice is a mismatch."""
    turns = {trajectory.id: trajectory.turns for trajectory in trajectories}
    trained = exact = 0
    for trajectory_id, own in groupby(sorted(rows, key=lambda row: row.trajectory_id), lambda row: row.trajectory_id):
        unclaimed = [
            (len(turn.prompt_ids), (*turn.prompt_ids, *turn.completion_ids), turn.logprobs)
            for turn in turns.get(trajectory_id, ())
        ]
        for row in own:
            exact_T: set[int] = set()
            for claim in [claim for claim in unclaimed if any(row.mask[claim[0] : len(claim[1])])]:
                if new := set(_exact(row, *claim)) - exact_T:
                    unclaimed.remove(claim)
                    exact_T |= new
            trained += sum(row.mask)
            exact += len(exact_T)
    return Certificate(trained, exact)


def _exact(row: Row, start: int, seen: tuple[int, ...], logprobs: tuple[float, ...]) -> Iterator[int]:
    """Where the row trains the sampled tokens of a turn in the context that the engine saw."""
    end = len(seen) if _extends(row.ids, seen) else common_prefix(row.ids, seen)
    return (at for at in range(start, end) if row.mask[at] and row.logprobs[at] == logprobs[at - start])


def _extends(ids: tuple[int, ...], prefix: tuple[int, ...]) -> bool:
    return ids[: len(prefix)] == prefix
