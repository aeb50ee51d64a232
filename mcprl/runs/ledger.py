"""What became of the trajectories that were sampled for training, and the steps back that a resumed run takes.

Every trajectory of phase "train" has one fate: "trained", or why it was dropped. It is written together with its step.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcprl.events import Emit, Note
from mcprl.runs.journal import Journal
from mcprl.types import Group, Trajectory

TOO_FEW: Final = "too few of its group finished"
"""Why trajectories are dropped that are issued again."""


@dataclass(frozen=True)
class Ledger:
    """Numbers of trajectories: `trained`, `dropped` by reason, and `waiting` for their step to be complete."""

    trained: int
    dropped: dict[str, int]
    waiting: int

    @property
    def issued(self) -> int:
        return self.trained + sum(self.dropped.values()) + self.waiting


def ledger(journal: Journal) -> Ledger:
    """What became of every trajectory that was sampled for training."""
    rows = journal.db.read("select fate, count(*) from trajectory where phase = 'train' group by fate")
    counts: dict[str | None, int] = dict(rows)
    trained, waiting = counts.pop("trained", 0), counts.pop(None, 0)
    dropped = {str(fate): count for fate, count in counts.items()}
    for event in journal.events("discarded"):
        if event.data["phase"] == "train":
            why = event.data["why"]
            dropped[why] = dropped.get(why, 0) + len(event.data["ids"])
    return Ledger(trained, dropped, waiting)


def fates(groups: Iterable[Group], scored: Container[str], trained: Container[str], taken: bool) -> dict[str, str]:
    """The fate of each trajectory of a step by id. `scored` and `trained` hold ids; `taken` says whether the update
    changed the adapter."""

    def fate(trajectory: Trajectory, group: Group) -> str:
        if trajectory.stop == "error":
            return "broken"
        if trajectory.id not in scored:
            return "not judged"
        if trajectory.stop == "deadline":
            return "out of time"
        if trajectory.id not in trained:
            return "left out" if any(each.id in trained for each in group.trajectories) else "no signal"
        return "trained" if taken else "not finite"

    return {trajectory.id: fate(trajectory, group) for group in groups for trajectory in group.trajectories}


def discard(journal: Journal, phase: str, step: int, names: Sequence[str], why: str) -> None:
    """Forget trajectories without scores, so that they are sampled anew. An event keeps their ids and the reason."""
    with journal.db.transaction():
        query = "delete from trajectory where phase = ? and step = ? and id = ?"
        journal.db.write(query, [(phase, step, name) for name in names])
        journal.write_event("discarded", phase=phase, step=step, ids=list(names), why=why)


def issued_again(journal: Journal, step: int) -> set[str]:
    """The trajectories of a training step that were dropped once, for `TOO_FEW`, and are to be sampled anew."""
    events = (event.data for event in journal.events("discarded"))
    told = [data["ids"] for data in events if (data["phase"], data["step"], data["why"]) == ("train", step, TOO_FEW)]
    return {name for names in told for name in names}


def rewind(journal: Journal, step: int) -> None:
    """Make `step` the last complete one. Trajectories and scores of the steps after it stay, to be used again."""
    with journal.db.transaction():
        journal.db.write("delete from step where step > ?", [(step,)])
        journal.db.write("delete from adapter where kind = 'train' and step > ?", [(step,)])
        journal.db.write("update trajectory set fate = null, gaps = null where phase = 'train' and step > ?", [(step,)])
        journal.write_event("rewound", step=step)


def rewind_to_whole(journal: Journal, emit: Emit) -> None:
    """Go back to the last step whose checkpoint is whole: a file of a later one was changed or removed."""
    last = journal.last_step() or 0
    checkpoints = {saved.adapter.step: saved for saved in journal.adapters("train")}
    whole = last
    while whole and not (whole in checkpoints and checkpoints[whole].is_whole):
        whole -= 1
    if whole == last:
        return
    rewind(journal, whole)
    back = f"step {whole}" if whole else "the beginning"
    emit(Note(f"the checkpoint of step {last} is damaged; training goes on from {back}, with the rollouts it has"))


def end_training(journal: Journal) -> None:
    """Record that no step follows: trajectories of steps that were not taken are dropped."""
    journal.db.write("update trajectory set fate = 'not needed' where phase = 'train' and fate is null", [()])
