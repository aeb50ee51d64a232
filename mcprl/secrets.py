"""What must not leave this process, and the one function that hides it in texts.

A server may repeat what it was given: the Authorization header, a variable, its own command line. So `hide` is applied
to whatever comes from outside before anything else reads it: a server's replies (`servers.protocol`), its output and
its errors, a language model's errors. Nothing behind that needs to know of secrets: no journal, tracker, report or
judge. What the user configured is hidden where it is shown: `scrub` for a URL or a command.
"""

import base64
import json
import os
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote, unquote

from mcprl.config import SCRATCH, Config, ServerConfig
from mcprl.errors import ServerError
from mcprl.types import Json

_STRONG = (
    r"api[-_]?key|access[-_]?key|private[-_]?key|token(?!i[sz])|secret|passw(?:or)?d|passphrase|pwd|authorization|bearer"
    "|credential|cookie"
)
_TELLING = _STRONG + r"|key|auth(?!ors?(?![a-z]))|signature|dsn"
"""What the name of an option, variable, header or query field says if its value may be a secret; `_STRONG`, if it is
one even if it is a plain word."""
_OPTION_VALUE = r"""(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|(?:\\.|[^\s"'\\]|"(?=\S)[^"]*"|'(?=\S)[^']*')+)"""
_SECRET = re.compile(
    # Alternatives of two groups each: what is kept, and the secret behind it.
    r"(://)(?!\$)([^/\s]*)(?=@)"  # the user and password of a URL
    r"|([?&][^=&\s]+=)(?!\$)([^&\s]+)"  # a query value
    r"|((?<=[\w/])\?)(?!\$)([^=&\s]+)(?=[&\s]|$)"  # a query without a name
    rf"""|((?<!\S)(?:--headers?|-H)[\s=]+["']?[\w-]*(?:{_TELLING})[\w-]*:\s*"""  # a header, as an option
    r"(?:(?:bearer|basic|token)\s+)?+)(?!\$|\*\*\*(?!\w))(" + _OPTION_VALUE + ")"
    rf"|((?<![\w$-])[\w-]*(?:{_TELLING})[\w-]*"  # an option, variable or header
    r"""(?:["']\s*:\s*|:\s+|=|\s+)(?:(?:bearer|basic|token)\s+)?+)(?!["']?\$|\*\*\*(?!\w))(""" + _OPTION_VALUE + ")",
    re.IGNORECASE,
)
_SHAPES = re.compile(
    # Each begins with a letter, so that the search skips other text fast. `(?<![\w-].)` looks at what is before it: a
    # part of a longer word is no key, and no word is searched twice.
    r"s(?<![\w-]s)k-(?=[\w-]*\d)[\w-]{16,}"  # OpenAI, Anthropic and others
    r"|s(?<![\w-]s)k_(?:live|test)_\w{10,}|r(?<![\w-]r)k_(?:live|test)_\w{10,}|w(?<![\w-]w)hsec_\w{16,}"  # Stripe
    r"|g(?<![\w-]g)(?:h[pousr]_[A-Za-z0-9]{20,}|ithub_pat_\w{20,}|lpat-[\w-]{20,})"  # GitHub, GitLab
    r"|A(?<![\w-]A)(?:(?:KIA|SIA)[A-Z0-9]{16}(?!\w)|Iza[\w-]{35})|y(?<![\w-]y)a29\.[\w-]{20,}"  # AWS, Google
    r"|x(?<![\w-]x)(?:ox[abeoprs]|app)-[\w-]{10,}|S(?<![\w-]S)G\.[\w-]{16,}\.[\w-]{16,}"  # Slack, SendGrid
    r"|h(?<![\w-]h)f_[A-Za-z0-9]{30,}|n(?<![\w-]n)pm_[A-Za-z0-9]{36}|p(?<![\w-]p)ypi-[\w-]{50,}"  # HF, npm, PyPI
    r"|e(?<![\w-]e)yJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"  # a JSON web token
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|B(?<![\w-]B)(?:earer|asic)\s{1,4}(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*"
    r"|b(?<![\w-]b)(?:earer|asic)\s{1,4}(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*"
    r"|://[^/\s:@]{1,200}:[^/\s@]{1,200}(?=@)",  # the user and password of a URL
    re.DOTALL,
)
_KEPT = re.compile(r"(?:bearer|basic)\s+|://", re.IGNORECASE)
"""The beginning of a shape that is no part of the secret."""
_EXCERPT = "input_value=", ", input_type="
"""Between these pydantic's errors show a part of a reply: shortened in the middle, so it may hold parts of a secret."""
_REFERENCE = re.compile(r"(?<!\$)\$(?:(\w+)|\{(\w+)\})")
_OPEN_HEADER = re.compile(r"accept.*|content-.*|user-agent|host|origin|referer|connection|cache-control", re.IGNORECASE)
_ORDINARY = re.compile(r".{0,5}|\d{0,7}|\*+|bearer|digest", re.IGNORECASE | re.DOTALL)
"""Values that also stand in texts where they are no secret: hiding them would make results unreadable."""
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Za-z]).{8,}", re.DOTALL)


class _Known:
    """The values that this process knows to be secret, in all forms in which they may stand in texts."""

    def __init__(self) -> None:
        self.values: set[str] = set()
        self._forms: list[str] = []
        self._at_each = re.compile(r"(?!)")

    def add(self, values: Iterable[str]) -> None:
        self.values |= {value for value in values if not _is_plain(value)}
        forms = {form for value in self.values for form in _forms(value)}
        self._forms = sorted(forms, key=len, reverse=True)
        if forms:
            self._at_each = re.compile(f"(?=({'|'.join(map(re.escape, self._forms))}))")

    def hidden(self, text: str) -> str:
        """The text with "***" for each stretch that known values cover: of two that overlap, no rest is left."""
        if not any(form in text for form in self._forms):
            return text
        parts, end = list[str](), 0
        for match in self._at_each.finditer(text):
            start, stop = match.span(1)
            if start >= end:
                parts += (text[end:start], "***")
            end = max(end, stop)
        return "".join(parts) + text[end:]


_KNOWN = _Known()


def learn(servers: Sequence[ServerConfig] = ()) -> None:
    """Hide from now on the secrets of these servers' configuration and of this process's environment.

    They are: what `$NAME` stands for; values of headers; values of variables and options whose names say so, or which
    mix letters and digits; the user and password of a URL. Words of up to five letters and existing paths are none.
    """
    own = ((name, value) for name, value in os.environ.items() if re.search(_TELLING, name, re.IGNORECASE))
    _KNOWN.add(value for _, value in own if _MIXED.fullmatch(value))
    _KNOWN.add(value for config in servers for value in _values(config))


def learn_variable(name: str, value: str) -> None:
    """Hide a variable's value from now on, if its name says that it is secret or it looks so."""
    if _is_told(name, value) or re.search(_TELLING, name, re.IGNORECASE):
        _KNOWN.add([value])


def learn_values(values: Iterable[str]) -> None:
    """Hide these values from now on: tokens that a login gave."""
    _KNOWN.add(values)


def hide(text: str) -> str:
    """The text with "***" for what is known to be secret, and for what has the shape of a key. To be called before a
    text is cut.
    """
    text = _SHAPES.sub(_masked, _KNOWN.hidden(text))
    return "\n".join(map(_without_excerpt, text.split("\n"))) if _EXCERPT[0] in text else text


def _without_excerpt(line: str) -> str:
    """The line without what is between the first and the last of `_EXCERPT`: a regex for it takes quadratic time."""
    before, began, rest = line.partition(_EXCERPT[0])
    _, ended, after = rest.rpartition(_EXCERPT[1])
    return before + began + "***" + ended + after if ended else line


def hide_in_json(value: Json) -> Json:
    """The JSON value with its secrets hidden in all strings, keys included, and numbers that are secrets."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(str(key)): hide_in_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [hide_in_json(item) for item in value]
    number = isinstance(value, int) and 10**7 <= value < 10**18
    return "***" if number and str(value) in _KNOWN.values else value


def _masked(match: re.Match[str]) -> str:
    kept = _KEPT.match(match[0])
    return (kept[0] if kept else "") + "***"


def scrub(text: str) -> str:
    """A URL or command with "***" for its secrets, `$NAME` references kept.

    Secrets are the user and the query values of URLs, random parts of their paths, the values of options, variables and
    headers whose names say key, token, secret, password and the like, and what has the shape of a key. Not for prose,
    where such words have other meanings.
    """
    for part in _random_parts(text):
        text = text.replace(part, "***")
    return hide(_SECRET.sub(lambda match: match[_group(match) - 1] + "***", text))


def secrets_in(text: str) -> list[str]:
    """The values that `scrub` hides in a URL or command, without quotes around them."""
    return [value for _, value in _found(text)] + _random_parts(text)


def _found(text: str) -> Iterator[tuple[str, str]]:
    """What `_SECRET` finds: what stands before a secret, and the secret."""
    for match in _SECRET.finditer(text):
        yield match[_group(match) - 1], match[_group(match)].strip("\"'")


def _group(match: re.Match[str]) -> int:
    return match.lastindex or 0


def _random_parts(text: str) -> list[str]:
    """The parts of URLs' paths that look like a key: some services put one there."""
    parts = [part for url in re.findall(r"https?://[^\s'\"?#]+", text) for part in url.split("/")[3:]]
    return [part for part in parts if len(part) >= 20 and _MIXED.fullmatch(part) and re.search(r"[^\W_]{12}", part)]


def resolve(value: str, what: str) -> str:
    """`$NAME` and `${NAME}` replaced from the environment; `$$` is a dollar sign.

    Raises `ServerError`, which calls the value `what`, if a variable is not set, or if this is what a run's
    configuration has in a secret's place.
    """
    if value == "***":
        raise ServerError(f"{what} is ***, which stands for a value that was not written down; give the value itself")
    try:
        return string.Template(value).substitute(os.environ)
    except KeyError as error:
        raise ServerError(f"{what} wants ${error.args[0]}, which is not set in the environment") from None
    except ValueError:
        return value


def referenced(config: Config) -> list[str]:
    """The environment variables that the servers of a configuration name in their headers and variables (`$NAME`)."""
    values = [value for server in config.servers for value in (*server.headers.values(), *server.env.values())]
    return sorted({match[1] or match[2] for value in values for match in _REFERENCE.finditer(value)})


def plain_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names and values tell of no secret, references left out."""
    told = re.compile(_TELLING, re.IGNORECASE)
    return {
        name: value
        for name, value in variables.items()
        if not ("$" in value or told.search(name) or _is_told(name, value))
    }


def _values(config: ServerConfig) -> Iterator[str]:
    client_secret = config.oauth_client.get("secret", "")
    for text in (config.target, config.reset_command, config.reset_tool):
        yield from _random_parts(text)
        for before, value in _found(text):
            if before == "://" or _is_told(before, value):
                yield from (value, value.partition(":")[2], unquote(value), unquote(value.partition(":")[2]))
    for name, value in (*config.headers.items(), *config.env.items(), ("client_secret", client_secret)):
        references = [named or braced for named, braced in _REFERENCE.findall(value)]
        yield from (os.environ.get(reference, "") for reference in references)
        is_header = name in config.headers and not _OPEN_HEADER.fullmatch(name)
        if not references and (is_header or _is_told(name, value)):
            yield from (value, *(part for part in re.split(r"[\s;,=:]+", value) if len(part) >= 8))


def _is_told(name: str, value: str) -> bool:
    """Whether a name says that its value is secret, or the value looks so."""
    return not _is_plain(value) and bool(re.search(_STRONG, name, re.IGNORECASE) or _MIXED.fullmatch(value))


def _is_plain(value: str) -> bool:
    """Whether a value is a short word or number, a path that exists, or an address without a secret."""
    if _ORDINARY.fullmatch(value) or SCRATCH.match(value):
        return True
    is_address = re.fullmatch(r"\w+://\S*", value) is not None and not secrets_in(value)
    return is_address or ("/" in value and "\0" not in value and os.path.exists(os.path.expanduser(value[:4000])))


def _forms(value: str) -> tuple[str, ...]:
    """A value as servers repeat it: as it is, in a URL, in JSON, and in base64 as Basic authentication sends it."""
    encoded = base64.b64encode(value.encode()).decode()
    return value, quote(value, safe=""), json.dumps(value)[1:-1], encoded
