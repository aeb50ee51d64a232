"""`strict` tools: a call whose arguments do not meet the tool's schema is not handed on as a call.

Sampling is not held to the schema. Such a turn is text, and `malformed` says what is wrong with it, as with calls that
cannot be read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcprl.types import Completion

Schemas = Mapping[str, Draft202012Validator]
"""The schemas of strict tools by the tool's name."""


def schema(parameters: dict[str, Any]) -> Draft202012Validator:
    """A tool's parameters as a schema that can check. Raises `ValueError` if they are none."""
    try:
        Draft202012Validator.check_schema(parameters)
    except (SchemaError, RecursionError) as error:
        raise ValueError(f"its parameters are no JSON Schema: {getattr(error, 'message', error)}") from None
    return Draft202012Validator(parameters, registry=Registry())  # a registry of nothing: no reference is fetched


def checked(tokenizer: Any, end_ids: Sequence[int], completion: Completion, schemas: Schemas) -> Completion:
    """The turn, as text if one of its calls does not meet its schema."""
    functions = [call["function"] for call in completion.message.get("tool_calls") or () if schemas]
    problems = [
        f"the call of {function['name']} does not meet its schema: {problem}"
        for function in functions
        if function["name"] in schemas and (problem := _problem(schemas[function["name"]], function["arguments"]))
    ]
    if not problems:
        return completion
    ids = [token for token in completion.completion_ids if token not in end_ids]
    message = {"role": "assistant", "content": str(tokenizer.decode(ids, skip_special_tokens=False))}
    reason = "stop" if completion.finish_reason == "tool_calls" else completion.finish_reason
    return replace(completion, message=message, finish_reason=reason, malformed=(*completion.malformed, *problems))


def _problem(validator: Draft202012Validator, arguments: str) -> str:
    try:
        error = next(iter(validator.iter_errors(json.loads(arguments))), None)
    except (Unresolvable, RecursionError) as unresolved:
        return f"the schema cannot be read: {unresolved}"
    return error.message if error else ""
