"""Whether an answer to a write says anything of it: that it was done, or a value, a name or a word of it."""

import re
from collections.abc import Iterator, Sequence

from mcprl.judges.mentions import read, telling
from mcprl.judges.phrases import sentences
from mcprl.judges.scripts import folded
from mcprl.judges.values import places
from mcprl.servers.arguments import leaves
from mcprl.text import stems
from mcprl.types import CallRecord, Scalar, Scenario

_DONE = re.compile(
    r"\b(?:ok|okay|all set|got it|yes|ready|gone|taken care|(?:success|complet|confirm|finish|note|noti|remember)\w*|"
    r"done|made|set|put|sent|added|saved|written|kept|fixed|sorted|"
    r"(?:i|we|it|that|is|are|was|were|has|have|been|now)(?:'s|'re|'ve)?(?: \w+ly| just| now| been)* \w+(?:ed|en|wn)|"
    r"(?:is|are|it's|that's|they're)(?: now)? (?:there|on|off|up|in)|"
    r"erledigt|fertig|gemacht|gespeichert|hecho|listo|fait|termine|fatto|feito|pronto|gedaan|klaar|klart|gjort|valmis|"
    r"gotowe|zrobione|hotovo|kesz|tamam|selesai|xong|готово|сделано|выполнено|виконано|\u062a\u0645|"
    r"\u05d1\u05d5\u05e6\u05e2|\u05d4\u05d5\u05e9\u05dc\u05dd)\b|"
    r"^\w+ed\b|完成|完了|好的|已|しました|했습니다|완료|เรียบร้อย|แล้ว"
)
"""That something was done, in a few languages; others are known by what was done to what."""


def confirms(answer: str, scenario: Scenario, calls: Sequence[CallRecord]) -> bool:
    """Whether a sentence that is no question says so. A long text of the write is told by any longer word of it."""
    reading = read("\n".join(part for part in sentences(answer) if not part.endswith("?")))
    if any(_DONE.search(part) for part in sentences(reading.text)):
        return True
    if any(places(reading, value) for value in _values(scenario, calls)):
        return True
    known = folded(" ".join((scenario.request, *(call.tool for call in scenario.plan))))
    return len(telling(reading) & telling(read(" ".join(stems(known))))) > 0


def _values(scenario: Scenario, calls: Sequence[CallRecord]) -> Iterator[Scalar]:
    planned = {call.tool for call in scenario.plan[-1:]}
    for record in calls:
        if record.tool in planned:
            yield from (value for _, value in leaves(record.arguments or {}))
            yield from (value for _, value in leaves(record.result.structured))
