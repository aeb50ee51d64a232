"""Models of the hub where it cannot be reached: what is in the cache is taken, the rest fails at once."""

from collections.abc import Iterator

import httpx
import pytest
from huggingface_hub import constants

from mcprl.config import ModelConfig
from mcprl.errors import ModelError
from mcprl.models.load import read_info
from mcprl.models.places import offline_unless_reachable


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    offline_unless_reachable.cache_clear()
    yield
    offline_unless_reachable.cache_clear()


def test_a_model_of_a_hub_that_cannot_be_reached_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    send = httpx.Client.send

    def noting(self: httpx.Client, request: httpx.Request, **given: object) -> httpx.Response:
        asked.append(f"{request.method} {request.url}")
        return send(self, request, **given)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(httpx.Client, "send", noting)
    for _ in range(2):
        with pytest.raises(ModelError, match=r"model 'nobody/nothing' cannot be loaded .* couldn't connect"):
            read_info(ModelConfig(name="nobody/nothing"))
    assert asked == ["HEAD http://127.0.0.1:9"]
    assert constants.HF_HUB_OFFLINE


def test_a_hub_that_answers_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx.Client, "send", lambda *_, **__: httpx.Response(404))  # pyright: ignore[reportUnknownLambdaType]
    offline_unless_reachable()
    assert not constants.HF_HUB_OFFLINE
