"""What is wrong with a request, as an HTTP status and an error in OpenAI's shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcprl.errors import EngineError, McprlError, PromptTooLong, RequestRefused, UnsupportedSchema

UNSUPPORTED = "unsupported"
"""The type of a pydantic error for a value that OpenAI's API has and this one has not."""
_TYPES = {401: "authentication_error", 429: "rate_limit_error"}


class Refusal(Exception):
    """A request that is answered with an error. `param` is the place in its body: `messages[0].content`."""

    def __init__(self, status: int, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    @property
    def body(self) -> dict[str, Any]:
        """The error in OpenAI's shape."""
        kind = _TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


def invalid(errors: Sequence[Mapping[str, Any]], *inside: str | int) -> Refusal:
    """The refusal of a body that pydantic does not accept: its first error. `inside` leads to the body that was
    checked, if it is part of the request's."""
    first = errors[0]
    found = [part for part in first["loc"] if part != "body"]
    param = place((*inside, *found)) or None
    if first["type"] == "extra_forbidden":
        return Refusal(400, f"{param} is unknown or not supported here; leave it out", param, "unsupported_parameter")
    if first["type"] == "missing":
        return Refusal(400, f"{param or 'the body'} is missing", param, "missing_parameter")
    if first["type"] == "json_invalid":
        return Refusal(400, f"the body is not JSON: {first['ctx']['error']}", None, "invalid_json")
    if first["type"] == UNSUPPORTED:
        return Refusal(400, f"{param}: {first['msg']}", param, "unsupported_value")
    if first["type"] == "model_attributes_type" and not param:
        header = "send it with the header Content-Type: application/json"
        return Refusal(400, f"the body was not read as a JSON object; {header}", None, "invalid_json")
    problem = str(first["msg"]).removeprefix("Value error, ")
    given = "" if isinstance(first["input"], Mapping | list) else f", not {str(first['input'])[:80]!r}"
    return Refusal(400, f"{param or 'the body'}: {problem}{given}", param, "invalid_value")


def place(parts: Sequence[str | int]) -> str:
    """A place in JSON as people write it: `messages[0].content`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


def of_error(error: McprlError) -> Refusal:
    """The refusal for an error of ours: what the request could cure is its fault."""
    if isinstance(error, PromptTooLong):
        return Refusal(400, str(error), "messages", "context_length_exceeded")
    if isinstance(error, UnsupportedSchema):
        return Refusal(400, str(error), "response_format", "invalid_value")
    if isinstance(error, RequestRefused):
        return Refusal(400, str(error), code="invalid_value")
    if isinstance(error, EngineError):
        return Refusal(503, f"the engine cannot serve this: {error}", code="engine_error")
    return Refusal(500, str(error), code="internal_error")
