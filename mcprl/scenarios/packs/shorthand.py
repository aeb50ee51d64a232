"""Short forms in which people write down calls, expected facts and states, in a cell of a table or after a flag.

    calls    get_order(order_id='O-17'); get_product {"sku": "SKU-3"}
    facts    35.45; status=shipped; EUR 12.50
    states   get_order(order_id='O-17') => 'shipped', not 'open'

Every function raises `ValueError` with the text that it could not read and what was expected.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from mcprl.types import Call, Fact, Meaning, Scalar, StateHolds

_CALL = re.compile(r"\s*([^\s(){}'\"=;,]+)\s*(?:\((.*)\)|(\{.*\}))\s*", re.DOTALL)
_NAMED = re.compile(r"([A-Za-z][\w -]*?)\s*=\s*(.+)", re.DOTALL)
_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?"
_AMOUNT = rf"(?P<amount>-?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|{_NUMBER})"
_CURRENCY = r"(?P<currency>[€$£]|(?:EUR|USD|GBP|CHF|JPY|SEK|CAD|AUD|INR|CNY)\b)"
_MONEY = re.compile(rf"{_CURRENCY}\s?{_AMOUNT}")
_MONEY_BEHIND = re.compile(rf"{_AMOUNT}\s?{_CURRENCY}")
_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP"}
_JSON_WORDS = {"true": True, "false": False, "null": None}
_MEANINGS: tuple[tuple[Meaning, str], ...] = (
    ("date", r"\d{4}-\d\d-\d\d"),
    ("datetime", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*"),
    ("time", r"\d?\d:\d\d(?::\d\d)?"),
    ("email", r"[^@\s]+@[^@\s]+\.\w+"),
    ("url", r"https?://\S+"),
)


def read_calls(text: str) -> tuple[Call, ...]:
    """`get_order(order_id='O-17'); get_product {"sku": "SKU-3"}` as calls."""
    return tuple(_read_call(part) for part in parts(text, ";"))


def _read_call(text: str) -> Call:
    match = _CALL.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a call; expected one like get_order(order_id='O-17')")
    name, inside, arguments = match.groups()
    if arguments is None:
        return Call(name, _keywords(text, inside))
    try:
        return Call(name, json.loads(arguments))
    except ValueError as error:
        raise ValueError(f"{text!r}: its arguments are not JSON ({error})") from None


def _keywords(text: str, inside: str) -> dict[str, Any]:
    """The arguments `a=1, b='x'` of the call that `text` spells."""
    try:
        tree = ast.parse(f"call({inside.strip()})", mode="eval").body
        if not isinstance(tree, ast.Call) or tree.args or any(each.arg is None for each in tree.keywords):
            raise ValueError("an argument without a name")
        return {str(each.arg): _literal(each.value) for each in tree.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(
            f"{text!r}: its arguments cannot be read; expected name=value with text in quotes, "
            "such as get_order(order_id='O-17', limit=5)"
        ) from None


def _literal(node: ast.expr) -> Any:
    """The value of a literal; JSON's `true`, `false` and `null` count as literals."""
    if isinstance(node, ast.Name) and node.id in _JSON_WORDS:
        return _JSON_WORDS[node.id]
    return ast.literal_eval(node)


def read_facts(text: str) -> tuple[Fact, ...]:
    """`35.45; status=shipped` as facts. A name is optional; a value in quotes is text as it stands."""
    return tuple(_read_fact(part) for part in parts(text, ";"))


def _read_fact(text: str) -> Fact:
    match = _NAMED.fullmatch(text)
    return fact(match[2], match[1].strip()) if match else fact(text)


def fact(written: Scalar, name: str = "") -> Fact:
    """The fact that a person expects: its value, meaning and unit as far as the spelling says them.

    It counts as derived: a person says what the answer must state, not which result holds it.
    """
    if isinstance(written, str):
        text = written.strip()
        if match := _MONEY.fullmatch(text) or _MONEY_BEHIND.fullmatch(text):
            currency = _SYMBOLS.get(match["currency"], match["currency"])
            return Fact(_number(match["amount"].replace(",", "")), name, "money", currency, derived=True)
        if match := re.fullmatch(rf"({_NUMBER})\s?%", text):
            return Fact(_number(match[1]), name, "percent", "%", derived=True)
        written = scalar(text)
    return Fact(written, name, _meaning(written), derived=True)


def _meaning(value: Scalar) -> Meaning:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    for meaning, pattern in _MEANINGS:
        if re.fullmatch(pattern, value):
            return meaning
    return "text"


def read_states(text: str) -> tuple[StateHolds, ...]:
    """`get_order(order_id='O-17') => 'shipped', not 'open'` as states, one for each call before a `=>`."""
    return tuple(_read_state(part) for part in parts(text, ";"))


def _read_state(text: str) -> StateHolds:
    left, arrow, right = text.partition("=>")
    listed = list(parts(right, ","))
    if not arrow or not listed:
        raise ValueError(f"{text!r} is not a state; expected one like get_order(order_id='O-17') => 'shipped'")
    call = _read_call(left)
    gone = [re.sub(r"^not\s+", "", part) for part in listed if re.match(r"not\s", part)]
    values = [part for part in listed if not re.match(r"not\s", part)]
    return StateHolds(call.tool, call.arguments, tuple(map(scalar, values)), tuple(map(scalar, gone)))


def scalar(text: str) -> Scalar:
    """The value that a person wrote: text in quotes as it stands, else a number, a truth value, or the text."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    return _number(text) if re.fullmatch(_NUMBER, text) else text


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def parts(text: str, separator: str) -> Iterator[str]:
    """The parts between separators that stand outside of quotes and brackets, trimmed; empty ones are left out.

    A quote opens at the beginning of a value only, so that the apostrophe of a word is a letter.
    """
    quote, depth, start, before = "", 0, 0, separator
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "'\"" and before in f"{separator}=,:([{{":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == separator and depth <= 0:
            if part := text[start:at].strip():
                yield part
            start = at + 1
        before = before if char.isspace() else char
    if part := text[start:].strip():
        yield part
