"""Units and currencies by the names that people give them. Babel (CLDR) has the names, pint converts.

Both load late: Babel's tables with the first answer that has a number (20 ms), pint with the first conversion (1 s).
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any

_AMBIGUOUS = {"in", "a", "c", "k", "f", "w", "pt", "item", "items", "generic", "b", "j", "n", "v", "e", "dot", "part"}
"""Names of units that are more often other words."""


def _pairs(text: str) -> dict[str, str]:
    """Names and what they stand for, written `name:unit`; `_` for a space."""
    return {name.replace("_", " "): unit for name, _, unit in (pair.partition(":") for pair in text.split())}


_MORE = _pairs(
    "hr:hour hrs:hour mins:minute secs:second s:second ms:millisecond m:meter metre:meter metres:meter km:kilometer "
    "kilometre:kilometer kilometres:kilometer centimetre:centimeter centimetres:centimeter g:gram kilo:kilogram "
    "kilos:kilogram kgs:kilogram lbs:pound tonne:tonne tonnes:tonne ton:ton tons:ton l:liter litre:liter litres:liter "
    "celsius:celsius fahrenheit:fahrenheit kb:kilobyte mb:megabyte gb:gigabyte tb:terabyte kib:kibibyte mib:mebibyte "
    "gib:gibibyte km/h:kilometer/hour kmh:kilometer/hour percent:percent per_cent:percent pct:percent %:percent "
    "percentage:percent milliamp:milliampere milliamps:milliampere microamps:microampere amps:ampere"
)
_PREFIXES = _pairs("n:nano u:micro μ:micro mc:micro m:milli c:centi d:deci k:kilo")
_BASES = _pairs("g:gram l:liter m:meter s:second mol:mole a:ampere v:volt w:watt j:joule f:farad")
_LARGE = _pairs(
    "mhz:megahertz mpa:megapascal mah:milliampere*hour wh:watt*hour mwh:megawatt*hour mj:megajoule ds: cs: us:"
)
LETTERS = _pairs("A:ampere V:volt W:watt J:joule K:kelvin")
"""Units that are known by a capital letter."""
_PINT = {"celsius": "degC", "fahrenheit": "degF", "square_meter": "meter**2", "cubic_meter": "meter**3"}
_PINT["kilowatt_hour"] = "kilowatt*hour"
_SHORT = frozenset(
    "dollar euro pound krone kroner krona kronor crown franc yen yuan rupee peso zloty forint lira dirham ruble shekel "
    "baht rand dinar".split()
)
"""The names of currencies that people say without the country."""
DURATIONS = ("year", "month", "week", "day", "hour", "minute", "second", "millisecond")
"""Units of time, the longest first."""


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Every name of a unit in lower case, and the unit: `kg`, `kilogram`, `kilograms` are `kilogram`."""
    locale = _locale()
    names: dict[str, str] = {}
    for key, forms in dict(locale.unit_display_names).items():
        unit = key.split("-", 1)[1].replace("-per-", "/").replace("-", "_")
        spellings = {unit.replace("_", " "), *dict(forms).values()}
        patterns = dict(locale._data["unit_patterns"]).get(key, {})
        for counted in dict(patterns).values():
            spellings |= {str(text).replace("{0}", "") for text in dict(counted).values()}
        for spelling in spellings:
            name = str(spelling).replace("\xa0", " ").strip().lower()
            if name and name not in _AMBIGUOUS and not any(sign in name for sign in "{}"):
                names.setdefault(name, unit)
                names.setdefault(name.replace("-", " "), unit)
    prefixed = {prefix + base: more + whole for prefix, more in _PREFIXES.items() for base, whole in _BASES.items()}
    names = {name: unit for name, unit in names.items() if not name.startswith("per ")}
    return names | prefixed | _LARGE | _MORE


MINOR = frozenset("cent cents penny pence centime centimes".split())
"""A hundredth of a currency's unit, in which payment services count."""
_RATE = re.compile(r"(?:/|\bper )")
_POWER = re.compile(r"^(square |cubic )?(.*?)([23]?)$")


@lru_cache(maxsize=1)
def currencies() -> dict[str, frozenset[str]]:
    """Every name, symbol and code of a currency in lower case, and the codes that it may stand for.

    `dollars` are those of two dozen countries.
    """
    locale = _locale()
    names: dict[str, set[str]] = {}
    for code, name in locale.currencies.items():
        symbol = str(locale.currency_symbols.get(code, code))
        plurals = dict(locale._data["currency_names_plural"]).get(code, {})
        for spelling in {code, symbol, str(name), *map(str, dict(plurals).values())}:
            names.setdefault(spelling.lower(), set()).add(code)
            last = spelling.lower().rsplit(" ", 1)[-1]
            if last.rstrip("s") in _SHORT:
                names.setdefault(last, set()).add(code)
    names["$"] = names.get("dollars", set()) | {"USD"}
    names |= {"us$": {"USD"}, "bucks": names["$"], "quid": {"GBP"}}
    return {name: frozenset(codes) for name, codes in names.items()}


def unit_of(name: str) -> str:
    """The unit that a name stands for, empty if it is none: `kg`, `mmol/L`, `micrograms per cubic metre`."""
    plain = unicodedata.normalize("NFKC", name).strip().lower().rstrip(".")
    known = units().get(plain, "")
    parts = _RATE.split(plain)
    if known or len(parts) != 2:
        return known
    above, below = (_powered(part.strip()) for part in parts)
    return f"{above}/{below}" if above and below else ""


def _powered(name: str) -> str:
    """A unit with its power: `m3` and `cubic metre` are `meter**3`."""
    known = units().get(name, "")
    match = _POWER.match(name)
    if known or match is None:
        return known
    base = units().get(match[2], "")
    power = match[3] or {"square ": "2", "cubic ": "3"}.get(match[1] or "", "")
    return f"{base}**{power}" if base and power else base


def currency_of(name: str) -> frozenset[str]:
    """The codes of the currencies that a name, symbol or code stands for, empty if it is none."""
    return currencies().get(name.strip().lower(), frozenset())


@lru_cache(maxsize=4096)
def convert(amount: float, unit: str, target: str) -> float | None:
    """The amount in another unit, `None` if the units measure different things."""
    if unit == target:
        return amount
    import pint  # loads in a second: only for answers that give another unit than the result

    try:
        quantity = _registry().Quantity(amount, _PINT.get(unit, unit))
        return float(quantity.to(_PINT.get(target, target)).magnitude)
    except (pint.errors.PintError, ValueError, TypeError, AttributeError):
        return None


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)


@lru_cache(maxsize=1)
def _locale() -> Any:
    from babel import Locale

    return Locale("en")
