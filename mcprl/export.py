"""Exports a run's result: a folder with the adapter, or with the merged model, that transformers, peft and vLLM load.

The folder has a model card with the test results. It can be pushed to a Hugging Face hub.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from torch import Tensor

from mcprl import __version__
from mcprl.chat.families import dialect
from mcprl.config import ModelConfig
from mcprl.engines.embedded.weights import merged_model
from mcprl.engines.vllm.environment import LORA_RANKS, served_rank
from mcprl.errors import ConfigError, ModelError
from mcprl.files import whole_folder
from mcprl.models import packaged
from mcprl.models.load import load_base, read_info
from mcprl.models.places import locate
from mcprl.runs import report
from mcprl.runs.cards import MADE_WITH, public_name
from mcprl.runs.journal import Journal
from mcprl.runs.proof import chosen_adapter
from mcprl.runs.report import Report
from mcprl.types import Adapter

ABOUT = "mcprl.json"  # in every export, so that a later one may replace it


def export(run: Path, out: Path, merged: bool, command: str) -> Path:
    """Write the run's tested adapter, or with `merged` the whole model, to the folder `out`. Returns `out`.

    `command` is the command line of the run, for the card. The export is complete or not written at all; it replaces an
    earlier export. Raises `JournalError` if the run has nothing to export, `ConfigError` if `out` holds other files,
    `ModelError` if writing fails.
    """
    with Journal.open(run) as journal:
        config = journal.config.model
        adapter = chosen_adapter(journal)
    proof = report.read(run)
    if out.exists() and any(out.iterdir()) and not (out / ABOUT).is_file():
        raise ConfigError(f"{out} is not empty and is not an earlier export; choose another folder with --out")
    try:
        with whole_folder(out) as draft:
            tokenizer = read_info(config).tokenizer
            tokenizer.save_pretrained(str(draft))
            parser = dialect(tokenizer).vllm
            lost = None
            if merged:
                lost = write_merged(config, adapter, draft)
            else:
                _write_adapter(config, adapter, draft)
            about = _about(config, adapter, proof, lost, parser, command)
            (draft / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n")
            (draft / "README.md").write_text(card(config, proof, lost, parser, command))
    except OSError as error:
        raise ModelError(f"the export cannot be written to {out}: {error.strerror or error}") from error
    return out


def push(folder: Path, repo: str) -> str:
    """Upload an export to the repository `USER/REPO` on the hub (HF_ENDPOINT). Returns its address.

    A new repository is private. The token is that of HF_TOKEN or `hf auth login`; it is sent in the request's header
    only. Raises `ConfigError` if there is no token, `ModelError` if the upload fails.
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
    source = Path(adapter.path)
    shutil.copyfile(source / "adapter_model.safetensors", folder / "adapter_model.safetensors")
    settings = json.loads((source / "adapter_config.json").read_text())
    settings["base_model_name_or_path"] = public_name(config.name)
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n")


def write_merged(config: ModelConfig, adapter: Adapter, folder: Path) -> float:
    """Write the tested model in float32, a quantized base dequantized. Returns the share of the update that rounding it
    to bfloat16 would lose."""
    base = load_base(config.model_copy(update={"device": "cpu", "loader": "transformers"})).model
    if config.quantization != "none":
        base = base.dequantize()
    merged = merged_model(base.float(), adapter.path)
    merged.save_pretrained(str(folder))
    return _lost_by_rounding(dict(base.named_parameters()), dict(merged.named_parameters()))


def _lost_by_rounding(base: dict[str, Tensor], merged: dict[str, Tensor]) -> float:
    """The norm of what is lost if both sets of weights are rounded to bfloat16, over the norm of the update."""
    lost = update = 0.0
    for name, weight in base.items():
        if merged[name] is not weight:
            change = merged[name] - weight.detach()
            rounded = merged[name].bfloat16().float() - weight.detach().bfloat16().float()
            update += float(change.norm() ** 2)
            lost += float((rounded - change).norm() ** 2)
    return min(1.0, (lost / update) ** 0.5) if update else 0.0


def _on_hub(config: ModelConfig) -> bool:
    return locate(config.name) == config.name and not Path(config.name).is_dir()


def _about(
    config: ModelConfig, adapter: Adapter, proof: Report, lost: float | None, parser: str, command: str
) -> dict[str, Any]:
    """The content of `mcprl.json`: the export's origin and its test results, for programs."""
    test = proof.test
    rates = {"base": test.base, "start": test.start, "warm": test.warm, "trained": test.trained}
    return {
        "mcprl": __version__,
        "form": "adapter" if lost is None else "merged",
        "lost_in_bfloat16": lost,
        "base_model": public_name(config.name),
        "model": {name: getattr(config, name) for name in MADE_WITH},
        "tool_parser": parser,
        "server": proof.server,
        "tools": proof.tools,
        "tool_hash": proof.tool_hash,
        "step": adapter.step,
        "seed": proof.seed,
        "command": command,
        "test": {
            "suite": proof.lead,
            "n": proof.test.n,
            **{name: {"success": rate.success, "ci95": rate.ci95} for name, rate in rates.items() if rate},
            "gain": proof.test.gain,
            "gain_ci95": proof.test.gain_ci95,
            "rl_gain": proof.test.rl_gain,
            "rl_gain_ci95": proof.test.rl_gain_ci95,
        },
    }


def card(config: ModelConfig, proof: Report, lost: float | None, parser: str, command: str) -> str:
    """The README.md of an export: the model, its test results, how to load and serve it, and how it was made.

    `lost` is the share of a merged model's update that rounding to bfloat16 would lose, `None` for an adapter.
    """
    base, merged = public_name(config.name), lost is not None
    head = ["---", f"library_name: {'transformers' if merged else 'peft'}", "pipeline_tag: text-generation"]
    head += [f"base_model: {base}"] if _on_hub(config) else []
    head += [f"tags: [mcprl, mcp, tool-use, {'grpo' if proof.steps else 'sft'}, lora]", "---"]
    how, steps = "with supervised steps on verified plans", "supervised; those that validated best were kept"
    if proof.steps:
        how = "with reinforcement learning (GRPO)"
        steps = f"{proof.steps} of RL; step {proof.best_step or 0} had the best validation score"
    tools = ", ".join(f"`{report.code(name)}`" for name in proof.tools)
    form = f"{base} with a LoRA adapter merged in" if merged else f"A LoRA adapter for {base}"
    result_rows = [(report.suite_name(proof.lead), *report.RESULT_COLUMNS), *report.results(proof.test)]
    facts = (
        f"server: {report.inline(proof.server)}",
        f"tools: {tools} (hash {proof.tool_hash})",
        f"training steps: {steps}",
        *_reading(config),
    )
    parts = (
        "\n".join(head),
        f"# {base} for {report.inline(proof.server)}",
        f"{form}, trained by mcprl {__version__} {how} on a live MCP server.",
        f"**{report.inline(report.headline(proof))}**",
        report.grid(result_rows),
        "The models were tested on the same held-out tasks. None of these tasks was used in training.",
        "\n".join(f"- {fact}" for fact in facts),
        "## Use\n\n" + report.fenced("\n".join(_usage(base, config, lost, parser)), "sh"),
        "## How it was made\n\n" + report.fenced(command, "sh"),
    )
    return "\n\n".join(parts) + "\n"


def _reading(config: ModelConfig) -> list[str]:
    """What is to be known of the base and of the prompts, where there is something."""
    facts: list[str] = []
    if packed := packaged.MODELS.get(config.name):
        facts.append(f"base: the weights of {packed.hub} in 4 bits ({packed.file}, SHA-256 {packed.sha256})")
    if config.system_prompt or config.after_result:
        texts = {"system prompt": config.system_prompt, "after a call's result": config.after_result}
        said = ", ".join(f"{name}: {report.inline(text)}" for name, text in texts.items() if text)
        facts.append(f"its chat template holds the prompts that it was trained with ({said})")
    if config.call_form == "any":
        read = "`mcprl serve` and `mcprl chat` read these; other servers read what their parser reads"
        facts.append(f"it may write calls as a json fence or as bare JSON: {read}")
    return facts


def _usage(base: str, config: ModelConfig, lost: float | None, parser: str) -> list[str]:
    """The lines of shell that serve the model with vLLM, and as comments the Python that loads it."""
    serve = f"--enable-auto-tool-choice --tool-call-parser {parser}"
    if lost is not None:
        return [
            f"# rounding these float32 weights to bfloat16 would lose {100 * lost:.0f} % of what training changed",
            f"vllm serve . --dtype float32 {serve}",
            "# or: transformers.AutoModelForCausalLM.from_pretrained('.')",
        ]
    load = f"# or: peft.PeftModel.from_pretrained(base, '.'), where base is {base} loaded in {config.dtype}"
    if locate(config.name) != config.name:
        where = f"its folder is mcprl.models.places.locate({base!r})"
        return [f"# {base} is a name that mcprl knows: {where}; --merged exports a model without it", load]
    if config.dora:
        return ["# vLLM cannot serve DoRA adapters; export the model with --merged", load]
    if config.lora_rank > LORA_RANKS[-1]:
        return ["# vLLM cannot serve adapters of this rank; export the model with --merged", load]
    lora = f"--enable-lora --max-lora-rank {served_rank(config.lora_rank)} --lora-modules tuned=."
    return [f"vllm serve {base} {lora} {serve} --chat-template chat_template.jinja", load]
