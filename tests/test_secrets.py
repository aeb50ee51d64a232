"""No secret leaves the process: a whole run on two servers that repeat what they were given in all that they say."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.collector import collecting
from support.fake_llm import Reply, Request, scored, serving, tries
from support.loopback import http
from support.paths import ODD, ROOT, SERVERS, TESTS
from support.servers.leaky import SHAPES

from mcprl.config import ServerConfig
from mcprl.runs.journal import Journal
from mcprl.secrets import hide, learn_values, scrub
from mcprl.servers.log import Output, logging_to
from mcprl.servers.server import connect
from mcprl.types import Json

LEAKY = SERVERS / "leaky.py"
CANARIES = {
    "a header from the environment": "canary-h3ader-env",
    "a header": "canary-h3ader-literal",
    "a cookie": "canary-c00kie",
    "a variable from the environment": "canary-vari4ble-env",
    "a variable": "canary-vari4ble-literal",
    "a variable without a telling name": "canary-un4med",
    "the password of a URL": "canary-passw0rd",
    "the query of a URL": "canary-qu3ry",
    "an option": "canary-0ption",
    "a variable on the command line": "canary-inl1ne",
    "a key of this process": "canary-pr0cess-key",
    **{f"a key's shape {number}": shape for number, shape in enumerate(SHAPES)},
}


def configured(model: Path, folder: Path, url: str, judge: str) -> Path:
    """The file of a small run on both servers. Its secrets stand in it or in the environment."""
    where = url.removeprefix("http://")
    stdio = f"env INLINE_TOKEN={CANARIES['a variable on the command line']} {sys.executable} {LEAKY}"
    file = folder / "given.toml"
    file.write_text(f"""
name = "leaky"
runs_dir = "{folder / "runs"}"
trackers = ["wandb", "tensorboard", "trackio", "otel"]
[[servers]]
target = "{stdio} --api-key {CANARIES["an option"]}"
[servers.env]
TOKEN = "$CANARY_VARIABLE"
SECRET = "{CANARIES["a variable"]}"
FLAVOUR = "{CANARIES["a variable without a telling name"]}"
[[servers]]
target = "http://ada:{CANARIES["the password of a URL"]}@{where}?tag={CANARIES["the query of a URL"]}"
[servers.headers]
X-Key = "Key $CANARY_HEADER"
X-Tenant = "{CANARIES["a header"]}"
Cookie = "sid={CANARIES["a cookie"]}"
[scenarios]
train = 6
val = 3
test = 4
test_forms = 0
probe_calls = 60
repeat_after_s = 0.1
floor = false
[model]
name = "{model}"
lora_rank = 4
[rollout]
max_turns = 2
max_tokens = 12
[judge]
name = "ruler:default"
model = "openai/gpt-4o"
base_url = "{judge}"
cache = "{folder / "cache"}"
[training]
steps = 1
scenarios_per_step = 2
group_size = 2
eval_every = 1
warm_start_steps = 1
""")
    return file


def environment(folder: Path) -> dict[str, str]:
    own = {
        "CANARY_HEADER": CANARIES["a header from the environment"],
        "CANARY_VARIABLE": CANARIES["a variable from the environment"],
        "OPENAI_API_KEY": CANARIES["a key of this process"],
        "WANDB_MODE": "offline",
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(ROOT)]),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    own |= {"TRACKIO_DIR": str(folder / "TRACKIO"), "HF_HUB_OFFLINE": "1"}
    own |= {f"WANDB_{name}_DIR": str(folder / name) for name in ("CACHE", "CONFIG", "DATA")}
    return os.environ | own


def hits(name: str, content: bytes) -> list[str]:
    """Where a canary stands in a file or text."""
    return [f"{what} in {name}" for what, value in CANARIES.items() if value.encode() in content]


def strings(value: Json) -> str:
    """JSON with nothing escaped, so that a value is found however it is quoted."""
    return json.dumps(value, ensure_ascii=False).replace("\\", "")


@pytest.mark.slow
def test_no_canary_is_in_the_run_folder_the_logs_the_tracker_the_report_the_screen_or_what_the_judge_is_asked(
    tiny_model: Path, tmp_path: Path
) -> None:
    def by_number(request: Request, _: int) -> Reply:
        return Reply(scored({name: n / 10 for n, name in enumerate(sorted(tries(request)))}))

    with http([sys.executable, LEAKY, "--http"]) as url, serving(by_number) as judge, collecting() as collector:
        command = [sys.executable, "-m", "mcprl", "train", "--config", configured(tiny_model, tmp_path, url, judge.url)]
        env = environment(tmp_path) | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = hits("the screen", (done.stdout + done.stderr).encode())
    found += hits("what the judge is asked", strings(judge.requests).encode())
    found += hits("what the collector gets", str(collector.spans).encode())
    files = [path for folder in ("runs", "TRACKIO") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    for path in files:
        found += hits(str(path.relative_to(tmp_path)), path.read_bytes())
    for path in (tmp_path / "cache").rglob("*.json"):
        found += hits("the judge's cache", path.read_bytes())
    assert not found
    written = {path.name for path in files} | {path.suffix for path in files}
    assert {"journal.sqlite", "groups.jsonl", "server.log", "report.md", "config.toml", ".wandb"} <= written
    assert any(path.name.startswith("events.out.tfevents") for path in files)
    assert any("TRACKIO" in path.parts for path in files)
    assert judge.requests
    assert collector.spans
    with Journal.open(tmp_path / "runs" / "leaky") as journal:  # they were there, and were hidden
        shown = [call for each in journal.trajectories("demonstration") for call in each.messages]
    assert "***" in strings(list(shown))


def test_no_canary_is_in_what_the_program_says_of_a_server_that_refuses(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'import sys; sys.exit(str(sys.argv))' --api-key {CANARIES['an option']}"
    for given in (["--server", command], ["--server", "http://h/mcp", "--header", f"Key {SHAPES[0]}"]):
        arguments = [sys.executable, "-m", "mcprl", "train", "--runs-dir", tmp_path, "--name", "no", *given]
        done = subprocess.run(
            arguments, env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 2
        assert not hits("the screen", (done.stdout + done.stderr).encode())
        for path in tmp_path.rglob("*.log"):
            assert not hits(path.name, path.read_bytes())


def test_of_secrets_that_overlap_no_rest_is_shown() -> None:
    learn_values(["Bearer open-barley", "open-barley-7", "barley-7-close", "open-barley-7-close!"])
    assert hide("no entry for Bearer open-barley-7-close! or open-barley-7") == "no entry for *** or ***"
    assert hide("open-barley-7-close") == "***"


def test_the_excerpt_of_a_reply_in_an_error_is_hidden_up_to_the_last_of_its_line() -> None:
    error = (
        "one [type=x, input_value='a, input_type=b', input_type=str]\ntwo input_value=c, input_type=int, input_type="
    )
    assert hide(error) == "one [type=x, input_value=***, input_type=str]\ntwo input_value=***, input_type="
    assert hide("input_value=is a word, input_type is none") == "input_value=is a word, input_type is none"


async def test_the_servers_log_has_no_half_of_a_secret_and_no_line_of_a_private_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "canary-in-n0ise")
    noisy = f"sh -c 'printf %0190d%s\\\\n 7 $TOKEN; exec {ODD}'"
    async with connect([ServerConfig(target=noisy, env={"TOKEN": "$CANARY"})], log=tmp_path / "server.log"):
        pass
    key = ["-----BEGIN RSA PRIVATE KEY-----", *["MIICanary" * 7] * 9, "-----END RSA PRIVATE KEY-----", "up"]
    output = Output("server")
    with logging_to(tmp_path / "server.log"):
        for line in [*key, "-----BEGIN PRIVATE KEY----- MIICanary"]:
            output.write(line.encode())
    log = (tmp_path / "server.log").read_text()
    assert "0007***" in log
    assert "server: up" in log
    assert not [part for part in ("MIICanary", "canary-in") if part in log + output.last_words]


WORDS = "input_value=|sk-a|ghp_a|://a:b|eyJaaaaaaaa.|bearer |-----BEGIN PRIVATE KEY-----|-----BEGIN A |xoxb-|AKIA"


@pytest.mark.parametrize("word", WORDS.split("|"))
def test_hiding_takes_linear_time_whatever_a_server_repeats(word: str) -> None:
    began = time.monotonic()
    hide(word * (2**20 // len(word)))
    assert time.monotonic() - began < 5  # 0.1 s on a free core; a quadratic pattern takes minutes


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("npx mcp-remote URL --header X-API-Key:abc123def", "npx mcp-remote URL --header X-API-Key:***"),
        ('npx mcp-remote URL --header "X-API-Key: abc123def"', 'npx mcp-remote URL --header "X-API-Key: ***"'),
        ("npx mcp-remote URL -H=Authorization:Bearer\\ x", "npx mcp-remote URL -H=Authorization:***"),
        ("npx mcp-remote URL --header X-API-Key:$KEY", "npx mcp-remote URL --header X-API-Key:$KEY"),
        ("docker run keycloak:26.0.1-beta1", "docker run keycloak:26.0.1-beta1"),
    ],
)
def test_a_header_in_a_command_is_hidden_with_and_without_a_space(command: str, shown: str) -> None:
    assert scrub(command) == shown
