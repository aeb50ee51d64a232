"""SkyRL's Tinker server in an environment of its own (`mcprl setup skyrl`), as it starts on a CPU.

Run as a program it is that server, without uv and on Python 3.11:

    ENVIRONMENT/bin/python -P mcprl/models/tinker/skyrl_server.py api --base-model FOLDER --port 8077 ...

SkyRL 0.3 starts its engine with `uv run`, and uses `typing.TypedDict` where pydantic needs `typing_extensions`' below
Python 3.12. On a GPU its own commands start it (docs/cluster.md).
"""

import json
import os
import sys
import typing
from pathlib import Path

VERSION = "0.3.0"
STEPS = (("install", "torch==2.13.0"), ("install", f"skyrl[tinker,jax]=={VERSION}"))
NEEDS_GB = 5.0
SLOTS = 4
"""LoRAs that the server holds: the base's own, the one in training, one beside it, and one that is thrown away."""


def default_folder() -> Path:
    """The environment's folder: `$MCPRL_SKYRL`, else a folder of the user's cache named after the version."""
    from mcprl.files import cache_folder  # not where this file is SkyRL's server

    if folder := os.environ.get("MCPRL_SKYRL"):
        return Path(folder).expanduser()
    return cache_folder() / f"skyrl-{VERSION}"


def install(folder: Path, emit: typing.Any = None) -> None:
    """Make the environment in `folder`; does nothing if it is complete. Raises `EngineError`."""
    from mcprl.events import ignore
    from mcprl.models import installing

    recipe = installing.Recipe("SkyRL", "skyrl.tinker.config", STEPS, {"version": VERSION}, NEEDS_GB)
    installing.install(folder, recipe, emit or ignore)


def in_float32(model: str | Path, folder: Path) -> Path:
    """A folder with a model's files whose configuration says float32: on a CPU bfloat16 is neither fast nor exact."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in Path(model).iterdir():
        if file.is_file() and not (folder / file.name).exists():
            (folder / file.name).symlink_to(file.absolute())
    stated = json.loads((Path(model) / "config.json").read_text())
    stated.pop("torch_dtype", None)
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(json.dumps(stated | {"dtype": "float32"}, indent=2))
    return folder


def command(python: Path, model: str | Path, port: int, folder: Path, rank: int = 16) -> list[str]:
    """The command that serves a model's folder on loopback, with its checkpoints in `folder`."""
    config = f'{{"max_lora_adapters": {SLOTS}, "max_lora_rank": {rank}, "train_micro_batch_size": 8, '
    config += '"sample_max_num_sequences": 16}'
    return [
        *(str(python), "-P", __file__, "api", "--base-model", str(model), "--port", str(port)),
        *("--checkpoints-base", str(folder), "--database-url", f"sqlite:///{folder / 'tinker.db'}"),
        *("--backend-config", config),
    ]


def _serve() -> None:
    import argparse

    import typing_extensions

    typing.TypedDict = typing_extensions.TypedDict  # pyright: ignore[reportAttributeAccessIssue]
    if sys.argv.pop(1) == "engine":
        from skyrl.tinker import engine  # pyright: ignore[reportMissingImports]

        engine.main()
        return
    import uvicorn
    from skyrl.tinker import api  # pyright: ignore[reportMissingImports]
    from skyrl.tinker.config import EngineConfig, add_model, config_to_argv  # pyright: ignore[reportMissingImports]

    def engine_command(parent: typing.Any, config: typing.Any) -> list[str]:
        return [sys.executable, "-P", __file__, "engine", *config_to_argv(config)]

    api._build_uv_run_cmd_engine = engine_command
    parser = argparse.ArgumentParser()
    add_model(parser, EngineConfig)
    parser.add_argument("--port", type=int, default=8077)
    given = vars(parser.parse_args())
    named = {name: value for name, value in given.items() if name in EngineConfig.model_fields}
    api.app.state.engine_config = config = EngineConfig.model_validate(named)
    Path(str(config.checkpoints_base)).mkdir(parents=True, exist_ok=True)  # its database stands there, too
    uvicorn.run(api.app, host="127.0.0.1", port=given["port"])


if __name__ == "__main__":
    _serve()
