"""`mcprl auto`: a task without a server, its inputs written and its answers judged by a language model on loopback."""

import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.fake_llm import Reply, Request, scored, serving, tries

from mcprl.cli.commands import cli
from mcprl.config import ScenarioConfig
from mcprl.errors import ScenarioError
from mcprl.judges.pairwise import prefer
from mcprl.llm import LanguageModel
from mcprl.llm.litellm import ChatModel
from mcprl.runs import report
from mcprl.runs.journal import Journal
from mcprl.scenarios.packs.pack import load_pack
from mcprl.scenarios.writers.inputs import write_inputs

pytestmark = pytest.mark.anyio
TASK = "Answer in one letter"
KINDS = [f"kind {n}" for n in range(4)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Api:
    """A model that writes inputs, each of `repeats` texts, and prefers short answers."""

    def __init__(self, repeats: int = 0) -> None:
        self.repeats, self.written, self.compared, self.lock = repeats, 0, 0, threading.Lock()

    def __call__(self, request: Request, _: int) -> Reply:
        rules, asked = (str(message["content"]) for message in [*request["messages"], {"content": ""}][:2])
        if '"kinds"' in rules:
            return Reply(json.dumps({"kinds": KINDS}))
        if '"inputs"' in rules:
            with self.lock:
                numbers = range(self.written, self.written + 6)
                self.written += 6
            return Reply(
                json.dumps({"inputs": [f"question {n % self.repeats if self.repeats else n}?" for n in numbers]})
            )
        if '"better"' in rules:
            self.compared += 1
            answers = json.loads(asked)["answers"]
            lengths = len(answers["1"]), len(answers["2"])
            better = "same" if lengths[0] == lengths[1] else "1" if lengths[0] < lengths[1] else "2"
            return Reply(json.dumps({"reason": "shorter", "better": better}))
        texts = {name: "".join(str(m["content"]) for m in messages) for name, messages in tries(request).items()}
        return Reply(scored({name: 1 / (1 + len(text)) for name, text in texts.items()}))


def model(url: str) -> LanguageModel:
    return ChatModel("openai/fake", base_url=url, cache=None)


async def test_inputs_are_all_different_of_every_kind_and_dealt_over_the_splits() -> None:
    with serving(Api()) as fake:
        pack = await write_inputs(model(fake.url), ScenarioConfig(train=40, val=8, test=16), TASK, 0)
    assert [len(split) for split in (pack.train, pack.val, pack.test)] == [40, 8, 16]
    assert len({scenario.request for scenario in pack}) == 64
    for split in (pack.train, pack.test):
        assert {scenario.values[0] for scenario in split} == {*KINDS}
        assert {scenario.kind for scenario in split} == {"easy", "medium", "hard"}


async def test_a_writer_that_repeats_itself_ends_with_what_it_has() -> None:
    with serving(Api(repeats=10)) as fake:
        pack = await write_inputs(model(fake.url), ScenarioConfig(train=40, val=8, test=16), TASK, 0)
    assert 3 <= len(pack) <= 10
    assert all([pack.train, pack.val, pack.test])


async def test_a_writer_without_inputs_is_told() -> None:
    def answer(request: Request, _: int) -> Reply:
        return Reply('{"kinds": ["one"]}' if '"kinds"' in str(request["messages"][0]) else "I cannot.")

    with serving(answer) as fake, pytest.raises(ScenarioError, match="wrote no input that can be read"):
        await write_inputs(model(fake.url), ScenarioConfig(train=4, val=1, test=1), TASK, 0)


async def test_a_writer_without_kinds_is_told() -> None:
    refusing = serving(lambda request, _: Reply("I cannot help with that."))
    with refusing as fake, pytest.raises(ScenarioError, match="named no kind of input"):
        await write_inputs(model(fake.url), ScenarioConfig(), TASK, 0)


async def test_a_preference_holds_in_both_orders() -> None:
    api = Api()
    with serving(api) as fake:
        judge = model(fake.url)
        assert await prefer(judge, TASK, "why?", "because of that", "so") == 1
        assert await prefer(judge, TASK, "why?", "so", "because of that") == -1
        assert await prefer(judge, TASK, "why?", "as", "so") == 0
        asked = api.compared
        assert await prefer(judge, TASK, "why?", "so", "so") == 0
        assert api.compared == asked
    with serving(lambda request, _: Reply('{"reason": "", "better": "1"}')) as fake:  # always the first that it reads
        assert await prefer(model(fake.url), TASK, "why?", "because of that", "so") == 0


def test_a_task_is_trained_on_without_a_server_and_compared_blind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    api = Api()
    with serving(api) as fake:
        words = ["auto", TASK, "--name", "letters", "--runs-dir", str(tmp_path), "--judge-model", "openai/fake"]
        words += ["--judge-base-url", fake.url, "--train-tasks", "12", "--val-tasks", "4", "--test-tasks", "8"]
        words += ["--steps", "2", "--scenarios-per-step", "2", "--group-size", "4", "--max-tokens", "16"]
        words += ["--learning-rate", "0.01", "--patience", "9", "--set", "training.eval_every=2"]
        words += ["--set", "judge.cache="]
        words += ["--set", "scenarios.writer_cache="]
        told = CliRunner().invoke(cli, words)
        assert told.exit_code == 0, told.output
        asked = len(fake.requests)
        again = CliRunner().invoke(cli, ["train", "--resume", "letters", "--runs-dir", str(tmp_path)])
        assert again.exit_code == 0, again.output
        assert len(fake.requests) == asked  # all that it wrote, scored and preferred is kept
    page = (tmp_path / "letters" / "report.md").read_text()
    assert "in this folder, without a server." in page
    assert f"task: {TASK}" in CliRunner().invoke(cli, ["runs", "show", "letters", "--runs-dir", str(tmp_path)]).output
    folder = tmp_path / "letters"
    pack = load_pack(folder / "scenarios")
    assert [len(split) for split in (pack.train, pack.val, pack.test)] == [12, 4, 8]
    with Journal.open(folder) as journal:
        assert len(journal.steps()) == 2
        messages = journal.trajectories("test:base", 0)[0].messages
        tested = {event.data["step"] for event in journal.events("best")}
    assert messages[0] == {"role": "system", "content": TASK}
    proof = report.read(folder)
    assert proof.lead == "inputs"
    if tested == {0}:
        assert proof.preferred is None
    else:
        assert proof.preferred
        assert proof.preferred.n == 8
        assert "blind and in both orders" in report.summary(proof)
