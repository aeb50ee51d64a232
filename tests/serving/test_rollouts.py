"""What a server remembers of the turns that it sampled."""

import pytest

from mcprl.serving import rollouts
from mcprl.serving.rollouts import Rollouts, SampledTurn
from mcprl.types import Completion


def turn(number: int, tokens: int = 10) -> SampledTurn:
    message = {"role": "assistant", "content": f"Answer {number}"}
    said = Completion(message, (1,) * (tokens - 2), (2, 3), (-1.0,) * 2, "stop")
    return SampledTurn(({"role": "user", "content": f"Question {number}"},), said, 1.0, 1.0)


@pytest.mark.parametrize(("limit", "value"), [("REMEMBERED", 4), ("REMEMBERED_TOKENS", 45)])
def test_the_oldest_rollouts_and_conversations_are_forgotten_at_a_number_and_at_a_number_of_tokens(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(rollouts, limit, value)
    kept = Rollouts()
    for number in range(12):
        kept.record(f"game {number}", turn(number), ())
    assert [bool(kept.turns(f"game {number}")) for number in range(12)] == [False] * 8 + [True] * 4
    conversations = [(*turn(number).messages, turn(number).completion.message) for number in range(12)]
    found = [kept.find(each, (), f"game {number}") is not None for number, each in enumerate(conversations)]
    assert found == [False] * 10 + [True] * 2  # each conversation is there for its rollout, and for any


def test_one_rollout_is_kept_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "REMEMBERED_TOKENS", 45)
    kept = Rollouts()
    for number in range(12):
        kept.record("game", turn(number), ())
    assert len(kept.turns("game")) == 12
