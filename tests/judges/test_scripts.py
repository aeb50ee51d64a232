"""Answers in any script: a value is found where it stands, whatever stands beside it, and nothing else is it."""

import json
import unicodedata

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mcprl.judges.checks import holds
from mcprl.judges.mentions import read
from mcprl.judges.scripts import MARKS
from mcprl.judges.values import places
from mcprl.judges.verifier import Verifier
from mcprl.text import stems, words
from mcprl.types import Call, CallRecord, Fact, Scenario, ToolResult, Trajectory

STEADY = settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
"""A loaded machine fails none, and every run has the same examples."""
SPACED = {
    "Latin": "abcdefgàçéñöşźžabc",
    "Cyrillic": "абвгдежзийклмнопё",
    "Greek": "αβγδεζηθικλμάέή",
    "Hebrew": "אבגדהוזחטיכלמנ",
    "Arabic": "ابتثجحخدذرزسشص",
    "Devanagari": "कखगघचछजझटठडढतथद",
    "Armenian": "աբգդեզէըթժիլ",
    "Georgian": "აბგდევზთიკლმ",
}
UNSPACED = {
    "Chinese": "北方仓库供应商南公室的是在",
    "Japanese": "おおさか大阪東京カフェがです",
    "Thai": "กขคงจชซดตถทนบปผเชียงใหม่",
    "Lao": "ກຂຄງຈຊຍດຕຖທນວຽງຈັນ",
    "Khmer": "កខគឃងចឆជភ្នំពេញ",
    "Burmese": "ကခဂဃငစဆဇရန်ကုန်",
    "Korean": "가나다라서울부산창고",
}


def word(letters: str) -> st.SearchStrategy[str]:
    """Two to eight letters that begin with one that is no mark."""
    alone = "".join(char for char in letters if char not in MARKS)
    return st.builds(str.__add__, st.sampled_from(alone), st.text(letters, min_size=1, max_size=7))


def succeeds(answer: str, value: str, name: str = "name") -> bool:
    row = {"id": "O-17", name: value}
    call = Call("get", {"id": "O-17"})
    scenario = Scenario("s", "O-17?", (Fact(value, name),), (call,))
    reply = ToolResult(json.dumps(row, ensure_ascii=False), row)
    messages = ({"role": "user", "content": "O-17?"}, {"role": "assistant", "content": answer})
    trajectory = Trajectory("t", "s", messages, (), (CallRecord(0, "get", call.arguments, reply),))
    return bool(Verifier().verify(scenario, trajectory).success)


@pytest.mark.parametrize("letters", SPACED.values(), ids=SPACED.keys())
def test_a_word_is_found_between_spaces_and_signs_and_not_within_another_word(letters: str) -> None:
    @STEADY
    @given(word(letters), word(letters), st.sampled_from([" ", ". ", ", ", ": ", "? ", " (", "\n"]))
    def check(value: str, other: str, sign: str) -> None:
        assume(value not in other and other not in value)
        assert places(read(f"{other}{sign}{value}{sign}{other}"), value)
        assert holds(f"{other}{sign}{value}", value)
        assert not places(read(f"{value}{letters[0]}{other}"), value)
        assert not holds(f"{letters[0]}{value} {other}", value)

    check()


@pytest.mark.parametrize("letters", UNSPACED.values(), ids=UNSPACED.keys())
def test_in_a_script_without_spaces_a_value_is_found_within_the_sentence(letters: str) -> None:
    @STEADY
    @given(word(letters), word(letters), word(letters))
    def check(value: str, before: str, after: str) -> None:
        assert places(read(f"{before}{value}{after}。"), value)
        assert holds(f"{before}{value}{after}", value)
        assert places(read(f"{before}O-17{after}"), "O-17", "identifier")
        assert places(read(f"{before}63{after}"), 63, "count")
        assert holds(f"{before}63{after}", 63)
        if unicodedata.normalize("NFC", value) not in unicodedata.normalize("NFC", before + after):
            assert not places(read(f"{before} {after}"), value)

    check()


ANY = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=60)
"""Letters, marks, emoji, signs and invisible characters of all scripts."""


@STEADY
@given(ANY, ANY, ANY)
def test_no_text_ends_the_judging(answer: str, value: str, name: str) -> None:
    succeeds(answer, value or "?", name)
    succeeds(f"It is {value} {answer} and North.", "North Depot Ltd", "supplier")


@STEADY
@given(word(SPACED["Latin"]) | word(SPACED["Cyrillic"]) | word(SPACED["Greek"]) | word(UNSPACED["Japanese"]))
def test_a_value_is_one_value_in_every_encoding(value: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert succeeds(f"O-17: {unicodedata.normalize(form, value)}.", value)
        assert succeeds(f"O-17: {value}.", unicodedata.normalize(form, value))


@STEADY
@given(st.sampled_from([*SPACED.values(), *UNSPACED.values()]).flatmap(word))
def test_a_word_of_any_script_is_a_word_of_a_name(value: str) -> None:
    assert words(value) == words(f"_{value}-") != ()
    assert stems(value) != ()


@pytest.mark.parametrize(
    ("answer", "value", "right"),
    [
        ("Status: 🟢", "🟢", True),
        ("Status: 🔴", "🟢", False),
        ("Paid ✅ by Ana 👩‍💻!", "Ana", True),
        ("❤️", "❤", True),
        ("\u202bהספק הוא מחסן צפון\u202c.", "מחסן צפון", True),
        ("הספק הוא משרד דרום.", "מחסן צפון", False),
        ("המחיר הוא 12.50 ₪", "12.50", True),
        ("المورد هو مستودع الشمال.", "مستودع الشمال", True),
        ("العدد ٦٣", "63", True),
        ("आपूर्तिकर्ता उत्तर गोदाम है।", "उत्तर गोदाम", True),
        ("की", "का", False),
        ("カキ", "ガキ", False),
        ("ﾎｯｶｲﾄﾞｳ", "ホッカイドウ", True),
        ("北​方仓库", "北方仓库", True),
        ("日期是2026年3月8日。", "2026-03-08", True),
        ("日期是2026年3月9日。", "2026-03-08", False),
        ("價格是35.45歐元，這個。", "35.45", True),
        ("공급업체는 북부창고입니다.", "북부창고", True),
        ("Łódź", "Lodz", True),
    ],
)
def test_emoji_marks_directions_and_digits(answer: str, value: str, right: bool) -> None:
    assert succeeds(answer, value) is right
