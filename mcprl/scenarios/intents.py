"""Intents: what a task asks for, before it is put into words.

The planner makes an intent of an executed plan. `writers.plain` makes a request of it, and the answer that
the plan's results prove. Nothing here depends on how a server spells its fields: labels, meanings and units are for
people.
"""

from dataclasses import dataclass
from typing import Any, Literal

from mcprl.types import Meaning, Scalar


@dataclass(frozen=True)
class Attribute:
    """A field of a thing. `key` is the server's name for it, `label` a person's: `unit_price` is `price`.

    `choices` are its possible values, if the schema or the data say that there are only a few.
    """

    key: str
    label: str
    meaning: Meaning = "text"
    unit: str = ""
    choices: tuple[Scalar, ...] = ()


COUNT = Attribute("count", "number", "count")
"""How many there are."""


@dataclass(frozen=True)
class Value:
    """An attribute with one value: a filter, an argument, or what names a thing.

    A filter may also hold what is `not` the value, or `over` or `under` it.
    """

    attribute: Attribute
    value: Scalar
    how: Literal["is", "not", "over", "under"] = "is"


@dataclass(frozen=True)
class Top:
    """The most or the least of an attribute: the newest, the cheapest."""

    by: Attribute
    most: bool


@dataclass(frozen=True)
class Reference:
    """How a request names one thing: `order` by its identifier, by its name, or by a description of several values.

    Without values it is the only thing of its kind, or the server as a whole. With `top` it is the one of the things
    with these values that has the most or the least of something.
    """

    noun: str
    values: tuple[Value, ...] = ()
    top: Top | None = None


@dataclass(frozen=True)
class Lookup:
    """One or two attributes of one thing: how much is the oak shelf, and how many are left?"""

    thing: Reference
    asked: tuple[Attribute, ...]


@dataclass(frozen=True)
class Each:
    """The same attribute of several things. `given` are values that the request states for all of them: the moment that
    is converted for several places."""

    things: tuple[Reference, ...]
    asked: Attribute
    given: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Compare:
    """Which of several things has the most (or least) of `by`. The answer names the winner as the request did."""

    things: tuple[Reference, ...]
    by: Attribute
    most: bool


@dataclass(frozen=True)
class Combine:
    """The sum or the difference of an attribute of two things."""

    things: tuple[Reference, Reference]
    of: Attribute
    how: Literal["sum", "difference"]


@dataclass(frozen=True)
class Relation:
    """An attribute of a thing that is reached from `start` through things of the kinds `via`: the e-mail address of the
    customer (`via`) who placed order O-17 (`start`)."""

    start: Reference
    via: tuple[str, ...]
    asked: tuple[Attribute, ...]


@dataclass(frozen=True)
class Count:
    """How many things of a kind there are with these values, or only `whether` there are any."""

    noun: str
    where: tuple[Value, ...]
    whether: bool = False


@dataclass(frozen=True)
class Total:
    """The sum or the average of an attribute over the things with these values."""

    noun: str
    where: tuple[Value, ...]
    of: Attribute
    how: Literal["sum", "average"] = "sum"


@dataclass(frozen=True)
class Extreme:
    """Attributes of the thing that has the most (or least) of `by` among those with these values: the name of the
    cheapest lamp, the date of Ana's newest order."""

    noun: str
    where: tuple[Value, ...]
    by: Attribute
    most: bool
    asked: tuple[Attribute, ...]


@dataclass(frozen=True)
class Listing:
    """All (a few) things with these values, each by the attribute `asked`: which orders of Ana's are open?"""

    noun: str
    where: tuple[Value, ...]
    asked: Attribute


@dataclass(frozen=True)
class Connected:
    """All things that a relation with a verb for a name leads to from `subject`, or that lead to `object` by it: what
    does Ana manage, who works on the Lighthouse. One of the two is `None`."""

    verb: str
    subject: str | None
    object: str | None


@dataclass(frozen=True)
class Missing:
    """An attribute of a thing that does not exist (`None`: anything about it)."""

    thing: Reference
    asked: Attribute | None = None


@dataclass(frozen=True)
class Compute:
    """What a tool works out of its arguments, without a stored thing: a conversion, a sum, the time in a place.

    `tool` and `description` are the server's words for it. `asked` is what is read from the result, empty if it is one
    text.
    """

    tool: str
    description: str
    arguments: tuple[Value, ...]
    asked: tuple[Attribute, ...] = ()


@dataclass(frozen=True)
class Change:
    """A write: `tool` sets the `values` of `thing`, or creates or removes a thing, or does something else. It may also
    edit a document, append a line to it, or tick a point off in it.

    `description` is the server's own. `effect` says which of these it is.
    """

    tool: str
    description: str
    effect: Literal["set", "create", "remove", "act", "edit", "append", "tick"]
    thing: Reference | None
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Absent:
    """A write on a thing that does not exist."""

    change: Change


@dataclass(frozen=True)
class Adjust:
    """A write whose value follows from a read: raise the stock of the oak shelf by 5. `new` is the value to write."""

    tool: str
    description: str
    thing: Reference
    attribute: Attribute
    change: int | float
    new: Scalar


@dataclass(frozen=True)
class Conditional:
    """A write that is asked for if a field of its thing has a value; otherwise the field is asked for. `holds` says
    which."""

    change: Change
    condition: Value
    holds: bool


@dataclass(frozen=True)
class Both:
    """Two intents in one message. Its outcome has theirs as two tuples."""

    parts: "tuple[Intent, Intent]"


@dataclass(frozen=True)
class Lacking:
    """An intent that the request leaves incomplete: `lacking` is required, has no default and is not said."""

    intent: "Lookup | Compute | Change"
    lacking: Attribute


@dataclass(frozen=True)
class Unserved:
    """Something that no tool of the server does. `nouns` are what the server is about: the request is about another
    matter, or about these things but for something that nobody can do with them."""

    nouns: tuple[str, ...]


@dataclass(frozen=True)
class Forbidden:
    """A write that no tool does, or one that the operator's policy leaves out."""

    change: Change


Intent = (
    Lookup
    | Each
    | Compare
    | Combine
    | Relation
    | Count
    | Total
    | Extreme
    | Listing
    | Connected
    | Missing
    | Compute
    | Change
    | Absent
    | Adjust
    | Conditional
    | Both
    | Lacking
    | Unserved
    | Forbidden
)

Outcome = tuple[Any, ...]
"""What the plan's results proved, in the order in which the intent asks: a value per asked attribute; per thing for
`Each`; the winner's own value for `Compare`; the values of all things for `Listing`."""
