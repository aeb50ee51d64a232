"""What tests of making tasks share: the shop over HTTP, where a session is no process, and what probing found out."""

from collections.abc import Generator

import pytest
from support.loopback import shop_over_http
from support.once import remembered_probes

from mcprl.config import ServerConfig


@pytest.fixture(scope="session")
def shop() -> Generator[ServerConfig]:
    with shop_over_http() as url:
        yield ServerConfig(target=url)


@pytest.fixture(scope="module")
def probed_once() -> Generator[None]:
    """`generate` probes equal servers once and plays the adversaries on one task."""
    yield from remembered_probes()
