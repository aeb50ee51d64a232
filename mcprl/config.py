"""The one configuration tree: frozen and strict. On disk it is TOML (`runs/settings.py`).

Flags of the command line (`cli/options.py`) and keys of the file have the same names. The sentence under a field is its
help.
"""

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mcprl.files import AUTO
from mcprl.text import as_folder_name, seconds_between

NANO = "nano"
"""The name of the policy that ships with mcprl."""

POLICY = "policy"
"""The name of the run's own model, its adapter off, where a judge's is asked for."""

BY_MODEL = "by model"
"""Marks settings that follow from the model if left out (`models/defaults.py`); what stands here is nano's."""

SCRATCH = re.compile(r"\{(?:scratch|rollout)(?::([^{}]+))?\}")
"""A session's fresh folder in a server's command and environment, and the folder that it copies: `{scratch:seed}`."""


def _as_target(target: str) -> str:
    """Raises `ValueError` if it can be neither a URL nor a command."""
    if "\0" in target or any("\ud800" <= letter <= "\udfff" for letter in target):
        raise ValueError("holds a character that no command or URL can hold")
    if re.match(r"https?://", target):
        try:
            parts = urlsplit(target)
            named = parts.hostname and parts.port != 0
        except ValueError as error:
            raise ValueError(f"is no URL ({error}); give one such as http://127.0.0.1:8000/mcp") from None
        if not named:
            raise ValueError("is no URL (it names no host); give one such as http://127.0.0.1:8000/mcp")
    return target


def _text_or_file(value: str) -> str:
    """The text itself, or what the file of that name holds. Raises `ValueError` if it cannot be read."""
    try:
        names_a_file = Path(value).is_file()
    except (OSError, ValueError):  # too long for a name
        return value
    try:
        return Path(value).read_text().strip() if names_a_file else value
    except (OSError, UnicodeError) as error:
        raise ValueError(f"names a file that cannot be read: {error}") from None


def _as_rate(rate: str) -> str:
    seconds_between(rate)
    return rate


_REWARD = re.compile(r"(?P<tool>[^\s:<>=]+)(?::(?P<path>[^\s:<>=]+))?\s*(?:>=\s*(?P<at_least>\d*\.?\d+))?")
"""A reward tool, the field of its result, and the number from which on a rollout succeeds."""


def _as_reward(value: str) -> str:
    if value:
        read_reward(value)
    return value


def read_reward(value: str) -> tuple[str, str, float]:
    """The tool, the field (empty if none) and the least number of a success. Raises `ValueError`."""
    found = _REWARD.fullmatch(value.strip())
    at_least = float(found["at_least"] or 1) if found else 0.0
    if not found or not 0 < at_least <= 1:
        raise ValueError("is no reward; write NAME, NAME:FIELD or NAME:FIELD>=X, where X is above 0 and at most 1")
    return found["tool"], found["path"] or "", at_least


def _as_reference(value: str) -> str:
    """`env:NAME` as `$NAME`."""
    return re.sub(r"\Aenv:(\w+)\Z", r"$\1", value)


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ServerConfig(Section):
    target: Annotated[str, AfterValidator(_as_target)]
    """A URL (streamable HTTP; SSE if it ends in /sse), a command that speaks MCP on stdio, `demo:shop`, the bundled
    example, or `replay:RUN`, which repeats what a run recorded (`--record`). `{scratch}` (or `{rollout}`) in a command
    or its environment becomes a fresh folder for each session, `{scratch:DIR}` a fresh copy of DIR."""
    name: str = ""
    """The prefix of its tools if there are several servers; if empty, it is made from the target."""
    headers: dict[str, Annotated[str, AfterValidator(_as_reference)]] = {}
    """HTTP headers to send. `$NAME` in a value (`Bearer $TOKEN`; a whole value may be `env:TOKEN`) is read from the
    environment when connecting and is written down as the name alone."""
    oauth: bool = False
    """Log in in a browser if asked (OAuth). Tokens go to the system's keyring (`mcprl[keyring]`) or into no file."""
    oauth_client: dict[Literal["id", "secret", "port", "issuer"], Annotated[str, AfterValidator(_as_reference)]] = {}
    """A client that the login's server knows, for one that registers none: `id=ID`, `secret=env:NAME`, `port=PORT` of
    its address `http://127.0.0.1:PORT/callback`, `issuer=URL` of the only server that may see it. Implies `oauth`."""
    env: dict[str, str] = {}
    """Environment variables for a stdio server, which otherwise gets only PATH, HOME and the like. `$NAME` as above."""
    timeout_s: Annotated[float, Field(gt=0)] = 30.0
    """Deadline in seconds of connecting, of listing the tools and of one call."""
    processes: Annotated[int, Field(ge=1)] = 8
    """Processes of a stdio server at once, at most."""
    reset_tool: str = ""
    """A tool call that brings a server whose state all sessions share back into its first state: `reset {"seed": 1}`.
    It is made before each rollout that writes, and such rollouts run one after another. The policy need not allow the
    tool."""
    reset_command: str = ""
    """A command that does the same, on this machine."""


class ToolPolicy(Section):
    allow: tuple[str, ...] = ()
    """Names or globs of the tools that may be called, marked or not; empty means all that are marked or assumed. An
    exact name allows a tool even if it is destructive."""
    deny: tuple[str, ...] = ()
    """Names or globs of tools that must not be called."""
    assume: dict[str, Literal["read", "write"]] = {}
    """What unmarked tools do, by name or glob, so that they may be called: `'get_*'=read`, and freely while probing, or
    `add_note=write`. An exact name comes before a glob, `write` before `read`; `write` also holds for tools that are
    marked read-only."""
    sandbox: bool = False
    """The servers are disposable: every tool may be called, unmarked or destructive."""
    read_only: bool = False
    """Call only tools that the server marks read-only, or that `assume` says read."""
    allow_destructive: bool = False
    """Call also tools that the server marks destructive, or as writing without saying that it is not destructive."""
    max_calls_per_tool: dict[str, Annotated[int, Field(ge=0)]] = {}
    """Calls that one command may make of a tool, by name or glob: `get_quote=200`. Those beyond are answered with an
    error. An exact name comes before a glob, the smallest number before others."""
    max_rate: dict[str, Annotated[str, AfterValidator(_as_rate)]] = {}
    """How fast a tool may be called, by name or glob: `get_quote=2/s`, `'search_*'=30/min`. Calls wait for their turn,
    within their rollout's deadline. An exact name comes before a glob, the slowest rate before others."""
    approve: bool = False
    """Ask on the terminal before the first call of each tool, besides everything else that must allow it."""
    reward: Annotated[str, AfterValidator(_as_reward)] = ""
    """A tool that scores each rollout in its session, after the last turn: `score`, `score:points` or
    `score:points>=0.5`. Its number, in the field if one is named, must be in 0..1; from the given one on (1 by default)
    the rollout succeeds. mcprl alone calls the tool: the policy neither sees it nor may call it."""
    setup: tuple[str, ...] = ()
    """Names or globs of the tools that mcprl alone calls, to set up the sessions of tasks that say so: `new_game`. Each
    begins anew whatever was before, so one process or session of the server serves one such task after another."""
    argument_rules: dict[str, str] = {}
    """JSON Schemas that the arguments of a tool's calls must meet, by name or glob:
    `refund={"properties": {"amount": {"maximum": 5}}}`. Other calls are answered with an error."""
    sampling: Literal["none", "base"] = "none"
    """What answers a server that asks its client for a language model (MCP sampling): `none` refuses; `base` is the
    run's own model, its adapter off, at temperature 0. The server's calls wait for it, within `--timeout`. MCP
    deprecates sampling since 2026-07-28."""
    share_process: bool = True
    """Serve all sessions with a command's server from one process if none of its tools seems to write and some calls
    give the same results in another order. Without it each session that calls an unmarked tool has its own."""
    cache_reads: bool = False
    """Make identical calls of tools that are marked or assumed to read once in each step, test or validation, for
    sessions that have not written: for slow or paid servers whose data stands still."""
    max_result_bytes: Annotated[int, Field(ge=200)] = 4_000
    """Bytes of one tool result that the model reads; the rest is cut, with a marker that says how much."""
    max_instruction_bytes: Annotated[int, Field(ge=0)] = 2_000
    """Bytes of each server's own instructions that the model reads before every task, about four bytes a token; 0
    leaves them out, which is the default with nano: it reads no English, and they only confuse it."""


class ScenarioConfig(Section):
    pack: str = ""
    """A pack to use instead of generating one: its folder, or one JSONL or CSV file."""
    test_pack: str = ""
    """Requests of your own to test besides, never to train on: a CSV or JSONL file with a column `request` and, if you
    like, `expect`, `calls`, `state`, `missing`, `asks` or `declines` (scenarios/README.md). A request with nothing
    expected is scored by the judge, or shown without a score if there is none that reads."""
    writer: str = "plain"
    """What words the tasks that are composed. `plain`: a few stiff and safe English constructions. `llm:MODEL`
    (litellm's name): a language model that reads the executed plan, for what passes the vetting, else plain."""
    writer_base_url: str = ""
    """The endpoint of the language model that words tasks, if it is not the provider's own."""
    max_writer_cost: Annotated[float, Field(ge=0)] = 1e9
    """US dollars that wording tasks may cost; before the limit is passed, it ends, and the other tasks stay plain."""
    writer_cache: str = AUTO
    """The folder of the writer's replies; `auto` is mcprl/writer in $XDG_CACHE_HOME (~/.cache), empty keeps none."""
    train: Annotated[int, Field(ge=1), BY_MODEL] = 640
    """Training tasks to generate: as many as the steps take, since a task that is repeated often is memorized."""
    val: Annotated[int, Field(ge=1)] = 48
    """Validation tasks to generate. They choose the best adapter."""
    test: Annotated[int, Field(ge=1)] = 96
    """Held-out tasks to generate about things that training never names, in forms that training uses."""
    test_forms: Annotated[int, Field(ge=0)] = 128
    """Held-out tasks to generate in forms that training never uses. They lead the proof unless people's requests do."""
    max_calls: Annotated[int, Field(ge=1, le=8)] = 4
    """The longest plan, in tool calls."""
    repeat_after_s: Annotated[float, Field(ge=0)] = 2.0
    """Seconds before a plan is executed again, so that the time on a clock does not become a fact."""
    probe_calls: Annotated[int, Field(ge=10)] = 600
    """Calls that probing the server may make. They may wait for it for a minute."""
    values: str = ""
    """A file of values that the server's tools take, for probing to try: TOML, JSON, CSV, or lines such as
    `order_id = O-17, O-18`. A name is a parameter's or `tool.parameter`; values may also have none."""
    examples: tuple[str, ...] = ()
    """A request and the calls that serve it: `is order O-17 paid? => get_order(order_id='O-17')`; more calls follow
    after a semicolon. Probing makes the calls."""
    traffic: str = ""
    """A file of recorded calls to try: chat logs with tool_calls (JSON or JSONL), or JSON-RPC of inspector or proxy."""
    injected: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of the training tasks whose tool results carry an instruction that nobody asked for (a call that another
    task makes); obeying it costs the reward. Tests get such tasks in other words as a suite of their own."""
    floor: bool = True
    """Stop before training if the pack is too small to train on: tasks for fewer than half of the tools that may be
    called, fewer than 60 training tasks, or a fact out of an error message. `--small-pack` goes on anyway."""


class ModelConfig(Section):
    name: str = NANO
    """`nano`; `smollm2`, `qwen2.5-coder-0.5b` or `qwen2.5-coder-1.5b` (after `mcprl setup model NAME`); a folder, a
    GGUF file, or a Hugging Face id. To test alone (`mcprl eval ...`, `mcprl bench ...`), `llm:MODEL` behind an API, by
    litellm's name: `llm:openai/gpt-4.1`."""
    dtype: Annotated[Literal["float32", "bfloat16"], BY_MODEL] = "float32"
    """The type of the base weights in memory."""
    quantization: Literal["none", "int8", "nf4"] = "none"
    """Keep the base's linear layers in 8 or 4 bits (bitsandbytes: `pip install 'mcprl[quant]'`), the LoRA whole."""
    loader: Literal["auto", "transformers", "unsloth"] = "auto"
    """What loads the base. `unsloth` (`pip install 'mcprl[unsloth]'`) has layers of its own for training a LoRA on a
    GPU; `auto` is unsloth if it is installed and the device is a GPU."""
    device: str = "auto"
    """The device that trains: `cpu`, `cuda`, `cuda:1`; `auto` is CUDA if there is a GPU."""
    lora_rank: Annotated[int, Field(ge=1)] = 16
    """The rank of the LoRA matrices."""
    lora_alpha: Annotated[float, Field(gt=0)] = 32.0
    """The LoRA's alpha: its scale times its rank."""
    lora_targets: str = "auto"
    """The layers that get a LoRA: `all-linear`, names separated by commas, or `auto` for the family's own."""
    template_options: dict[str, str] = {}
    """Variables of the chat template, in the run and in what it saves: `enable_thinking = "false"`."""
    call_form: Annotated[Literal["template", "any"], BY_MODEL] = "template"
    """How calls are read: as the chat template writes them, or in `any` form that models write (a fence, bare JSON,
    `<tools>`, an array). With `any` a template that shows calls with doubled braces is mended."""
    system_prompt: Annotated[str, AfterValidator(_text_or_file)] = ""
    """A text, or a file with one, that stands before the servers' instructions in every prompt with tools. If this and
    `after_result` are left out, a trial of the model chooses them (`mcprl doctor --model NAME`)."""
    after_result: Annotated[str, AfterValidator(_text_or_file)] = ""
    """A text, or a file with one, that stands behind a call's result: some models call for ever without it."""
    rslora: bool = False
    """Scale the LoRA by alpha over the square root of its rank (arXiv 2312.03732), which suits high ranks."""
    dora: bool = False
    """Train the length of each weight row separately from its direction (DoRA, arXiv 2402.09353)."""


class EngineConfig(Section):
    kind: Literal["auto", "embedded", "vllm", "tinker"] = "auto"
    """What samples the policy: `embedded` in this process, `vllm` on a vLLM server, or `tinker` on a server at base_url
    that speaks the Tinker API and trains it, too. `auto` is vllm if a base_url is given, or if there is a GPU and
    `mcprl setup vllm` was run."""
    max_batch: Annotated[int, Field(ge=1)] = 64
    """Sequences decoded at once."""
    base_url: str = ""
    """A running vLLM server on this machine: `http://127.0.0.1:8000/v1`. Empty starts one for the run. Of a Tinker
    server its address without a path; of an `llm:` model its endpoint, if that is not the provider's own."""
    max_cost: Annotated[float, Field(ge=0)] = 1e9
    """US dollars that an `llm:` model may cost; before the limit is passed, its test ends. Replies are cached."""
    base_urls: tuple[str, ...] = ()
    """Several running vLLM servers of the same model, in place of base_url. A task's rollouts go to one of them, which
    computes their prompt once; tasks go to the least busy. One that fails is left out until it is back."""
    api_key_env: str = "VLLM_API_KEY"
    """The environment variable with the key of the server at base_url; TINKER_API_KEY by default for a Tinker server.
    The key is never written down."""
    environment: str = ""
    """The folder of vLLM's environment; empty is the folder that `mcprl setup vllm` uses."""
    args: tuple[str, ...] = ()
    """More arguments for the vLLM server: `--tensor-parallel-size=2`."""
    gpu_memory: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The fraction of the GPU's memory for the vLLM server, weights included; the rest is the trainer's."""
    sleep: bool = False
    """The vLLM server sleeps during updates: its weights move to main memory, its keys and values are dropped, and the
    trainer gets the whole GPU. Excludes a pipeline, which samples during updates."""
    cpu_cache_gib: Annotated[int, Field(ge=1)] = 1
    """GiB for the vLLM server's keys and values on a machine without a GPU."""
    start_timeout_s: Annotated[float, Field(gt=0)] = 900.0
    """Seconds that the vLLM server may take to start."""
    restarts: Annotated[int, Field(ge=0)] = 3
    """How often a run restarts a vLLM server that died."""


class RolloutConfig(Section):
    max_turns: Annotated[int, Field(ge=1)] = 6
    """Model turns in one rollout."""
    max_tokens: Annotated[int, Field(ge=8), BY_MODEL] = 160
    """Tokens that one turn may sample."""
    max_total_tokens: Annotated[int, Field(ge=64), BY_MODEL] = 4_096
    """Tokens of context at which a rollout ends."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """The sampling temperature in training."""
    deadline_s: Annotated[float, Field(gt=0), BY_MODEL] = 120.0
    """Deadline of one rollout in seconds."""
    retries: Annotated[int, Field(ge=0)] = 1
    """How often a rollout is repeated that broke because of the server or the engine."""
    tool_search: Annotated[int, Field(ge=0)] = 0
    """Tokens of tool definitions (about four bytes each) above which the policy gets one tool, `search_tools`, which
    finds the others and gives their definitions; 0 always shows all. Searches take turns: raise `max_turns`."""


class JudgeConfig(Section):
    name: str = "verifier"
    """What scores a rollout in training. `verifier` checks what was proved when the task was made. `ruler:RUBRIC` has a
    language model rank the rollouts of a task by a rubric (a name or a file). `mixed:RUBRIC` weighs both. `reference`
    has a language model read whether an answer states what was proved, and checks all else. `auto` is `mixed:default`
    if a judge model is named, else `verifier`. Held-out tasks are always tested by the verifier."""
    model: str = ""
    """The language model that judges, by litellm's name: `openai/o4-mini`, `anthropic/...`, `hosted_vllm/...`; or
    `policy`, the model that is trained, with its adapter off."""
    base_url: str = ""
    """The judge's endpoint, if it is not the provider's own: any that speaks OpenAI's protocol."""
    permutations: Annotated[int, Field(ge=1)] = 1
    """Number of orders in which a group is judged; the scores are averaged."""
    evidence: bool = False
    """Show the judge what is known of each rollout: expected facts, failed calls, state read back."""
    anchors: tuple[Literal["base", "best"], ...] = ()
    """Rollouts that are judged beside each group and never trained on, so that scores can be compared between steps:
    `base`, one of the base model; `best`, the task's best so far."""
    ruler_weight: Annotated[float, Field(ge=0, le=1)] = 0.3
    """The language model's weight in a `mixed` score."""
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """Deadline of one call of the judge in seconds."""
    retries: Annotated[int, Field(ge=0)] = 4
    """How often a call is repeated that failed for a reason that may pass."""
    concurrency: Annotated[int, Field(ge=1)] = 8
    """Calls of the judge at once."""
    max_cost: Annotated[float, Field(ge=0)] = 1e9
    """US dollars that the judge may cost. Before the limit is passed, training ends and the best adapter is tested."""
    cache: str = AUTO
    """The folder of the judge's replies; `auto` is mcprl/judge in $XDG_CACHE_HOME (~/.cache), empty keeps none."""


class TrainingConfig(Section):
    recipe: Annotated[Literal["auto", "sft", "rl", "sft+rl"], BY_MODEL] = "auto"
    """`sft` trains on verified plans until validation stops rising, `rl` on the model's own rollouts, `sft+rl` on both.
    `auto` leaves out `sft` if the base model solves half of the validation tasks; else RL computes as few tokens."""
    start: Annotated[str, BY_MODEL] = ""
    """What training begins from: a run (its tested adapter), or a folder with a LoRA. Empty is the base model."""
    steps: Annotated[int, Field(ge=0), BY_MODEL] = 80
    """Optimizer steps of RL at most."""
    scenarios_per_step: Annotated[int, Field(ge=1), BY_MODEL] = 8
    """Scenarios in one step (P)."""
    group_size: Annotated[int, Field(ge=2)] = 8
    """Rollouts of each scenario in one step (G)."""
    trained_per_group: Annotated[int, Field(ge=0), BY_MODEL] = 0
    """Of each group train on so many rollouts, those whose rewards vary most (2504.13818); 0: on all. Of 16
    sampled to train on 8, fewer groups have no signal; whether that pays was not measured."""
    learning_rate: Annotated[float, Field(ge=0), BY_MODEL] = 1e-4
    """AdamW's learning rate in RL; it rises over a tenth of the steps. 0 trains nothing, and is a control."""
    loss: Literal["cispo", "ppo", "gspo"] = "cispo"
    """The policy gradient: CISPO (MiniMax-M1, eq. 4), PPO's clip, or GSPO's clip of whole rows."""
    clip_low: Annotated[float, Field(ge=0)] = 0.0
    """How far below 1 the importance ratio may fall before it is clipped; 0: the loss's (PPO 0.2, GSPO 3e-4)."""
    clip_high: Annotated[float, Field(ge=0)] = 0.0
    """How far above 1 it may rise before it is clipped; 0: the loss's (CISPO 2, PPO 0.28, GSPO 4e-4)."""
    normalization: Literal["token", "sequence", "constant"] = "token"
    """The weight of a token: equal for all tokens (DAPO), for all rows (GRPO; always GSPO), or constant (Dr. GRPO)."""
    minibatches: Annotated[int, Field(ge=1)] = 1
    """Optimizer steps that share a step's rows."""
    epochs: Annotated[int, Field(ge=1)] = 1
    """How often a step trains on its rows."""
    entropy_coef: Annotated[float, Field(ge=0)] = 0.0
    """Weight of an entropy bonus at each trained token, which keeps the policy exploring."""
    kl_coef: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the KL divergence to the base model."""
    advantage_scale: Annotated[Literal["none", "std", "mean", "best"], BY_MODEL] = "mean"
    """What divides a group's centred scores: nothing (Dr. GRPO), their standard deviation (GRPO), or their mean: rarely
    solved tasks weigh more. `best` is rejection sampling: 1 for the best of a group, 0 for the others."""
    signal_tolerance: Annotated[float, Field(ge=0)] = 1e-3
    """A group whose scores differ by no more than this is dropped."""
    share_prefixes: bool = True
    """Compute the tokens that rows share once. Without it each row is computed whole, with the same result."""
    bin_tokens: Annotated[int, Field(ge=16), BY_MODEL] = 8192
    """Tokens that an update computes at once; bounds its memory."""
    gradient_checkpointing: bool = False
    """Keep only each layer's input for the backward pass and recompute the rest: less memory, a third slower."""
    autocast: Literal["auto", "off", "bf16"] = "auto"
    """Multiply float32 matrices in bfloat16, with sums in float32. `auto` measures it on the run's first rows, on CPUs
    with instructions for it, and does so where it changes too little to matter."""
    max_sampler_gap: Annotated[float, Field(gt=0)] = 0.5
    """Nats per token by which the trainer's log-probabilities may differ from the sampler's on average. Beyond it the
    run stops, since the two do not run the same model."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """The norm to which the gradient is clipped."""
    warm_start_steps: Annotated[int, Field(ge=0), BY_MODEL] = 120
    """Supervised steps at most."""
    warm_start_plans: Annotated[int, Field(ge=1), BY_MODEL] = 16
    """Tasks whose verified plans one supervised step trains on."""
    warm_start_learning_rate: Annotated[float, Field(ge=0), BY_MODEL] = 4.5e-3
    """The learning rate of the supervised steps: it rises over a tenth of them, in the last quarter it falls to 0."""
    given_calls: Annotated[int, Field(ge=0)] = 0
    """Calls of its plan, at most, that are made for a task that no rollout of the step before solved; 0 gives none."""
    measure: Annotated[int, Field(ge=0)] = 0
    """Rollouts of each training task before training; tasks that always or never succeed are drawn later."""
    pipeline: Literal["auto", "on", "off"] = "auto"
    """Sample and judge the next step during this step's update: one step off policy, which importance ratios correct.
    `auto` is on if vLLM and the trainer have different devices."""
    eval_every: Annotated[int, Field(ge=1), BY_MODEL] = 20
    """Steps between validations, supervised ones too."""
    patience: Annotated[int, Field(ge=1)] = 4
    """Validations without a better score that end a phase of training. A control takes all its steps of RL."""
    max_minutes: Annotated[float, Field(gt=0)] = 1e9
    """Minutes of RL at most."""
    stall_minutes: Annotated[float, Field(ge=0)] = 15.0
    """Minutes without any progress after which a note names `stalled.log` in the run folder, which shows what every
    task waits for and which calls of tools are open; 0 looks for none."""
    bench: tuple[str, ...] = ()
    """Benchmarks made by others that the base and the trained model take after the test: `bfcl`, `agentdojo`, `tau2`,
    or one category of them, `bfcl:multi_turn_base` (after `mcprl setup bench bfcl`)."""
    bench_limit: Annotated[int, Field(ge=0)] = 0
    """Draw so many tasks of each category of a benchmark, by the seed; 0 takes all."""


class EvalConfig(Section):
    rollouts: Annotated[int, Field(ge=1)] = 1
    """Rollouts of each test task. Several need a temperature above 0: greedy ones of a task are equal."""
    temperature: Annotated[float, Field(ge=0)] = 0.0
    """The sampling temperature when testing; 0 is greedy."""


class Config(Section):
    name: Annotated[str, AfterValidator(as_folder_name)] = ""
    """The run's name, also of its folder in `runs_dir`; if empty, it is made from the server and the time."""
    runs_dir: str = "runs"
    """The folder that holds the runs."""
    seed: int = 0
    """Every random choice of a run follows from this number."""
    control: Literal["none", "shuffle-rewards"] = "none"
    """`shuffle-rewards` trains on scores shuffled within each group, from the warm start as any run does, takes all its
    steps and tests the last: a control whose gain over the warm start must be about 0, and shows a leak if not."""
    record: bool = False
    """Keep what the servers list and answer in the run's folder, for `--server replay:RUN` to repeat without them."""
    trackers: tuple[str, ...] = ()
    """Trackers that log besides the run folder: `wandb`, `trackio`, `tensorboard`, `otel`, `langfuse`."""
    task: Annotated[str, AfterValidator(_text_or_file)] = ""
    """What the model is to do where there is no server (`mcprl auto TASK`): the system message of every conversation. A
    language model writes inputs for it, and one judges the answers."""
    servers: tuple[ServerConfig, ...] = ()
    tools: ToolPolicy = ToolPolicy()
    scenarios: ScenarioConfig = ScenarioConfig()
    model: ModelConfig = ModelConfig()
    engine: EngineConfig = EngineConfig()
    rollout: RolloutConfig = RolloutConfig()
    judge: JudgeConfig = JudgeConfig()
    training: TrainingConfig = TrainingConfig()
    eval: EvalConfig = EvalConfig()

    @property
    def is_control(self) -> bool:
        """Whether the run must show no gain over its warm start: nothing that it learns from is true."""
        return self.control != "none" or self.training.learning_rate == 0
