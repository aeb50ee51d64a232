"""What a server's configuration keeps secret, hidden in the texts that a server's failure leaves behind.

A server may echo in an error what it was given: the Authorization header, a variable, its own command line. Errors end
on the screen, in the log and in the journal.
"""

import json
import os
import re
import string
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.text import secrets_in
from mcprl.types import Json

_REFERENCE = re.compile(r"(?<!\$)\$(?:(\w+)|\{(\w+)\})")
_EXCERPT = r"(?<=input_value=).*(?=, input_type=)"
"""What pydantic's errors show of a reply: shortened in the middle, so it may hold parts of a secret."""
_SHORTEST_SECRET = 4
_SHORTEST_LITERAL = 8
"""Characters. A shorter value (a port, a flag) also stands in texts where it is no secret."""


class Secrets:
    """The secret values of some servers, read from the environment once.

    They are: what `$NAME` stands for in a header or variable, other values of headers and variables, and what
    `text.scrub` hides in the target and in what resets the server.
    """

    def __init__(self, servers: Sequence[ServerConfig]) -> None:
        values = {value for config in servers for value in _values(config)}
        forms = {form for value in values for form in (value, quote(value, safe=""), json.dumps(value)[1:-1])}
        longest_first = sorted(forms, key=len, reverse=True)
        parts = [_EXCERPT, *map(re.escape, longest_first)] if forms else [r"(?!)"]
        self._pattern = re.compile("|".join(parts))

    def hide(self, text: str) -> str:
        """The text with "***" for each secret value. To be called before the text is cut."""
        return self._pattern.sub("***", text)

    def hide_in_json(self, value: Json) -> Json:
        """The JSON value with its secrets hidden in all strings, keys included."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {self.hide(str(key)): self.hide_in_json(item) for key, item in value.items()}
        return [self.hide_in_json(item) for item in value] if isinstance(value, list) else value


def resolve(value: str, what: str) -> str:
    """`$NAME` and `${NAME}` replaced from the environment; `$$` is a dollar sign.

    Raises `ServerError`, which calls the value `what`, if a variable is not set.
    """
    try:
        return string.Template(value).substitute(os.environ)
    except KeyError as error:
        raise ServerError(f"{what} wants ${error.args[0]}, which is not set in the environment") from None
    except ValueError:
        return value


def _values(config: ServerConfig) -> Iterator[str]:
    for value in (*secrets_in(config.target), *secrets_in(config.reset_command), *secrets_in(config.reset_tool)):
        yield from _long_enough([value, value.partition(":")[2]], _SHORTEST_SECRET)
    for value in (*config.headers.values(), *config.env.values()):
        names = [name or braced for name, braced in _REFERENCE.findall(value)]
        yield from _long_enough([os.environ.get(name, "") for name in names], _SHORTEST_SECRET)
        if not names and not value.startswith("{scratch}"):
            yield from _long_enough([value, *value.split()], _SHORTEST_LITERAL)


def _long_enough(values: Sequence[str], shortest: int) -> Iterator[str]:
    return (value for value in values if len(value) >= shortest)
