"""What is served: a run, an export or a model, found by name."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mcprl.config import Config, EngineConfig, ModelConfig
from mcprl.engines.machine import resolve
from mcprl.errors import ConfigError, ModelError
from mcprl.files import write_whole
from mcprl.runs.cards import PROMPTED, with_card
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.proof import chosen_adapter
from mcprl.types import Adapter

_ABOUT = "mcprl.json"
"""The file in every export that says what it is."""
SOURCE = "origin.json"
"""The file beside trained adapters that says of what they were trained: a folder from there, or a model's name."""


@dataclass(frozen=True)
class Origin:
    """A policy to serve: its settings, the folder of its run or export, the adapters kept of it, and the one to begin
    with, `None` for the base model."""

    name: str
    config: Config
    folder: Path | None = None
    kept: list[Adapter] = field(default_factory=list[Adapter])
    latest: Adapter | None = None


def find_origin(target: str, runs_dir: str, engine: EngineConfig) -> Origin:
    """The run of that name or folder, the export in that folder, or the model of that name.

    Raises `JournalError` for a run that has no tested adapter, `ModelError` if it is none of the three.
    """
    for folder in (Path(runs_dir) / target, Path(target)):
        if (folder / FILE).is_file():
            return _run(folder, engine)
        if (folder / _ABOUT).is_file():
            return _export(folder, engine)
    try:
        config = resolve(Config(model=ModelConfig(name=target), engine=engine))
    except ModelError as error:
        raise ModelError(f"{target!r} is no run in {runs_dir} and no export; {error}") from error
    return Origin(Path(target).name, config)


def as_trained(origin: Origin, folder: Path) -> Config:
    """The origin's configuration. If it is a model that was trained here, whose adapters `folder` holds, it has the
    prompts of the newest. Raises as `with_card` does."""
    steps = kept_steps(folder)
    if origin.folder or not steps:
        return origin.config
    bare = Config(model=ModelConfig(name=origin.config.model.name))
    made = with_card(bare, folder / f"step-{steps[-1]}")
    prompts = {name: getattr(made.model, name) for name in PROMPTED}
    return origin.config.model_copy(update={"model": origin.config.model.model_copy(update=prompts)})


def kept_steps(folder: Path) -> list[int]:
    """The steps of the adapters in a folder, without step 0, which is what training began from."""
    return sorted({int(path.name.partition("-")[2]) for path in folder.glob("step-*")} - {0})


@contextmanager
def claimed(folder: Path, origin: Origin) -> Generator[None]:
    """The folder of what is trained of an origin, for this process alone.

    Raises `ConfigError` if another process has it, or if what it holds was trained of another origin.
    """
    source = os.path.relpath(origin.folder, folder) if origin.folder else origin.config.model.name
    about, lock = folder / SOURCE, FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ConfigError(f"{folder} is being served; end that, or give this another name with --name") from None
    try:
        if not about.exists():
            write_whole(about, json.dumps(source).encode())
        elif (there := json.loads(about.read_bytes())) != source:
            raise ConfigError(
                f"{folder} holds what was trained of {there}, not of {source}; give this another name with --name"
            )
        yield
    finally:
        lock.release()


def _run(folder: Path, engine: EngineConfig) -> Origin:
    with Journal.open(folder) as journal:
        latest = chosen_adapter(journal)
        saved = [each.adapter for each in journal.adapters() if Path(each.adapter.path).is_dir()]
        config = journal.config.model_copy(update={"engine": engine})
    return Origin(folder.resolve().name, config, folder, saved, latest)


def _export(folder: Path, engine: EngineConfig) -> Origin:
    try:
        about: dict[str, Any] = json.loads((folder / _ABOUT).read_text())
        name = folder.resolve().name
        if about["form"] == "merged":
            form = about.get("model", {}).get("call_form", "template")
            model = ModelConfig(name=str(folder), call_form=form, system_prompt="", after_result="")  # in its template
            return Origin(name, resolve(Config(model=model, engine=engine)), folder)
        lora: dict[str, Any] = json.loads((folder / "adapter_config.json").read_text())
        made = {"rslora": lora.get("use_rslora", False), "dora": lora.get("use_dora", False)}
        made |= {"call_form": "template", "system_prompt": "", "after_result": ""} | about.get("model", {})
        model = ModelConfig(name=about["base_model"], lora_rank=lora["r"], lora_alpha=lora["lora_alpha"], **made)
        adapter = Adapter(str(folder), about["step"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelError(f"{folder} cannot be read as an export ({error}); make it again with mcprl export") from error
    return Origin(name, resolve(Config(model=model, engine=engine)), folder, latest=adapter)
