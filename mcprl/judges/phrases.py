"""What an answer does rather than states: it asks back, declines, affirms or denies.

The rules are of grammar: questions in the second person, negated ability, and where a sentence has its negation.
"""

import re
from collections.abc import Sequence

from mcprl.judges.mentions import normal
from mcprl.text import stems


def sentences(text: str) -> list[str]:
    """The sentences of a text in lower case, with their end signs."""
    low = " ".join(normal(text).lower().replace("\n", " \n ").split(" "))
    parts = re.split(r"(?<=[.!?;])\s+|\n+", low)
    return [part.strip() for part in parts if part.strip()]


_ASKING = re.compile(
    r"\b(?:(?:could|can|would|will|may|might) (?:you|i|we)(?: please| kindly| also)?|please|kindly|just|"
    r"let me know|i(?:'d| would)? "
    r"(?:just |still |also )?(?:need|require|like)|we(?:'d| would)? (?:just |still |also )?(?:need|"
    r"require)|i'?ll (?:just |also |still )?need|"
    r"(?:i|we)(?:'m| am|'re| are) (?:missing|lacking)|tell me|give me|send me|(?:you )?(?:did|have)(?:n't|"
    r" not) (?:said?|sa(?:y|id)|told?|tell|mention(?:ed)?|"
    r"specif(?:y|ied)|give[n]?|provided?|include[d]?|name[d]?|state[d]?|share[d]?))\b"
)
_GIVING = re.compile(
    r"\b(?:tell|give|provide|share|specify|send|say|confirm|clarify|let (?:me|us) know|name|supply|state|"
    r"enter|include|know|have|ask|need|require|"
    r"missing|lacking|said|mention(?:ed)?|specified|given|provided|included|told|get|indicate|pass|type|choose|pick)\b"
)
_WH = re.compile(
    r"(?:^|[,;:(-]\s*|\b(?:and|but|so|sure|ok(?:ay)?|happy to|me|know|for|to|from|by|with|on|at|in|of|"
    r"under)\b,? )(?:which|what|whose|whom|who|where|when|how (?:many|much|long|often|far|big))\b"
)
_WH_FIRST = re.compile(
    r"(?:(?:sure|of course|certainly|ok(?:ay)?|gladly|yes)\W+)?(?:(?:for|on|at|to|in|from|by|with|under) )?"
    r"(?:which|what|who|where|when)\b(?! else)"
)
_WHICH_ONE = re.compile(
    r"(?:\w+[,!-] ?)?(?:for |about |of )?(?:which|what) ones?"
    r"(?: (?:of (?:them|those|these)|is (?:it|that|yours)|do you mean|are you (?:asking|talking) about|exactly))* ?\?"
)
"""A question for the thing that the request speaks of, without its noun."""
_OFFER = re.compile(
    r"\b(?:anything else|what else|how (?:else )?(?:can|may) i (?:help|assist)|would you like (?:me )?to|"
    r"do you want me to|shall i|want me to)\b"
)

_WOULD_DO = re.compile(r"\b(?:would|will) (?:do|help|work|be enough)\W*$|\bis (?:enough|all (?:i|we) need)\W*$")
_POLITE = re.compile(
    r"(?:of course|sure(?: thing)?|certainly|happy to(?: help)?|ok(?:ay)?|gladly|no problem|thanks|hello|hi|"
    r"good (?:morning|afternoon|evening))\W*"
)


def asks_for(text: str, words: Sequence[str]) -> bool:
    """Whether `text` asks its reader for something that one of `words` names."""
    return any(
        bool(_WHICH_ONE.fullmatch(sentence)) or (_asks(sentence) and _names(sentence, words))
        for sentence in sentences(text)
    )


def questions_back(text: str) -> bool:
    """Whether `text` is nothing but polite words and a question for what its reader means."""
    parts = [part for part in sentences(text) if not _POLITE.fullmatch(part)]
    return bool(parts) and all(part.endswith("?") and bool(_WH_FIRST.match(part)) for part in parts)


def _asks(sentence: str) -> bool:
    question = sentence.rstrip("\"')").endswith("?")
    if _OFFER.search(sentence) and not _WH_FIRST.match(sentence):
        return False
    if _WOULD_DO.search(sentence):
        return True
    if question and (
        _WH.search(sentence) or re.search(r"\bdo (?:you|they) (?:mean|have|know)\b|\bor\b.*\?$", sentence)
    ):
        return True
    asking = _ASKING.search(sentence)
    return bool(asking and (question or _GIVING.search(sentence, asking.start())))


def _names(sentence: str, words: Sequence[str]) -> bool:
    have = set(stems(sentence))
    return any(set(stems(word)) <= have for word in words if word.strip())


_UNABLE = re.compile(
    r"(?:\b(?:i|we|this (?:assistant|system|service|server|shop|tool)|one|that|it|they|my tools?|these "
    r"tools?|the (?:available )?tools?|the (?:system|service|server))"
    r"(?:'m| am|'re| are|'s| is)? ?(?:just |simply |really |afraid |also |currently )*"
    r"(?:can(?:no|')?t|can not|could(?:n't| not)|(?:wo|will|wi)(?:n't|ll not| not)|(?:is|are|am|'m|"
    r"was)?(?:n't| not)? ?(?:not |un)able to|do(?:es)?(?: not|n't)|not allowed to|"
    r"not permitted to|not in a position to|not equipped to|not authori[sz]ed to|not set up to|isn't|is "
    r"not|aren't|are not))(?P<rest>.*)"
)
_ABLE_ENDS = re.compile(
    r"\b(?:not (?:possible|supported|available|something (?:i|we|this)|within|permitted|allowed|part of|"
    r"offered|covered|a service|in my power|an option)|"
    r"(?:is|are|was)n't (?:possible|supported|something (?:i|we|this)|within|permitted|allowed|part of|"
    r"offered|covered|a service|in my power|an option)|"
    r"\bbeyond me\b|impossible|unsupported|(?:outside|beyond|out of) (?:of )?(?:my|our|what|the) (?:scope|abilit|"
    r"capabilit|reach|remit|i |i'm |we |we're |tools|power|things|range|area)|"
    r"no (?:tool|way|option|function|means|feature|ability|access|permission|facility|such (?:tool|"
    r"service|function|feature))\b|against (?:the|our|my) (?:policy|rules)|"
    r"(?:policy|rules) (?:forbids?|prohibits?|does(?:n't| not) allow|do(?:n't| not) allow|prevents?)|"
    r"(?:do(?:n't| not)|does(?:n't| not)|lack|haven't|without) (?:currently |really )?(?:have |got |offer "
    r"|provide |include |support )?(?:a |an |any |the |that )?(?:\w+ )?(?:tool|way|abilit\w+|access|means|"
    r"function\w*|option|feature|permission|capabilit\w+)s?\b|"
    r"do(?:n't| not) (?:currently )?have (?:anything|(?:any )?(?:information|data|details?)) (?:on|about|for)\b|"
    r"have to decline|must decline|unable to (?!find|locate|see|identify)|nothing (?:here|i have|"
    r"available) (?:lets|allows)|none of (?:my|the|these)(?: available)? (?:tools|functions)|won't be able|"
    r"can't help|cannot help|"
    r"refuse|not capable of|(?:i'm|i am) limited to|\bunavailable here|"
    r"tools?(?: (?:that )?(?:i|we) have)? do(?:es)?(?:n't| not) (?:allow|let|include|support)\b)"
)
_NOT_ABILITY = re.compile(
    r"^\W*(?:be )?(?:able to )?(?:find|found|locate|see|spot|wait|say for (?:sure|certain)|exist|match|"
    r"appear|seem|show|listed|in (?:the|our)|there|know(?! how)|"
    r"recogni[sz]e|worry|need|mind|cost|have (?:any|a|an|the)? ?(?:order|record|customer|product|"
    r"information|item)|think|believe|tell which|been|a problem|yet|shipped|paid|open(?! (?!yet|now|any)\w))\b"
)


def declines(text: str) -> bool:
    """Whether `text` says that the request cannot be served."""
    return any(_declines(sentence) for sentence in sentences(text))


def _declines(sentence: str) -> bool:
    if re.search(r"\b(?:without|until|unless|before) (?:you|i|we|the|an?|knowing|that|it|more)\b", sentence):
        return False
    if _ABLE_ENDS.search(sentence):
        return True
    match = _UNABLE.search(sentence)
    if not match or _NOT_ABILITY.search(match["rest"]):
        return False
    ability = re.search(
        r"\b(?:can|could|able|will|wo|allowed|permitted|position|equipped|authori[sz]ed|set up|cannot)", match[0]
    )
    return bool(ability) or bool(
        re.match(r" (?:do|offer|handle|support|provide|send|book|deal|cover|take|make|arrange)\b", match["rest"])
    )


# --- yes and no -------------------------------------------------------------------------------------------------------

_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|yup|correct|right|indeed|true|affirmative|certainly|absolutely|sure|definitely|"
    r"it (?:is|does|has|was|did|can)[.!]?$|that's right|that is correct)\b"
)
_NOPE = re.compile(
    r"^\W*(?:no|nope|nah|negative|false|incorrect|not (?:yet|any ?more|at all|really|quite)|it (?:isn't|"
    r"doesn't|hasn't|wasn't)|not\b|neither|none|nothing|nobody|there (?:is|are) none)\b(?! (?:doubt|problem|worries))"
)
_OPENER = re.compile(
    r"^\W*(?:certainly|absolutely|sure|definitely|right|of course)[,!.:;\s–—-]*[,!.:;–—-]\s*"
    r"(?!(?:it|they|that|there|yes|he|she|this)\b)(?=\w)",
    re.IGNORECASE,
)
"""Politeness before an answer, not an answer."""
_ENDING = re.compile(r"(?:,|\bis|\bsadly|\bbut|\bso)\s+(yes|no)\W*$")
_NOT_SO = re.compile(
    r"\b(?:afraid|unfortunately|sadly|sorry)\b,? not\W*$|^\W*(?:unfortunately|sadly|sorry),? no\b|"
    r"^\W*there (?:aren't|are not|isn't|is not) any\W*$"
)
_FIRST_NO = re.compile(r"^\W*(?:no|nope|sorry)\W+")
_LACKING = re.compile(r"\b(?:out of stock|sold out|unavailable)\b")
_UNSURE = re.compile(
    r"\b(?:i|we) (?:do not|don't|can(?:no|')?t|couldn't|could not|am not|'m not|are not) (?:know|tell|say|"
    r"(?:find|see)(?! any\b(?! (?:information|details?|data|records?|mention)))|determine|"
    r"sure|certain|able)|\bnot (?:sure|certain)|\bunsure\b|\bunclear\b|\bunknown\b|"
    r"\bmaybe\b|\bperhaps\b"
)
_NEGATION = re.compile(r"\b(?:not|no|never|without|neither|none|false|nobody|no one)\b|n't\b")
_ZERO = re.compile(r"(?<![\w.,:/-])(?:0|zero)(?![\w:/-]|[.,]\d)")
"""An amount of nothing, which denies that there is any."""
_STATES = re.compile(
    r"\b(?:it|they|he|she|that|this|there|one)(?:'s|'re|'ve| is| are| has| does| was| were| do| have)\b|"
    r"\b(?:is|are|has|does|have|was)(?:n't)?\b"
)


_ABOUT_IT = re.compile(
    r"\W*(?:it|they|that|this|he|she)(?:'s|'re|'ve| is| are| has| have| does| was| were)\b(?:n't| not)?\s*(?:been )?"
)
_NEIGHBOUR = re.compile(
    r"^(?:currently |still |also |now )?(?:(?:an?|the|in|on|at|from|by|of|for|with|under|near|made|due|worth|called|"
    r"named|about)\b(?! (?:stock|use|time|sale|service|force|schedule|home|work|there)\b)(?!\W*$)|"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b)|\d|[€$£]"
)
"""What "it is" goes on with if it tells another fact: a thing, a place, an amount."""


def polarity(text: str, label: str = "") -> bool | None:
    """Whether `text` affirms (true) or denies (false) that what `label` names holds, `None` if it does neither."""
    found: set[bool] = set()
    marked = set(stems(label)) - {"is", "has", "in", "on", "a", "the"}
    of_stock = bool(marked & {*stems("stock available availability")}) and not _LACKING.search(label)
    for sentence in sentences(_OPENER.sub("", text)):
        if sentence.endswith("?") or _UNSURE.search(sentence):
            continue
        tail = re.search(r"[:=|]\s*(yes|no|true|false)\b", sentence)
        ending = _ENDING.search(sentence)
        if tail:
            found.add(tail[1] in ("yes", "true"))
        elif ending or _NOT_SO.search(sentence):
            found.add(bool(ending) and ending[1] == "yes")
        elif of_stock and _LACKING.search(sentence) and not _YES.search(sentence):
            found.add(bool(_NEGATION.search(_FIRST_NO.sub("", sentence))))
        elif _YES.search(sentence):
            body = sentence.partition(",")[2] or ""
            found.add(True)
            if _NEGATION.search(body) and _STATES.search(body):
                found.add(False)
        elif _NOPE.search(sentence):
            found.add(False)
        elif re.search(r"\bto be\b", sentence) and not _NEGATION.search(sentence):
            continue
        elif {f"un{word}" for word in marked} & set(stems(sentence)):
            found.add(bool(_NEGATION.search(sentence)))
        elif marked & set(stems(sentence)) and (_STATES.search(sentence) or _NEGATION.search(sentence)):
            value = re.search(r"\b(true|false)\b", sentence)
            denied = _NEGATION.search(sentence) or _ZERO.search(sentence)
            found.add(value[1] == "true" if value else not denied)
        elif _ABOUT_IT.match(sentence) and not found and not _NEIGHBOUR.search(_ABOUT_IT.sub("", sentence)):
            found.add(not _NEGATION.search(sentence))
    return found.pop() if len(found) == 1 else None
