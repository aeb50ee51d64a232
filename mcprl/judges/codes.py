"""Where a text has a code in one of the forms that people give it."""

import re

from mcprl.judges.mentions import Reading


def signed(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text has a code such as `A+` with its sign in words."""
    sign = {"+": "(?:positive|plus)", "-": "(?:negative|minus)"}.get(value[-1:], "")
    if not sign or len(value) < 2:
        return []
    pattern = rf"(?<!\w){re.escape(value[:-1].strip().lower())}[ -]{sign}(?!\w)"
    return [(match.start(), match.end()) for match in re.finditer(pattern, reading.text)]


def shortened(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text has the first seven or more digits of a long hexadecimal identifier, or a version without its v."""
    wanted = value.strip().lower()
    if re.fullmatch(r"v\d+(?:\.\d+)+", wanted):
        found = re.finditer(rf"(?<![\w.-]){re.escape(wanted[1:])}(?![\w-]|\.\d)", reading.text)
        return [(match.start(), match.end()) for match in found]
    if not re.fullmatch(r"[0-9a-f]{32,}", wanted):
        return []
    return [(start, end) for word, start, end in reading.words if len(word) >= 7 and wanted.startswith(word)]


def phone(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text has the digits of a telephone number, however they are grouped."""
    wanted = re.sub(r"\D", "", value)
    found = re.finditer(r"\+?\d[\d\s()./-]{4,}\d", reading.text)
    return [(match.start(), match.end()) for match in found if re.sub(r"\D", "", match[0]) == wanted]
