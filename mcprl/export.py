"""A run's result to take away: the adapter, or the model with it merged in, in a folder that transformers, peft and
vLLM load, with a card that says what was proved; and that folder on a Hugging Face hub.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from mcprl import __version__
from mcprl.chat.families import dialect
from mcprl.config import ModelConfig
from mcprl.engines.embedded.weights import merged_model
from mcprl.errors import ConfigError, JournalError, ModelError
from mcprl.models.load import load_base, read_info
from mcprl.runs import report
from mcprl.runs.journal import Journal
from mcprl.runs.report import Report
from mcprl.types import Adapter

ABOUT = "mcprl.json"
_ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


def export(run: Path, out: Path, merged: bool, command: str) -> Path:
    """Write the adapter that the run's report is about, or with `merged` the whole model, into `out`; `command` is how
    the run was made, for its card. Whole or not at all; an earlier export in `out` is replaced.

    Raises `JournalError` where the run has nothing to give yet, `ConfigError` where `out` holds something else.
    """
    with Journal.open(run) as journal:
        config, adapter = journal.config.model, tested(journal)
    proof = report.read(run)
    if out.exists() and any(out.iterdir()) and not (out / ABOUT).is_file():
        raise ConfigError(f"{out} holds something that is no export; name another folder with --out")
    draft = out.with_name(f".{out.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        tokenizer = read_info(config).tokenizer
        tokenizer.save_pretrained(str(draft))
        parser = dialect(tokenizer).vllm
        if merged:
            _write_merged(config, adapter, draft)
        else:
            _write_adapter(config, adapter, draft)
        about = _about(config, adapter, proof, merged, parser, command)
        (draft / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n")
        (draft / "README.md").write_text(card(config, proof, merged, parser, command))
        shutil.rmtree(out, ignore_errors=True)
        draft.rename(out)
    except OSError as error:
        raise ModelError(f"the export cannot be written to {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return out


def tested(journal: Journal) -> Adapter:
    """The adapter that was tested as the trained model: the best by validation, which may be the warm start's."""
    found = journal.events("best")
    if not found:
        raise JournalError(f"{journal.folder} is not finished; go on with: mcprl train --resume {journal.folder.name}")
    kept = journal.adapters("best" if found[-1].data["step"] else "warm")
    if not kept:
        raise JournalError(f"{journal.folder} brought nothing to export: no step was better than the base model")
    return kept[-1].adapter


def push(folder: Path, repo: str) -> str:
    """Upload an export to `USER/REPO` on the hub (HF_ENDPOINT), made private where it is new; returns its address.

    The token is the one of HF_TOKEN or of `hf auth login`; it goes into the request's header and nowhere else.
    """
    if not get_token():
        raise ConfigError("there is no token to push with; set HF_TOKEN, or log in with: hf auth login")
    api = HfApi()
    try:
        url = api.create_repo(repo, private=True, exist_ok=True)
        api.upload_folder(repo_id=repo, folder_path=folder, commit_message=f"mcprl {__version__} export")
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise ModelError(f"{repo} cannot be pushed to {api.endpoint}: {error}") from error
    return str(url)


def _write_adapter(config: ModelConfig, adapter: Adapter, folder: Path) -> None:
    weights, settings = (Path(adapter.path) / name for name in _ADAPTER)
    shutil.copyfile(weights, folder / weights.name)
    kept = json.loads(settings.read_text()) | {"base_model_name_or_path": _public_name(config)}
    (folder / settings.name).write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")


def _write_merged(config: ModelConfig, adapter: Adapter, folder: Path) -> None:
    """The weights that were sampled from in the test; a quantized base is put down as what its codes stand for."""
    base = load_base(config.model_copy(update={"device": "cpu", "loader": "transformers"})).model
    if config.quantization != "none":
        base = base.dequantize()
    merged_model(base, adapter.path).save_pretrained(str(folder))


def _public_name(config: ModelConfig) -> str:
    """The base model's name without the folders of this machine."""
    return config.name if _on_hub(config) else Path(config.name).name


def _on_hub(config: ModelConfig) -> bool:
    return config.name != "nano" and not Path(config.name).is_dir()


def _about(
    config: ModelConfig, adapter: Adapter, proof: Report, merged: bool, parser: str, command: str
) -> dict[str, Any]:
    """What programs may want to know, for `mcprl.json`."""
    rates = {"base": proof.test.base, "warm": proof.test.warm, "trained": proof.test.trained}
    return {
        "mcprl": __version__,
        "form": "merged" if merged else "adapter",
        "base_model": _public_name(config),
        "tool_parser": parser,
        "server": proof.server,
        "tools": proof.tools,
        "tool_hash": proof.tool_hash,
        "step": adapter.step,
        "seed": proof.seed,
        "command": command,
        "test": {
            "n": proof.test.n,
            **{who: {"success": rate.success, "ci95": rate.ci95} for who, rate in rates.items() if rate},
            "gain": proof.test.gain,
            "gain_ci95": proof.test.gain_ci95,
            "rl_gain": proof.test.rl_gain,
            "rl_gain_ci95": proof.test.rl_gain_ci95,
        },
    }


def card(config: ModelConfig, proof: Report, merged: bool, parser: str, command: str) -> str:
    """The README.md of an export: what it is, what was proved, how to load and to serve it, how it was made."""
    base = _public_name(config)
    head = ["---", f"library_name: {'transformers' if merged else 'peft'}", "pipeline_tag: text-generation"]
    head += [f"base_model: {base}"] if _on_hub(config) else []
    head += ["tags: [mcprl, mcp, tool-use, grpo, lora]", "---"]
    tools = ", ".join(f"`{report.code(name)}`" for name in proof.tools)
    what = "with its LoRA merged in" if merged else "as a LoRA adapter"
    proved = [(f"{proof.test.n} held-out tasks", "success", "95 % interval"), *report.results(proof.test)]
    made = (
        f"server: {report.inline(proof.server)}",
        f"tools: {tools} (hash {proof.tool_hash})",
        f"steps: {proof.steps}; by validation step {proof.best_step or 0} was the best",
    )
    parts = (
        "\n".join(head),
        f"# {base} for {report.inline(proof.server)}",
        f"{base}, {what}, trained with mcprl {__version__} by reinforcement learning (GRPO) on a live MCP server.",
        f"**{report.inline(report.headline(proof))}**",
        report.grid(proved),
        "None of these tasks was trained on; all models were tested on the same ones.",
        "\n".join(f"- {line}" for line in made),
        "## Use\n\n" + report.fenced("\n".join(_usage(base, config, merged, parser)), "sh"),
        "## How it was made\n\n" + report.fenced(command, "sh"),
    )
    return "\n\n".join(parts) + "\n"


def _usage(base: str, config: ModelConfig, merged: bool, parser: str) -> list[str]:
    serve = f"--enable-auto-tool-choice --tool-call-parser {parser}"
    if merged:
        return [f"vllm serve . {serve}", "# or: transformers.AutoModelForCausalLM.from_pretrained('.')"]
    load = f"# or: load.PeftModel.from_pretrained(base, '.'), where base is {base} loaded in {config.dtype}"
    if config.name == "nano":
        return [
            "# nano ships with mcprl, its folder is mcprl.models.load.NANO; --merged exports a model of its own",
            load,
        ]
    if config.dora:
        return ["# vLLM serves no DoRA adapters: export it with --merged", load]
    lora = f"--enable-lora --max-lora-rank {config.lora_rank} --lora-modules tuned=."
    return [f"vllm serve {base} {lora} {serve} --chat-template chat_template.jinja", load]
