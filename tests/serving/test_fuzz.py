"""Requests that schemathesis and hypothesis make up from the OpenAPI document: none is an error of the server."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.served import KEY, Endpoint, served_here

HEADERS = {"Authorization": f"Bearer {KEY}"}
FEW = settings(
    max_examples=4,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.data_too_large,  # a body with groups of trajectories is large
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def endpoint(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Endpoint]:
    with served_here(str(tiny_model), tmp_path_factory.mktemp("runs")) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def plain(endpoint: Endpoint) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=endpoint.root, headers=HEADERS, timeout=60) as plain:
        yield plain


def test_no_request_that_the_openapi_document_allows_is_an_error_of_the_server(plain: httpx2.Client) -> None:
    document = plain.get("/openapi.json").json()
    found: list[Any] = list(schemathesis.openapi.from_dict(document).get_all_operations())
    operations = [each.ok() for each in found]
    seen = {operation.label: _statuses(plain, operation) for operation in operations}
    assert len(seen) == 14
    assert {200, 400} <= set[int]().union(*seen.values())


def _statuses(plain: httpx2.Client, operation: Any) -> set[int]:
    """The statuses of the answers to requests that are made up for a route. None may be 500 or more."""
    statuses: set[int] = set()

    # Groups of trajectories take seconds to make up, and test_training.py makes up their parts.
    @settings(FEW, max_examples=1 if operation.path == "/_train_model" else 4)
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        body = case.body if isinstance(case.body, dict) else None
        if body and "model" in body:  # a made up name would end every request
            body |= {"model": "latest", "n": 1, "max_tokens": 2}
        answer = plain.request(case.method, case.formatted_path, params=case.query or None, content=_sent(body))
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (operation.label, body, answer.text)

    send()
    return statuses


def _sent(body: dict[str, Any] | None) -> bytes | None:
    return None if body is None else json.dumps(body).encode()


@settings(FEW, max_examples=20)
@given(st.sampled_from(["turns", "rollout", "messages_and_choices", "tools", "additional_histories"]), JSON)
def test_no_demonstration_whatever_its_content_is_an_error_of_the_server(
    plain: httpx2.Client, name: str, value: Any
) -> None:
    written = {"messages_and_choices": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": value}]}
    for trajectory in ({name: value}, written):
        body = json.dumps({"trajectories": [trajectory], "config": {"learning_rate": 0}})
        answer = plain.post("/_train_sft", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (200, 400), answer.text
        assert '"type": "error"' not in answer.text
