"""docs/agents.md: an agent of each framework plays with the shop's tools at a served model, and its rollouts train."""

import ast
import inspect
import re
from collections.abc import Generator, Mapping
from itertools import count
from typing import Any

import httpx2
import pytest
from support.paths import ROOT, SHOP
from support.served import KEY, Endpoint, served_here

from mcprl import connect
from mcprl.config import ServerConfig, ToolPolicy
from mcprl.types import Session, ToolResult

PAGE = (ROOT / "docs" / "agents.md").read_text()
BLOCKS = re.findall(r"^```python[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMON, *FRAMEWORKS, UPDATE = BLOCKS
NAMES = ["pydantic_ai", "agents", "langgraph"]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[Endpoint]:
    with served_here("nano", tmp_path_factory.mktemp("runs")) as endpoint:
        yield endpoint


def sampled(endpoint: Endpoint) -> int:
    """The tokens that the server has sampled."""
    text = httpx2.get(f"{endpoint.root}/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
    return int(sum(float(each) for each in re.findall(r'mcprl_tokens_total{kind="completion"} (\S+)', text)))


async def run(namespace: dict[str, Any], *blocks: str) -> None:
    for block in blocks:
        made = eval(compile(block, "docs/agents.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace)
        if inspect.iscoroutine(made):
            await made


def test_each_block_of_the_page_is_short() -> None:
    assert [name in block for name, block in zip(NAMES, FRAMEWORKS, strict=True)] == [True] * 3
    assert all(len(block.splitlines()) < 20 for block in BLOCKS)


class Noting:
    """A session, and the names of the tools that were called in it."""

    def __init__(self, session: Session) -> None:
        self._session, self.called = session, list[str]()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.called.append(tool)
        return await self._session.call(tool, arguments)


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=NAMES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the frameworks' own
async def test_a_frameworks_agent_calls_tools_and_every_token_that_it_sampled_trains(
    endpoint: Endpoint, framework: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sampled(endpoint)
    async with connect([ServerConfig(target=SHOP)], ToolPolicy(read_only=True)) as shop, shop.session() as session:
        noting = Noting(session)
        places = count()  # rewards that differ, whatever is sampled
        names: dict[str, Any] = {"URL": endpoint.url, "KEY": KEY, "session": noting, "reward": lambda _: next(places)}
        await run(names, COMMON, framework, UPDATE)
        await names["openai"].close()
        if latest := names.get("latest"):
            await latest.root_async_client.close()
    assert {*noting.called} == {"get_order"}
    assert names["metrics"]["trained_tokens"] == sampled(endpoint) - before
    assert names["metrics"]["sampler_gap_mean"] < 0.02  # the update is in bfloat16
    assert capsys.readouterr().out == "exactness 100%\n"
