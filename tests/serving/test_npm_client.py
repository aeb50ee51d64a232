"""The npm package `openai` at a served model: calls, streams, errors, many at once, an agent whose rollouts train.

The agent is the one of docs/agents.md.
"""

import json
import re
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.paths import NODE_BIN, ROOT
from support.served import KEY, Endpoint, served_here

PACKAGES = NODE_BIN.parent
pytestmark = [
    pytest.mark.npm,
    pytest.mark.skipif(not shutil.which("node"), reason="no node"),
    pytest.mark.skipif(not (PACKAGES / "openai").is_dir(), reason="the npm package openai is not installed: npm ci"),
]
AGENT, UPDATE = re.findall(r"^```js\n(.*?)^```$", (ROOT / "docs" / "agents.md").read_text(), re.MULTILINE | re.DOTALL)
GIVEN = """
const [url, key] = process.argv.slice(2);
const parameters = { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] };
const tools = [{ type: "function", function: { name: "get_order", description: "Get an order.", parameters } }];
const called = [];
async function call(name, given) {
  called.push(name);
  return JSON.stringify({ ...given, status: "paid" });
}
"""
MANY = """
const question = "What is the status of order O-2043?";
const asked = { model: "latest", temperature: 0, messages: [{ role: "user", content: question }], tools };
const failed = (promise) => promise.then(() => null, ({ status, param, code }) => ({ status, param, code }));
const whole = async () => (await openai.chat.completions.create(asked)).choices[0].message;
const streamed = () => openai.chat.completions.stream(asked).finalMessage();
const numbers = [...Array(8).keys()];
const [answers, wholes, streams, errors] = await Promise.all([
  Promise.all(numbers.map((n) => play(`js ${n}`, question))),
  Promise.all(numbers.map(whole)),
  Promise.all(numbers.map(streamed)),
  Promise.all([
    failed(openai.chat.completions.create({ ...asked, tool_choice: "required" })),
    failed(openai.chat.completions.create({ ...asked, model: "other" })),
    failed(openai.chat.completions.create({ ...asked, stream: true, messages: [] })),
    failed(new OpenAI({ baseURL: url, apiKey: "wrong" }).models.list()),
  ]),
]);
const events = await train(numbers.map((n) => ({ rollout: `js ${n}`, reward: n })));
console.log(JSON.stringify({ answers, wholes, streams, errors, called, events }));
"""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[Endpoint]:
    with served_here("nano", tmp_path_factory.mktemp("runs")) as endpoint:
        yield endpoint


async def test_the_npm_package_reads_calls_streams_and_errors_and_its_agents_rollouts_train(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    (tmp_path / "agent.mjs").write_text(GIVEN + AGENT + UPDATE + MANY)
    done = await anyio.run_process(["node", str(tmp_path / "agent.mjs"), endpoint.url, KEY], check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert len(seen["answers"]) == 8
    assert {"get_order"} <= {*seen["called"]}
    for message in (*seen["wholes"], *seen["streams"]):
        (call,) = message["tool_calls"]
        assert (call["function"]["name"], call["function"]["arguments"]) == ("get_order", '{"order_id": "O-2043"}')
    assert seen["errors"] == [
        {"status": 400, "param": "tool_choice", "code": "unsupported_value"},
        {"status": 404, "param": "model", "code": "model_not_found"},
        {"status": 400, "param": "messages", "code": "invalid_value"},
        {"status": 401, "param": None, "code": "invalid_api_key"},
    ]
    assert [event["type"] for event in seen["events"]] == ["job", "gradient_step", "adapter"]
    assert seen["events"][1]["exactness"] == 1.0


def test_each_block_of_the_page_is_short() -> None:
    assert all(len(block.splitlines()) < 20 for block in (AGENT, UPDATE))
