"""Rows hold the ids that the engine saw and sampled, and the certificate counts each token that differs."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mcprl.training.rows import certificate, training_rows
from mcprl.types import Completion, Trajectory

ids_st = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """Turns of which some extend the last context and others begin anew, as with a template that rewrites history."""
    turns: list[Completion] = []
    for _ in range(draw(st.integers(1, 5))):
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns and draw(st.booleans()) else ()
        ids = draw(ids_st)
        logprobs = tuple(-float(draw(st.integers(0, 9))) for _ in ids)
        turns.append(Completion({}, (*context, *draw(ids_st)), ids, logprobs, "stop"))
    return Trajectory(draw(st.sampled_from("ab")), "s", (), tuple(turns))


@given(trajectories())
def test_every_sampled_token_is_trained_once_in_the_context_the_engine_saw(trajectory: Trajectory) -> None:
    rows = training_rows(trajectory)
    assert all(len(row.ids) == len(row.mask) == len(row.logprobs) for row in rows)
    proof = certificate(rows, [trajectory])
    sampled = [token for turn in trajectory.turns for token in turn.completion_ids]
    assert (proof.trained, proof.exact, proof.exactness) == (len(sampled), len(sampled), 1.0)
    assert [token for row in rows for token, trained in zip(row.ids, row.mask, strict=True) if trained] == sampled


@given(trajectories(), st.data())
def test_the_certificate_sees_every_wrong_id_mask_or_logprob(trajectory: Trajectory, data: st.DataObject) -> None:
    rows = training_rows(trajectory)
    n = data.draw(st.integers(0, len(rows) - 1))
    row = rows[n]
    last = max(at for at, trained in enumerate(row.mask) if trained)
    at = data.draw(st.integers(0, last))
    ids = (*row.ids[:at], row.ids[at] + 10, *row.ids[at + 1 :])
    wrong = data.draw(st.sampled_from(["ids", "mask", "logprobs"]))
    if wrong == "ids":
        rows[n] = replace(row, ids=ids)
    elif wrong == "logprobs":
        rows[n] = replace(row, logprobs=(*row.logprobs[:last], row.logprobs[last] - 1.0, *row.logprobs[last + 1 :]))
    else:
        rows[n] = replace(row, mask=(True,) * len(row.mask))  # trains on the prompt, too
    proof = certificate(rows, [trajectory])
    assert proof.mismatches > 0
    assert proof.exactness < 1.0


def test_rows_of_an_unknown_trajectory_are_all_mismatches() -> None:
    turn = Completion({}, (1, 2), (3, 4), (-1.0, -1.0), "stop")
    rows = training_rows(Trajectory("a", "s", (), (turn,)))
    assert certificate(rows, []).exactness == 0.0
    assert certificate([*rows, *rows], [Trajectory("a", "s", (), (turn,))]).mismatches == 2
    assert certificate([], []).exactness == 1.0
