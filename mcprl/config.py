"""The one configuration tree: frozen, strict, TOML on disk.

Flags of the command line and keys of the file are the same names; whatever neither gives has the default below. An
unknown key is refused with the nearest known one.
"""

import difflib
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcprl.errors import ConfigError
from mcprl.files import AUTO
from mcprl.text import scrub

POLICY = "policy"
"""The name of the run's own model, its adapter off, where a judge's or a writer's is asked for."""

_REFERENCE = re.compile(r"\$\w+|\$\{\w+\}")


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ServerConfig(Section):
    target: str
    """A URL (streamable HTTP; SSE where it ends in /sse) or a command that speaks MCP on stdio. `{scratch}` in the
    command or its environment becomes a fresh folder for each session."""
    name: str = ""
    """The prefix of its tools where there are several servers; taken from the target where empty."""
    headers: dict[str, str] = {}
    """HTTP headers to send. A value like `$NAME` is read from the environment when connecting and never written
    down."""
    env: dict[str, str] = {}
    """Environment variables for a stdio server, which otherwise gets only PATH, HOME and the like. `$NAME` as above."""
    timeout_s: Annotated[float, Field(gt=0)] = 30.0
    """Seconds before connecting, listing or one call is given up."""
    processes: Annotated[int, Field(ge=1)] = 8
    """At most this many processes of a stdio server at once."""


class ToolPolicy(Section):
    allow: tuple[str, ...] = ()
    """Names or globs of the tools that may be called; empty means all. Naming a tool exactly allows it even if
    destructive."""
    deny: tuple[str, ...] = ()
    """Names or globs of tools that must not be called."""
    read_only: bool = False
    """Call only tools that the server marks read-only."""
    allow_destructive: bool = False
    """Call tools that the server marks destructive, too."""
    max_result_bytes: Annotated[int, Field(ge=200)] = 4_000
    """Bytes of one tool result that the model gets to read; the rest is cut, with a marker that says how much."""
    max_instruction_bytes: Annotated[int, Field(ge=0)] = 2_000
    """Bytes of each server's own instructions that the model gets to read before every task, about four bytes a token;
    0 leaves them out."""


class ScenarioConfig(Section):
    pack: str = ""
    """A folder with a pack to use instead of generating one."""
    generator: str = "grounded"
    """Who writes the tasks: `grounded` composes them of what the server holds, without a language model; `llm:MODEL`
    (litellm's name) has a language model write them, each proved by executing its plan, `llm:policy` the model that is
    trained; `auto` is a language model where a provider's key is set, else `grounded`."""
    instructions: str = ""
    """What a language model that writes tasks is told besides: whom to write for, what to ask about, what to leave."""
    generator_base_url: str = ""
    """The endpoint of the language model that writes tasks, where it is not the provider's own."""
    max_generator_cost: Annotated[float, Field(ge=0)] = 1e9
    """US dollars that writing tasks may cost; before they are passed, the tasks written so far are taken."""
    generator_cache: str = AUTO
    """The folder for what a language model wrote, so that the same tasks cost nothing again; `auto` is
    mcprl/generator in $XDG_CACHE_HOME (by default ~/.cache), empty keeps none."""
    embedding_model: str = ""
    """A model by litellm's name that tells by meaning whether two tasks are alike; where empty, shared words tell."""
    open_tasks: bool = False
    """Keep training tasks of a language model whose outcome no check can tell; they need a judge that can."""
    train: Annotated[int, Field(ge=1)] = 640
    """Training tasks to generate: as many as the steps take, since a task seen again and again is learnt by heart."""
    val: Annotated[int, Field(ge=1)] = 48
    """Validation tasks to generate: they choose the best adapter."""
    test: Annotated[int, Field(ge=1)] = 192
    """Held-out tasks to generate: they give the proof."""
    max_calls: Annotated[int, Field(ge=1, le=8)] = 3
    """The longest plan, in tool calls."""
    repeat_after_s: Annotated[float, Field(ge=0)] = 2.0
    """Seconds after which a plan is executed again, so that what a clock shows is not taken for a fact."""
    probe_calls: Annotated[int, Field(ge=10)] = 600
    """Read-only calls that may be spent on finding out what the server holds."""


class ModelConfig(Section):
    name: str = "nano"
    """`nano` (ships with mcprl), a folder, or a Hugging Face id."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """The base weights' type in memory."""
    quantization: Literal["none", "int8", "nf4"] = "none"
    """Keep the base's linear layers in 8 or 4 bits (bitsandbytes: `pip install 'mcprl[quant]'`); the LoRA is not."""
    loader: Literal["auto", "transformers", "unsloth"] = "auto"
    """What loads the base: `unsloth` (`pip install 'mcprl[unsloth]'`) puts in layers of its own, made for training a
    LoRA on a GPU; `auto` takes it where it is installed and the device is one."""
    device: str = "auto"
    """Where the model is trained: `cpu`, `cuda`, `cuda:1`; `auto` is CUDA where there is some."""
    lora_rank: Annotated[int, Field(ge=1)] = 16
    """The rank of the LoRA matrices."""
    lora_alpha: Annotated[float, Field(gt=0)] = 32.0
    """The LoRA's scale times its rank."""
    lora_targets: str = "auto"
    """The layers that get a LoRA: `all-linear`, names with commas between, or `auto` for what suits the family."""
    template_options: dict[str, str] = {}
    """Variables of the chat template, for the whole run and in what is saved: `enable_thinking = "false"`."""
    rslora: bool = False
    """Scale the LoRA by alpha over the root of its rank (arXiv 2312.03732), which suits high ranks."""
    dora: bool = False
    """Train each weight row's length apart from its direction (DoRA, arXiv 2402.09353)."""


class EngineConfig(Section):
    kind: Literal["auto", "embedded", "vllm"] = "auto"
    """Where the policy is sampled: `embedded` in this process, `vllm` on a vLLM server; `auto` is vllm where there is
    a GPU and `mcprl setup vllm` was run, or a base_url is given."""
    max_batch: Annotated[int, Field(ge=1)] = 64
    """Sequences decoded at once."""
    base_url: str = ""
    """A vLLM server that runs already, on this machine: `http://127.0.0.1:8000/v1`. Empty starts one for the run."""
    api_key_env: str = "VLLM_API_KEY"
    """The environment variable that holds the key of the server at base_url; the key is never written down."""
    environment: str = ""
    """The folder of vLLM's environment; empty is where `mcprl setup vllm` puts it."""
    args: tuple[str, ...] = ()
    """Further arguments for the vLLM server: `--tensor-parallel-size=2`."""
    gpu_memory: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The share of the GPU's memory that the vLLM server takes, weights included; the rest is the trainer's."""
    sleep: bool = False
    """The vLLM server sleeps during updates: its weights wait in main memory, its keys and values are dropped,
    and the trainer gets the GPU that both share. Not with a pipeline, which samples meanwhile."""
    cpu_cache_gib: Annotated[int, Field(ge=1)] = 1
    """GiB that the vLLM server takes for keys and values where there is no GPU."""
    start_timeout_s: Annotated[float, Field(gt=0)] = 900.0
    """Seconds that the vLLM server may take to start."""
    restarts: Annotated[int, Field(ge=0)] = 3
    """Times that a vLLM server which died is started again in a run."""


class RolloutConfig(Section):
    max_turns: Annotated[int, Field(ge=1)] = 6
    """Model turns in one rollout."""
    max_tokens: Annotated[int, Field(ge=8)] = 160
    """Tokens that one turn may sample."""
    max_total_tokens: Annotated[int, Field(ge=64)] = 4_096
    """Tokens of context at which a rollout is stopped."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """The sampling temperature in training."""
    deadline_s: Annotated[float, Field(gt=0)] = 120.0
    """Seconds before one rollout is given up."""
    retries: Annotated[int, Field(ge=0)] = 1
    """Fresh tries of a rollout that broke because of the server or the engine."""


class JudgeConfig(Section):
    name: str = "verifier"
    """Who scores a trajectory in training: `verifier` checks what the scenario generator proved; `ruler:RUBRIC` has a
    language model rank the tries of a task by a rubric (a name or a file); `mixed:RUBRIC` weighs both; `auto` is
    `mixed:default` where a judge model is named, else `verifier`. Held-out tasks are always tested by the verifier."""
    model: str = ""
    """The language model that judges, by litellm's name: `openai/o4-mini`, `anthropic/...`, `hosted_vllm/...`; or
    `policy`, the model that is trained, with its adapter off."""
    base_url: str = ""
    """The judge's endpoint, where it is not the provider's own: anything that speaks OpenAI's protocol."""
    permutations: Annotated[int, Field(ge=1)] = 1
    """Orders in which a group is judged; their scores are averaged."""
    evidence: bool = False
    """Tell the language model what is known of each try: expected facts, failed calls, state read back."""
    anchors: tuple[Literal["base", "best"], ...] = ()
    """Tries that are judged beside those of a task and never trained on, so that scores can be compared from step to
    step: `base`, the base model's; `best`, the task's best so far."""
    ruler_weight: Annotated[float, Field(ge=0, le=1)] = 0.3
    """The language model's share of a `mixed` score."""
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """Seconds before one call of the judge is given up."""
    retries: Annotated[int, Field(ge=0)] = 4
    """Further tries of a call that failed for a reason that may pass."""
    concurrency: Annotated[int, Field(ge=1)] = 8
    """Calls of the judge at once."""
    max_cost: Annotated[float, Field(ge=0)] = 1e9
    """US dollars that the judge may cost; before they are passed, training ends and what it reached is tested."""
    cache: str = AUTO
    """The folder for the judge's replies; `auto` is mcprl/judge in $XDG_CACHE_HOME (by default ~/.cache), empty keeps
    none."""


class TrainingConfig(Section):
    steps: Annotated[int, Field(ge=0)] = 80
    """Optimizer steps of RL at most."""
    scenarios_per_step: Annotated[int, Field(ge=1)] = 8
    """Scenarios in one step (P)."""
    group_size: Annotated[int, Field(ge=2)] = 8
    """Tries of each scenario in one step (G)."""
    learning_rate: Annotated[float, Field(ge=0)] = 1.5e-3
    """AdamW's step size, after ten steps of linear warm-up. 0 trains nothing: the control that must show no gain."""
    loss: Literal["cispo", "ppo", "gspo"] = "cispo"
    """The policy gradient: CISPO (MiniMax-M1, eq. 4), PPO's clip, or GSPO's clip of whole rows."""
    clip_low: Annotated[float, Field(ge=0)] = 0.0
    """How far below 1 the importance ratio is let through; 0 takes the loss's own (PPO 0.2, GSPO 3e-4, CISPO none)."""
    clip_high: Annotated[float, Field(ge=0)] = 0.0
    """How far above 1 the importance ratio is let through; 0 takes the loss's own (CISPO 2, PPO 0.28, GSPO 4e-4)."""
    normalization: Literal["token", "sequence", "constant"] = "token"
    """How tokens are weighed: all alike (DAPO), all rows alike (GRPO), or by a constant length (Dr. GRPO)."""
    minibatches: Annotated[int, Field(ge=1)] = 1
    """Optimizer steps that share a step's rows."""
    epochs: Annotated[int, Field(ge=1)] = 1
    """Times that a step's rows are trained on."""
    entropy_coef: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the policy's entropy at each trained token, which is raised: keeps a policy trying other tokens."""
    kl_coef: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the KL divergence to the base model (k3)."""
    advantage_scale: Literal["none", "std", "mean"] = "mean"
    """What a group's centred scores are divided by: nothing (Dr. GRPO), their standard deviation (GRPO), or their mean,
    so that tasks that are rarely solved are not drowned by those that mostly are."""
    signal_tolerance: Annotated[float, Field(ge=0)] = 1e-3
    """A group whose scores differ by no more than this is dropped."""
    share_prefixes: bool = True
    """Compute what the rows of a step have in common once; off, each row is computed whole, with the same result."""
    bin_tokens: Annotated[int, Field(ge=16)] = 8192
    """Tokens that an update computes at once: bounds its memory."""
    gradient_checkpointing: bool = False
    """Keep only each layer's input for the backward pass and compute the rest again: less memory, a third slower."""
    autocast: Literal["auto", "off", "bf16"] = "auto"
    """Multiply float32 matrices in bfloat16, with sums in float32; `auto` does so on CPUs with instructions for it."""
    max_sampler_gap: Annotated[float, Field(gt=0)] = 0.5
    """Nats per token, on average, by which the trainer's log-probabilities may differ from the sampler's; beyond it the
    run stops, since the two are not the same model."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """The norm to which the gradient is clipped."""
    warm_start_steps: Annotated[int, Field(ge=0)] = 10
    """Supervised steps on the verified plans of the training tasks before RL, at three times the learning rate."""
    measure: Annotated[int, Field(ge=0)] = 0
    """Tries of each training task by the model before training: what it always or never does comes later."""
    pipeline: Literal["auto", "on", "off"] = "auto"
    """Sample and judge the next step while this one trains, with the adapter of the step before (one step off policy,
    which the loss's importance ratios account for); `auto` does so where vLLM has another device than the trainer."""
    eval_every: Annotated[int, Field(ge=1)] = 10
    """Steps between looks at the validation tasks."""
    patience: Annotated[int, Field(ge=1)] = 4
    """Looks without a better validation score before RL stops."""
    max_minutes: Annotated[float, Field(gt=0)] = 1e9
    """Minutes of RL at most."""


class EvalConfig(Section):
    rollouts: Annotated[int, Field(ge=1)] = 1
    """Rollouts of each test task."""
    temperature: Annotated[float, Field(ge=0)] = 0.0
    """The sampling temperature when testing; 0 is greedy."""


class Config(Section):
    name: str = ""
    """The run's name, and its folder's under `runs_dir`; made from the server and the time where empty."""
    runs_dir: str = "runs"
    """The folder that holds the runs."""
    seed: int = 0
    """Every random choice of a run follows from this."""
    control: Literal["none", "shuffle-rewards"] = "none"
    """`shuffle-rewards` trains on scores dealt at random within each group, without a warm start: a control that must
    show no gain."""
    trackers: tuple[str, ...] = ()
    """Where to log besides the run folder: `wandb`."""
    servers: tuple[ServerConfig, ...] = ()
    tools: ToolPolicy = ToolPolicy()
    scenarios: ScenarioConfig = ScenarioConfig()
    model: ModelConfig = ModelConfig()
    engine: EngineConfig = EngineConfig()
    rollout: RolloutConfig = RolloutConfig()
    judge: JudgeConfig = JudgeConfig()
    training: TrainingConfig = TrainingConfig()
    eval: EvalConfig = EvalConfig()


def parse(tree: dict[str, Any], source: str = "the configuration") -> Config:
    """The tree of a TOML file or of flags as a `Config`.

    Raises `ConfigError` naming the key, the value and what was expected.
    """
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        raise ConfigError("; ".join(_explain(tree, item, source) for item in error.errors())) from None


def load(path: str | Path) -> dict[str, Any]:
    """The tree of a TOML file. Raises `ConfigError` where it is missing or not TOML."""
    try:
        return tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise ConfigError(f"cannot read the config file {path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two trees as one: what the second says wins; tables are merged, lists are not."""
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if nested else value
    return merged


def dump(config: Config) -> str:
    """The tree as TOML, `redacted`, each field's sentence above it; `parse(tomllib.loads(text))` reads it back."""
    return "\n".join(_dump(parse(redacted(config)))) + "\n"


def _dump(section: Section, prefix: str = "") -> Iterator[str]:
    values = {name: getattr(section, name) for name in type(section).model_fields}
    nested = {name: value for name, value in values.items() if isinstance(value, Section) or name == "servers"}
    for name, value in values.items():
        if name not in nested:
            yield from textwrap.wrap(
                type(section).model_fields[name].description or "", 110, initial_indent="# ", subsequent_indent="# "
            )
            yield f"{name} = {_toml(value)}"
    for name, value in nested.items():
        for item in value if isinstance(value, tuple) else (value,):
            yield f"\n[[{prefix}{name}]]" if isinstance(value, tuple) else f"\n[{prefix}{name}]"
            yield from _dump(item, f"{prefix}{name}.")


def _toml(value: Any) -> str:
    """JSON's scalars, strings and lists are TOML's, but for DEL, which TOML wants escaped."""
    if isinstance(value, dict):
        pairs: dict[str, str] = value
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in pairs.items()) + " }" if pairs else "{}"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def redacted(config: Config) -> dict[str, Any]:
    """The tree as it may be written down or sent to a tracker: what can hold a secret is "***", unless it is a `$NAME`
    or a path in the `{scratch}` folder.

    That is: values of headers and of environment variables, user and query values of URLs, and in commands the values
    of options and variables whose name says key, token, secret or password.
    """
    tree = config.model_dump(mode="json")
    for server in tree["servers"]:
        for kind in ("headers", "env"):
            server[kind] = {key: value if _plain(value) else "***" for key, value in server[kind].items()}
        server["target"] = scrub(server["target"])
    return tree


def _plain(value: str) -> bool:
    return bool(_REFERENCE.fullmatch(value)) or value.startswith("{scratch}")


def _explain(tree: dict[str, Any], item: Any, source: str) -> str:
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "missing":
        return f"{source}: {where} is missing"
    if item["type"] != "extra_forbidden":
        return f"{source}: {where} = {item['input']!r}: {item['msg']}"
    plain = ".".join(part for part in item["loc"] if isinstance(part, str))
    known = sorted(_keys(Config))
    near = difflib.get_close_matches(plain, known, n=1) or [key for key in known if key.endswith("." + plain)][:1]
    hint = f"did you mean {near[0]!r}?" if near else "mcprl train --print-config shows all keys"
    return f"{source}: unknown key {where!r}; {hint}"


def _keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, info in section.model_fields.items():
        yield prefix + name
        for inner in (info.annotation, *get_args(info.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _keys(inner, f"{prefix}{name}.")
