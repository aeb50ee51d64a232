"""Scripts: which of them put no space between words, which marks belong to a letter, and what is one text however it is
encoded."""

import re
import unicodedata

UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9df"  # Tai Le, Tai Lue, Tai Tham, Balinese, Javanese
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han, kana
    "\uac00-\ud7a3"  # Hangul: particles follow a name without a space
)
"""The characters, as ranges, of scripts in which a word may stand beside the next one without a space."""
MARKS = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.category(chr(code))[0] == "M")
"""Marks that belong to the letter before them: vowels, tones, accents."""
WORD = re.compile(rf"(?=\w)[{UNSPACED}][{MARKS}]*|[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{MARKS}])*")
"""A word; in a script without spaces, a letter with its marks."""

_BORDER = re.compile(
    rf"(?<=[{UNSPACED}])(?=[^\W_{UNSPACED}])|(?<=[^\W_{UNSPACED}])(?=[{UNSPACED}])|(?<=[。！？；：，、،؟؛۔।။។])(?=\S)"
)
_SIGNS = str.maketrans("。！？；：，、،؟؛۔।။។", ".!?;:,,,?;....")
_DATE = re.compile(r"(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")


def folded(text: str) -> str:
    """The text with the letters that it is read as: compatible forms, digits and signs as in Latin text, without
    accents, vowel points and invisible characters, and with a space between a script without spaces and another one."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", _BORDER.sub(" ", text).translate(_SIGNS))
    text = unicodedata.normalize("NFC", "".join(map(_plain, text)))
    return _DATE.sub(r"\1-\2-\3 ", _BORDER.sub(" ", text))


def whole(wanted: str) -> str:
    """The pattern of a text as whole words, wherever its script tells where a word ends."""
    left = rf"(?<![^\W{UNSPACED}])" if re.match(rf"[^\W_{UNSPACED}]", wanted) else ""
    spaced = re.search(rf"[^\W_{UNSPACED}][{MARKS}]*$", wanted)
    right = rf"(?![^\W{UNSPACED}]|[{MARKS}])" if spaced else rf"(?![{MARKS}])" if wanted[-1:].isalnum() else ""
    return left + re.escape(wanted) + right


def _plain(char: str) -> str:
    if char.isascii():
        return char
    kind, place = unicodedata.category(char), unicodedata.combining(char)
    if kind == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    return "" if place >= 200 or 10 <= place <= 36 else char  # 7 to 9 and 84 to 132 are parts of letters
