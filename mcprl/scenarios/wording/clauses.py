"""What an answer says of one field of a thing: it costs EUR 35.45, they joined in 2024, it is 10:05 in Brussels."""

import re
from collections.abc import Sequence

from mcprl.scenarios.intents import Attribute, Outcome
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.fields import date_verbs
from mcprl.scenarios.wording.modifiers import either_of, in_full, is_adjective, noun_label, what_was_done
from mcprl.scenarios.wording.nouns import ABSTRACT, is_person
from mcprl.scenarios.wording.values import moment_text, plain
from mcprl.text import ahead_or_behind
from mcprl.types import Scalar

_UNSPOKEN = re.compile(r'[/."]|\b(?=[a-f]*\d)[\da-f]{7,40}\b')
"""Paths, titles and hashes: names that take no 's."""

_STORED = {"shelf": "on shelf", "aisle": "in aisle", "bin": "in bin", "rack": "on rack", "bay": "in bay"}
"""Where goods are kept, with the code of the place."""
_HOMES = ("city", "town", "country", "state", "village")
_TITLES = ("message", "title", "subject", "headline")
"""What is quoted, whatever it means."""


def value_text(attribute: Attribute, value: Scalar) -> str:
    """A value for an answer: with its unit, dates in words, truth values as yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if attribute.meaning in ("date", "datetime"):
        return moment_text(value)
    text = plain(value)
    if attribute.meaning in ("category", "status") and " / " in text:
        return text.lower().replace(" / ", " or ")
    if attribute.meaning in ("category", "status") and re.fullmatch(r"[a-z]+(?:_[a-z]+)+", text):
        return text.replace("_", " ")
    if isinstance(value, str) or not attribute.unit:
        return text
    if attribute.unit == "%":
        return f"{text}%"
    return (
        f"{attribute.unit} {text}"
        if attribute.meaning == "money" and attribute.unit.isupper()
        else f"{text} {attribute.unit}"
    )


def stated(subject: str, asked: Sequence[Attribute], outcome: Outcome) -> str:
    """One clause per field: `It costs EUR 35.45 and its stock is 3.`"""
    said = [clause(subject, attribute, value) for attribute, value in zip(asked, outcome, strict=False)]
    return " ".join(ended(grammar.capitalised(one)) for one in said)


def ended(text: str) -> str:
    """A sentence with its full stop, unless it ends in one or in a link, to which the stop would seem to belong."""
    return text if re.search(r'[.?!]"?$|://\S+$', text) else f"{text}."


def clause(subject: str, attribute: Attribute, value: Scalar) -> str:
    """What is said of a subject's field: `it costs EUR 35.45`."""
    text = value_text(attribute, value)
    label = noun_label(attribute) if attribute.meaning == "email" else in_full(attribute)
    label = label.partition(" in the ")[0]  # the city in the address
    they = subject == "They"
    s, be, was = ("", "are", "were") if they else ("s", "is", "was")
    of = _of(subject, label)
    low = subject[:1].lower() + subject[1:] if subject.startswith(("It", "They", "The ")) else subject
    if offset := ahead_or_behind(value):
        return f"{subject} {be} {offset}"
    if said := _by_its_verb(subject, attribute, label, text):
        return said
    head, _, kind = attribute.label.rpartition(" ")
    if kind == "type" and head in ABSTRACT:  # an entity's type
        return f"{subject} {be} listed as {grammar.a(text) if text.islower() and text.isalpha() else text}"
    if re.fullmatch(r"[A-Z][A-Z\d_]+", attribute.label):  # a variable, which is nobody's
        return f"{attribute.label} is {text}"
    if either_of(attribute):
        return f"{subject} {be} {text.replace('_', ' ')}"
    if attribute.meaning == "money" and attribute.label in ("price", "cost", "unit price"):
        return f"{subject} cost{s} {text}"
    if attribute.meaning == "measure" and attribute.label == "weight":
        return f"{subject} weigh{s} {text}"
    if isinstance(value, bool):
        if is_adjective(attribute.label):
            return f"{'Yes' if value else 'No'}, {low} {be}{'' if value else ' not'} {label}"
        return f"{'Yes' if value else 'No'}, {low} {'have' if they else 'has'}{'' if value else ' no'} {label}"
    if attribute.meaning in ("date", "datetime") and (verbs := date_verbs(attribute)) and len(text) < 40:
        return f"{subject} {was} {verbs[0]} on {text}"
    if attribute.meaning == "count" and label in ("stock", "quantity in stock", "in stock", "inventory"):
        return f"we have {text} in stock" if subject in ("It", "They") else f"we have {text} of {low} in stock"
    if parts := what_was_done(attribute):  # 3 lines were added in docs/season.md
        counted = f"{text if value else 'no'} {grammar.one(parts['counted']) if value == 1 else parts['counted']}"
        where = "" if subject in ("It", "They") else f" {parts['side']} {low}"
        return f"{counted} {'was' if value == 1 else 'were'} {parts['done']}{where}"
    if attribute.meaning == "count" and grammar.is_plural(label):
        return f"{subject} {'have' if they else 'has'} {text} {grammar.one(label) if value == 1 else label}"
    titled = attribute.label.split()[-1] in _TITLES
    few = len(text.split()) < 4 and re.fullmatch(r"[\w' -]+", text) and not titled
    if (attribute.meaning == "text" or titled) and " " in text and not text[0].isdigit() and not few:
        return f'{of} is "{text}"' if '"' not in text else f"{of} is: {text}"
    return f"{of} {'are' if grammar.is_plural(label) else 'is'} {text}"


def _by_its_verb(subject: str, attribute: Attribute, label: str, text: str) -> str:
    """What is said of a field that has a verb of its own: where somebody lives, on which shelf a thing is; or empty."""
    they = subject == "They"
    s, be = ("", "are") if they else ("s", "is")
    if label == "size" and attribute.meaning == "measure" and attribute.unit:
        return f"{subject} {be} {text}"
    if label in _STORED:
        quoted = f'{_of(subject, label)} is "{text}"'
        return f"{subject} {be} {_STORED[label]} {text}" if re.search(r"\d", text) else quoted
    if label in _HOMES and (they or (subject.startswith("The ") and is_person(subject[4:]))):
        return f"{subject} live{s} in {text}"
    if label in ("breed", "species") and text[:1].isalpha():
        return f"{subject} {be} {grammar.a(text)}"
    if label == "stage":
        return f"{subject} {be} at the {text} stage"
    if (label, attribute.meaning) in (("day", "date"), ("time", "time")):
        return f"{subject} {be} {'on' if label == 'day' else 'at'} {text}"
    return f"{subject} joined in {text}" if label == "joining year" else ""


def _of(subject: str, label: str) -> str:
    """A subject's field: `Ana's city`, `the date of commit 3f2a9c1`."""
    if subject in ("They", "It"):
        return f"{'their' if subject == 'They' else 'the'} {label}"
    owner, _, rest = label.partition("'s ")
    if rest:  # the author's email address
        return f"the {rest} of the {owner} of {subject}"
    lengthy = len(subject.split()) > 3 or _UNSPOKEN.search(subject)
    return f"the {label} of {subject}" if lengthy else f"{grammar.possessive(subject)} {label}"


def computed(attribute: Attribute, value: Scalar, place: str = "") -> str:
    """What is said of a value that a tool worked out, perhaps for a place."""
    if offset := ahead_or_behind(value):
        return f"it's {offset}"
    label = in_full(attribute)
    where = f" in {place}" if place else ""
    return f"the {label}{where} {'are' if grammar.is_plural(label) else 'is'} {value_text(attribute, value)}"


def combined(of: Attribute, how: str, result: Scalar) -> str:
    """What is said of the sum or the difference of a field of two things."""
    text, things = value_text(of, result), in_full(of)
    if of.meaning == "money" and isinstance(result, float) and not result.is_integer():
        text = text.replace(plain(result), f"{result:.2f}")
    if how != "sum":
        return f"The difference in {noun_label(of)} is {text}."
    counted = of.meaning == "count" and grammar.is_plural(things)
    return f"Together that's {text} {things}." if counted else f"Together that's {text}."
