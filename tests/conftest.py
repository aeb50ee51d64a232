"""What many tests need: a tiny random policy with a real tokenizer and the nano policy's own chat template."""

import gc
import os
from collections.abc import Callable, Generator
from copy import deepcopy
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from jaxtyping import install_import_hook

# Tensor shapes are checked in these modules' functions; the hook works only on modules imported after it. It leaves out
# `flex_attention`, whose mask function torch.compile traces on a GPU, and `models.attention`, which is called so often
# that tests take a quarter longer: `test_shapes` checks it by itself.
SHAPED = ("training.loss", "training.forward", "training.trie_attention", "training.lm_head")
install_import_hook([f"mcprl.{module}" for module in SHAPED], "beartype.beartype")

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # importing litellm must not fetch a price list
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):  # the cores are shared out: more threads than cores crawl
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(workers))))


def pytest_collection_finish() -> None:
    """Leave what imports made out of every later collection: the embedded engine collects twice an update, which costs
    0.4 s of CPU each for the 650,000 objects of torch and transformers (2026-11-23)."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _answers_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the user of this machine allowed earlier decides no test."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True, scope="session")
def _servers_begin_at_once() -> Generator[None]:
    """Also those of programs that are forked (`support.forked`)."""
    from support.launched import PLACE, launch_servers, launcher

    with launcher() as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(place))
        launch_servers(place)
        yield


@pytest.fixture
def servers_start_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of how a process is started, and of children."""
    from support.launched import PLACE, start

    from mcprl.servers import process

    monkeypatch.setattr(process, "_open", start)
    monkeypatch.delenv(PLACE)


@pytest.fixture(autouse=True)
def _secrets_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test makes known to be secret is hidden in no other's texts."""
    from mcprl import secrets

    monkeypatch.setattr(secrets, "_KNOWN", deepcopy(secrets._KNOWN))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random two-layer Qwen3, 32 wide, a byte-level BPE tokenizer and the nano policy's template."""
    from support.models import byte_level_tokenizer, save_random_model

    from mcprl.models.places import NANO

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = byte_level_tokenizer()
    save_random_model(
        folder,
        tokenizer,
        seed=7,
        intermediate_size=64,
        max_position_embeddings=2048,
        initializer_range=0.3,  # far enough from uniform for argmax and samples to mean something
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
    )
    copy(NANO / "chat_template.jinja", folder)
    return folder


@pytest.fixture(scope="session")
def unbroken(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """A seeded run on the shop that nobody stopped (`support.killable.Unbroken`)."""
    from support.killable import Run, Unbroken, left, seeded
    from support.loopback import shop_over_http

    with shop_over_http() as url:
        run = Run(seeded(tiny_model, tmp_path_factory.mktemp("unbroken"), url))
        ended = run.end()
        assert (ended.code, ended.error) == (0, "")
        yield Unbroken(url, tiny_model, run.folder, left(run.folder), ended.operations)


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Call it with what was done and numbers: a line of the table at the end of `make torture`."""
    return lambda what, **numbers: record_property(
        "count", f"{what}: " + ", ".join(f"{name} {number}" for name, number in numbers.items())
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [each for outcome in ("passed", "failed") for each in terminalreporter.stats.get(outcome, ())]
    lines = sorted(line for report in reports for name, line in report.user_properties if name == "count")
    if lines and terminalreporter.config.option.markexpr == "torture":
        terminalreporter.section("counts")
        terminalreporter.write("\n".join([*lines, ""]))
