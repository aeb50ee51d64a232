"""What an unmarked tool seems to do, by its name, description and schema. A proposal never allows a call.

It is cautious, since what looks like a read is called hundreds of times with invented arguments: only a name whose verb
clearly reads, and whose description says nothing else, proposes a read.
"""

import re
from typing import Literal

from mcprl.text import singular, words
from mcprl.types import Tool

Proposal = Literal["read", "write", "dangerous", "unknown"]
"""`dangerous`: it deletes, spends, sends, releases or runs what it is given."""

_READS = frozenset(
    (
        "browse calc calculate check compare compute count describe estimate explore fetch filter find get inspect "
        "list look lookup peek query read retrieve search see show view "
    ).split()
)
_WRITES = frozenset(
    (
        "add adjust amend append archive assign attach change close comment configure copy create defer "
        "disable draft edit enable enrol enroll enter extend fill import increment insert issue lend link lock log "
        "make mark modify move open patch pin put record register rename renew reopen replace request reserve resolve "
        "restore save schedule set star start store tag toggle unlink unlock unpin update upload upsert write "
    ).split()
)
_DANGERS = frozenset(
    (
        "accept approve authorize ban block book burn buy call cancel charge checkout clear click commit confirm "
        "credit debit delete deploy destroy discard dispatch drop email erase eval evict exchange exec execute expire "
        "fire flush force format fund grant hire install invite invoke kill launch mail merge message migrate notify "
        "order overwrite pay payout place post print promote prune publish purchase purge push reboot redeem refund "
        "reject release reload remove reply reset restart return revoke rm rollback rotate run scale sell send share "
        "shell ship shutdown sign spend stop submit subscribe suspend swap terminate text tip trade transfer transmit "
        "trigger truncate undo uninstall unsubscribe upgrade wipe wire withdraw "
    ).split()
)
_NOUNS = frozenset(
    (
        "block book call change charge comment commit copy credit debit draft email exchange fire force form format "
        "fund grant import issue link lock log mail make mark merge message order patch payout pin place post print "
        "purchase push record refund release reply request reserve return run scale schedule share shell ship sign "
        "star start store tag text tip trade transfer trigger update upgrade upload wire "
    ).split()
)
"""Verbs that are as often nouns: in `list_orders`, in "Log of events"."""
_TOLD = _READS | frozenset("display give provide return tell".split())
"""With these the description of a tool that reads begins."""
_OBJECT = frozenset("a all an any each every her his it its new one our the their them these this to your".split())
"""What follows a verb, and not a noun: "Order the item", "Transfer to an account"."""
_SHEETS = frozenset(
    (
        "balance calendar card climate conditions detail details diary file grades history info information list log "
        "lookup marks notes overview plan plans profile ranking record records report sheet status summary times "
        "timetable "
    ).split()
)
"""With these the name of a tool ends that shows them."""
_LEADING = frozenset("about all data details everything full one table what which who whose".split())
"""With these a description begins that names what is shown: "Details of one member"."""
_DESK = (("check", "in"), ("check", "out"))
_JOINING = frozenset("also and or then will".split())
_RUNNING = frozenset("exec execute invoke run".split())
_RUN = frozenset("cmd command script shell sql statement".split())
"""Parameters of tools that run what they are given."""
_MOST_CHARACTERS = 2_000
_WORST_FIRST: tuple[Proposal, ...] = ("dangerous", "write", "unknown", "read")


def propose(tool: Tool) -> Proposal:
    """What the tool seems to do. Its marks are not looked at."""
    parts, deeds = words(tool.name), _deeds(tool.description)
    if _RUN & {name.lower() for name in tool.input_schema.get("properties", {})}:
        return "dangerous"
    place = next((i for i, word in enumerate(parts) if _class(word) != "unknown"), None)
    if place is None or _class(parts[place]) != "read":
        return _worst([*[_class(word) for word in parts], *deeds], "unknown")
    if place > 0 and _head(tool) not in _TOLD:
        return _worst(deeds, "unknown")  # a noun, like the list of `wish_list_refill`
    return _worst([*_rest(parts[place:], tool), *deeds], "read")


def seems_to_read(tool: Tool) -> bool:
    """Whether the first verb of the name reads; or there is none, no deed is told, and the description begins like that
    of a read, or it or the name names a thing that is shown: `member_card`, "Details of one member".

    Bolder than `propose`: for servers where everything may be called.
    """
    parts = words(tool.name)
    if parts[:2] in _DESK:
        return False
    said = [_class(word) for at, word in enumerate(parts) if at == 0 or singular(word) not in _NOUNS]
    first = next((each for each in said if each != "unknown"), "unknown")
    if parts[:1] == ("open",) and _head(tool) in _TOLD and not _deeds(tool.description):
        return True  # `open_orders`: "List the orders that wait"
    if first == "read":
        return not _does_more(tool) and (_class(_head(tool)) != "write" or propose(tool) == "read")
    if first != "unknown" or _deeds(tool.description):
        return False
    return _head(tool) in _TOLD or _names_a_thing(parts, tool.description)


def _does_more(tool: Tool) -> bool:
    """Whether the name, or the first sentence of the description, joins a deed to the reading: `fetch_and_delete`. To
    run what reads, like a query, is none."""
    sentence = re.split(r"[.!?;:\n]", tool.description[:_MOST_CHARACTERS], maxsplit=1)[0]
    for said in (words(tool.name), re.findall(r"[a-z]+", sentence.lower())):
        for before, verb, after in zip(said, said[1:], [*said[2:], ""], strict=False):
            is_verb = singular(verb) not in _NOUNS or after in _OBJECT
            if before in _JOINING and is_verb and singular(verb) not in _RUNNING and _changes(_class(verb)):
                return True
    return False


def _names_a_thing(parts: tuple[str, ...], description: str) -> bool:
    """Whether the name ends like that of a sheet or a list, or the description begins like that of one."""
    listing = len(parts) == 1 and singular(parts[0]) != parts[0]
    lead, after = [*re.findall(r"[a-z]+", description.lower()), "", ""][:2]
    return listing or bool({*parts[-1:]} & _SHEETS) or lead in _LEADING or _is_noun(lead, after)


def _is_noun(first: str, second: str) -> bool:
    """Whether a sentence that begins so names a thing: "State of a vault", "Hearings by room"."""
    plural = first.endswith("s") and singular(first) not in (*_READS, *_TOLD)
    return (second == "of" and first != "dispose") or (plural and second == "by")


def _rest(parts: tuple[str, ...], tool: Tool) -> list[Proposal]:
    """What stands after a reading verb and may be more than the noun of what is read.

    Verbs there are nouns if the tool says twice that it reads: `get_call_log`, "Returns the calls".
    """
    if parts[:2] in _DESK:
        return ["dangerous"]
    verbs = [word for word in parts[1:] if _changes(_class(word))]
    if not verbs or (_head(tool) in _TOLD and not _JOINING & {*parts}):
        return []
    if not _JOINING & {*parts} and all(singular(word) in _NOUNS for word in verbs):
        return [] if tool.description else ["unknown"]
    return [_class(word) for word in verbs]


def _head(tool: Tool) -> str:
    """The first word of what the tool says about itself."""
    told = (tool.description or tool.title or "")[:_MOST_CHARACTERS]
    return singular(next(iter(words(told)), ""))


def _deeds(description: str) -> list[Proposal]:
    """The classes of the verbs in a description that say what the tool does besides reading: at the beginning of a
    sentence, and after "and".
    """
    found: list[Proposal] = []
    for sentence in re.split(r"[.!?;:\n]+", description[:_MOST_CHARACTERS]):
        said = re.findall(r"[a-z]+", sentence.lower())
        for place, word in enumerate(said):
            verb, after = singular(word), said[place + 1] if place + 1 < len(said) else ""
            leads = place == 0 or said[place - 1] in _JOINING
            if leads and verb != "return" and (verb not in _NOUNS or after in _OBJECT):
                found.append(_class(verb))
    return [deed for deed in found if _changes(deed)]


def _class(word: str) -> Proposal:
    for form in (word, singular(word)):
        if form in _DANGERS:
            return "dangerous"
        if form in _WRITES:
            return "write"
        if form in _READS:
            return "read"
    return "unknown"


def _changes(proposal: Proposal) -> bool:
    return proposal in ("dangerous", "write")


def _worst(found: list[Proposal], otherwise: Proposal) -> Proposal:
    """The worst of what was found, `otherwise` if nothing was."""
    for proposal in _WORST_FIRST:
        if proposal in found:
            return proposal
    return otherwise
