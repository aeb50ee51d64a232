"""Tasks that need what another one wrote are dropped, those that only came too late are kept. On a real repository."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from support.fixtures import make_git
from support.paths import GIT_SERVER

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.replays import Replays
from mcprl.servers.server import connect
from mcprl.types import Call, Scenario, Session, StateHolds

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git")


def switch(branch: str, repository: Path) -> Scenario:
    call = Call("git_checkout", {"repo_path": str(repository), "branch_name": branch})
    look = StateHolds("git_status", {"repo_path": str(repository)}, (branch,))
    return Scenario(branch, f"Switch to {branch}.", (look,), (call,), "Done.")


def create(branch: str, repository: Path) -> Scenario:
    call = Call("git_create_branch", {"repo_path": str(repository), "branch_name": branch})
    look = StateHolds("git_branch", {"repo_path": str(repository), "branch_type": "local"}, (branch,))
    return Scenario(f"new {branch}", f"Make a branch {branch}.", (look,), (call,), "Done.")


async def test_what_needs_another_tasks_write_is_dropped_and_what_came_too_late_is_kept(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    make_git(repository)
    target = ServerConfig(target=f"{GIT_SERVER} --repository {repository}", timeout_s=60)
    async with connect([target], ToolPolicy(sandbox=True)) as server:
        opened = count()

        @asynccontextmanager
        async def fresh() -> AsyncGenerator[Session]:
            shutil.rmtree(repository)
            make_git(repository)
            next(opened)
            async with server.session(()) as session:
                yield session

        theirs, made = switch("feature/night-tariff", repository), create("late-tide", repository)
        replays = Replays(server, Knowledge({}, {}))
        kept = await replays.independent(fresh, [theirs, made, switch("late-tide", repository)])
        assert kept == [theirs, made]
        assert await replays.independent(fresh, [theirs, theirs]) == [theirs, theirs]
        assert next(opened) == 4
