"""Whether an answer says that the thing in question does not exist or was not found.

The rules are of grammar: negated verbs of existence, possession and finding with what they negate. A negated noun
counts only if the noun is the thing itself and not something of it: "no order O-9", but not "no discount on O-9".
"""

import re

from mcprl.judges.phrases import sentences
from mcprl.text import stems

_NOT = r"(?:\bnot|n't|\bnever|\bno longer)"
_ADVERBS = (
    r"(?:(?:currently|actually|even|really|yet|also|just|been|be|able|to|in fact|quite|presently|unfortunately) )*"
)
_SEEM = r"(?:(?:seem|appear|look|happen|believe|think)s? (?:to |like |that )?)?"
_IDIOM = (
    r"(?:problem|worr(?:y|ies)|doubt|need|rush|way|matter|idea|question|one else|more|longer|further|later|earlier|"
    r"other|issue|trouble|fewer|less|changes?|charge|cost|sense|reason|tool|option|ability|access|surprise)s?\b"
)
_RECORD = (
    r"(?:record|result|match|entry|entrie|trace|sign|hit|listing|data|information|info|detail|mention|row|document|"
    r"anything|nothing|thing|one|luck|such)(?:s|es)?\b"
)
_BELONGS = r"\b(?:on|for|of|about|to|from|at|against|regarding|attached|recorded|because|set|given|stated|left|due)\b"
_BY_KEY = (
    r"(?:on|for|of|to|in|from|at) (?:the |that |this |your |our |any )?(?:\w+ )?(?:id|name|number|code|sku|"
    r"key|e-?mail|address|title|identifier|query|request|search|system|database|records?|list|catalog(?:ue)?|"
    r"shop|store|inventory|files?|server|data|table|books|end|side|us|me|here|account|index|directory|folder|"
    r"repository|repo|branch|history|log|graph|memory)\b"
)
_FIND = (
    r"(?:find|locate|see|trace|identify|spot|retrieve|look up|pull up|come up with|come across|recogni[sz]e|"
    r"turn up|dig up|track down|bring up|get hold of|detect|discover|know of)"
)
_POSSESS = (
    r"(?:have|carry|stock|sell|list|keep|hold|show|contain|include|recogni[sz]e|offer|return|turn up|yield|"
    r"bring up|give|produce)"
)
_EXIST = r"(?:exist|appear|show up|turn up|come up|match|correspond|belong|ring a bell|be (?:found|listed))"
_PLACED = (
    r"(?:found|located|listed|there|here|known|registered|recogni[sz]ed|recorded|present|on (?:file|"
    r"record|the list|our list|our books)|"
    r"in (?:the|our|this|my|your|any|there|here|stock list)\b|among|part of|one of (?:our|the)|an? (?:valid|known|"
    r"existing|real|registered|listed)\b|"
    r"(?:a )?valid\b|existing|showing up|turning up|coming up|matching|something (?:we|i) (?:have|carry|"
    r"sell|list)|an? (?:\w+ )?(?:that )?(?:we|i) (?:have|know|carry|sell|list)|traceable|anywhere|"
    r"available (?:in|on) (?:our|the) (?:system|database|records))"
)


_OWNER = re.compile(
    r"\b(?:i|we|you|they|there|systems?|records?|databases?|lists?|catalog(?:ue)?s?|shops?|stores?|"
    r"servers?|inventory|search|files?|"
    r"register|books|director(?:y|ies)|folders?|repositor(?:y|ies)|tables?|results?|i've|we've)\b"
)
"""Whose lack of a thing means that the thing does not exist: a customer without a phone number exists."""


_HAS = re.compile(r"\b(?:has|have|had|doesn't|does|contains?|with)\b")
_NO_NOUN = re.compile(
    r"(?:\bthere (?:does not|doesn't|do not|don't) (?:seem|appear) to be (?:an?|any)|"
    r"\bthere(?:'s| is| are| was| were|'re)?(?: currently| simply| just| actually)?(?: seems?| "
    r"appears?)?(?: to be)? (?:no(?! one)|n't any|not any|not an?|n't an?)|\bisn't an?y?|\baren't any|"
    r"(?:\b(?:we|i)'ve|\b(?:has|have|had|got|see|sees|find|finds|found|shows?|returned|returns|gave|gives|yields?|"
    r"yielded|lists?|with|contains?|"
    r"holds?|brought up|turned up)) no(?! one)|^(?:sorry|unfortunately|hm+|well|oops|error|so|but|"
    r"no)?[,:;. ]*no(?! one))"
    r"(?: such| matching| known| existing| registered| single| corresponding| valid| other)* (?P<np>.+)"
)
_NO_ONE = re.compile(
    r"\b(?:no one|nobody|none|nothing|no-one)\b(?: \w+){0,4}? (?:called|named|by that|by the|with|matches|"
    r"matching|matched|found|"
    r"came|comes|turned|turns|shows|showed|exists|under|for|goes by|like that|there|in (?:the|our)|there|"
    r"returned|here)\b|"
    r"\b(?:found|returned|finds?|turned up|returns|got|gave|came back with|see|brought up|yielded) "
    r"(?:nothing|none|nobody|zero|0)\b|\bnothing(?: was)? found\b"
)
_VERB = re.compile(rf"{_NOT} {_ADVERBS}{_SEEM}{_ADVERBS}(?:any ?more )?{_EXIST}\b")
_BE = re.compile(
    rf"(?:\b(?:is|are|was|were|be|being|'s|seem to be|appear to be)(?: \w+)? not|\b(?:is|are|was|were)n't|"
    rf"{_NOT} {_SEEM}(?:to )?be)"
    rf" {_ADVERBS}(?:an?(?:ything)? )?{_PLACED}"
)
_SEARCH = re.compile(
    rf"(?:\b(?:could|can|was|were|did|do|does|have|has|am|is|'m|'ve)(?: not|n't)|\bcan't|\bcannot|\bunable "
    rf"to|\bfail(?:ed|s)? to|\bno way to) "
    rf"{_ADVERBS}(?:{_SEEM})(?:been able to |managed? to |able to )?(?P<verb>{_FIND}|found|located|seen)\b(?P<np>.*)"
)
_HAVE = re.compile(
    rf"(?:\b(?:do|does|did|have|has|had)(?: not|n't)|\bdon't) {_ADVERBS}{_SEEM}(?:to )?(?P<verb>{_POSSESS}|"
    rf"got)\b(?P<np>.*)"
)
_EMPTY = re.compile(
    r"\b(?:c[ao]me|com(?:es|ing)|came|turn(?:ed|s)|draw|drew) (?:up|back|out)? ?(?:with )?(?:empty|blank|"
    r"dry|short|nothing|a blank)|"
    r"\bempty-handed\b|\bwithout (?:success|luck|finding)|\bno luck\b|\bno dice\b|\bdrew a blank|\bzero "
    r"(?:results|matches|hits|records)|"
    r"\b0 (?:results|matches|hits|records|rows)\b|\bnon-?existent\b|\bno longer exists?\b|\b(?:is|are|was|"
    r"were|seems?|appears?)(?: to be)? "
    r"(?:unknown|unlisted|unregistered|invalid|missing(?! (?:an?|the|its|some|from the order))|absent|"
    r"nowhere to be found|nowhere)\b|"
    r"^(?:error[:,]? )?(?:not found|unknown \w+|404|nothing found)|\bnot found\b|\bdoes ?n(?:o|')t exist|"
    r"\bunknown (?:\w+ )?[\w-]*\d|\b404\b|"
    r"\bnever been an? (?:\w+ )?of ours\b|\bnever heard of\b|"
    r"\bresults? (?:is|are|was|were|came back) empty|\bempty (?:result|list)\b|\bneither (?:exists?|"
    r"found)|\bnowhere\b|\bunheard of\b|\bdrawing a blank"
)


_ANY = re.compile(
    r"\bany(?:thing|body|one)?\b(?! (?:idea|chance|news|updates?|clue|more|other|way|time|help|trouble|problem)\b)|"
    r"\b(?:has|have|had|did) .{1,60}\bever\b"
)
"""Asks whether there are any things, of which there may be none."""
_NONE_SUCH = re.compile(
    r"\b(?:there(?:'s| is| are| was| were)|has|have|had|'ve)(?: got)?"
    r" no(?:ne)?\b(?! (?:tools?|way|means|access|function|information|info|idea|data)\b)|"
    r"\bthere (?:is|are|was|were)(?:n't| not) any\b|\b(?:has|have|had)(?:n't| not| never) (?:yet )?\w+ any\w*\b|"
    r"\b(?:nothing|nobody|no one|none)\b"
)
_EXCUSE = re.compile(
    r"\b(?:is|are|was)(?:n't| not) (?:responding|answering|working|reachable|available right now)\b|"
    r"\btry again (?:later|in a)\b|\b(?:timed? ?out|technical (?:problem|issue|difficult\w+)|"
    r"(?:is|seems to be) (?:down|offline))\b"
)
"""That something else is the matter: no word on the thing itself."""
_MERELY_POSSIBLE = re.compile(r"\b(?:if|possible|possibly)\b")


def says_missing(text: str, request: str = "", asked: str = "") -> bool:
    """Whether `text` says that the thing in question does not exist or was not found. That there are none of the
    things says so if the `request` asks for any. `asked` has the words for what is asked of a thing that is there: that
    there is none of it says so, too ("no e-mail address for Jonas")."""
    if any(_EXCUSE.search(part) and not _MERELY_POSSIBLE.search(part) for part in sentences(text)):
        return False
    said = [part for part in sentences(text) if not part.endswith("?")]
    if _ANY.search(request.lower()) and any(_NONE_SUCH.search(part) for part in said):
        return not any(part.startswith("yes") for part in said)
    return any(
        _clause_says_missing(clause) or (asked and _lacks_what_is_asked(clause, asked)) for clause in _clauses(text)
    )


def _lacks_what_is_asked(clause: str, asked: str) -> bool:
    """Whether a clause says that there is none of what one of the asked words stands for."""
    for pattern in (_NO_NOUN, _SEARCH, _HAVE):
        if (match := pattern.search(clause)) and not re.match(_IDIOM, match["np"].strip()):
            noun = re.split(_BELONGS, re.sub(r"^ ?(?:any|an?) ", "", match["np"]))[0]
            if {*stems(noun.replace("-", ""))} & {*stems(asked.lower().replace("-", ""))}:
                return True
    return False


def _clauses(text: str) -> list[str]:
    found: list[str] = []
    for sentence in sentences(text):
        if not re.match(r"(?:is|are|was|were|do|does|did|has|have) .*\?$", sentence):
            found += [part.strip() for part in re.split(r",\s+|\s-+\s|\s?[:(]\s?|\bbut\b|\bbecause\b", sentence)]
            found.append(sentence)
    return [clause for clause in found if clause]


def _clause_says_missing(clause: str) -> bool:
    if _VERB.search(clause) or _BE.search(clause) or _EMPTY.search(clause) or _NO_ONE.search(clause):
        return True
    for pattern in (_NO_NOUN, _SEARCH, _HAVE):
        match = pattern.search(clause)
        if match is None:
            continue
        phrase, verb = match["np"].strip(), match.groupdict().get("verb") or ""
        by_us = _OWNER.search(clause[: match.start("np")]) or not _HAS.search(
            match[0][: match.start("np") - match.start()]
        )
        a_record = re.match(rf"(?:such|(?:an?y? )?(?:\w+ )?{_RECORD})", phrase) and "on file" not in phrase
        is_awaited = pattern is _NO_NOUN and re.search(r"^\D*\b(?:yet|so far)\W*$", phrase)  # "no carrier yet"
        if (
            (by_us or a_record)
            and not is_awaited
            and _is_the_thing(phrase, objectless=pattern is not _NO_NOUN, verb=verb)
        ):
            return True
    return False


def _is_the_thing(phrase: str, objectless: bool, verb: str) -> bool:
    """Whether what is negated is the thing itself and not something that belongs to it."""
    if objectless and re.match(r"one for\b", phrase):
        return True
    phrase = re.sub(
        r"^(?:an?y?|the|that|this|your|such|single|it|them|one|anyone|anybody)\b ?| at all$", "", phrase.rstrip(".!?; ")
    )
    if not phrase:
        return objectless
    if re.match(_IDIOM, phrase) or re.match(r"(?:out )?(?:how|what|when|where|why|whether|if|who)\b", phrase):
        return False
    if objectless and re.match(
        r"(?:in|on|under|by|with|anywhere|here|at the moment|right now|either|there|sorry|please|called|named)\b",
        phrase,
    ):
        return True
    if re.match(rf"(?:\w+ ){{0,2}}{_RECORD}", phrase):
        return True
    if re.search(r"\bexists? (?:for|on|of)\b", phrase):
        return False
    rest = re.sub(rf"{_BY_KEY}|\bat [\w.~-]*/[\w./~-]+", "", phrase)
    belongs = re.search(_BELONGS, rest)
    if belongs and not re.search(
        r"\d|[A-Z]|['\"]|\b(?:called|named|with|by (?:that|the|\w+ \w)|found|match|exist)", rest[: belongs.start()]
    ):
        return False
    if verb in ("show", "hold", "keep", "include", "contain", "offer", "give"):
        return bool(re.search(r"\d|['\"]|\b(?:called|named|with|by that|record|order)", phrase)) and not belongs
    return True
