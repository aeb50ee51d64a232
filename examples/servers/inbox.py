"""An inbox that answers questions: mail made from a seed, with search and reading as in ART-E.

    python examples/servers/inbox.py --pack inbox      # questions about it, split by the owner of the inbox
    python examples/servers/inbox.py --http 8000       # the server
    python examples/servers/inbox.py --mail maildir    # with Enron's mail, or any other's, in place of the made-up one

The policy searches with `search_emails`, reads with `read_email` and ends with `return_final_answer`. `begin` and
`score` are for mcprl (`--setup-tool begin --reward-tool score:correct`): `begin` opens the inbox of a question, and
`score` says whether the answer that was returned states the value and names its message. `score:points` grades it as
ART-E does: right before unknown before wrong, with a little for the source.

Forty people own about 500 messages each: threads that hold one fact that is asked about, and mail that holds none. One
question in seven has no answer in the inbox; the right answer then is that it is not known.
"""

import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from email import message_from_bytes
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from sessions import Sessions, command_line, serve, write_pack

OWNERS, CHATTER, MOST_FOUND = 40, 440, 10
SPLITS = {"train": range(28), "val": range(28, 32), "test": range(32, OWNERS)}
FIRST = "Ada Ben Carla Dev Elif Finn Gwen Hugo Ines Jonas Kira Leo Mara Nils Olga Pavel Quinn Rosa Sven Tara".split()
LAST = "Abbott Brandt Costa Duval Eriksen Fischer Garcia Holm Ivanov Jansen Keller Lindt Moreau Novak Okafor".split()
CITIES = "Lyon Porto Bergen Krakow Turin Ghent Malmo Graz Cork Bilbao Tartu Split Basel Leeds Riga".split()
PROJECTS = "Aurora Basalt Cobalt Delta Ember Fjord Granite Harbor Indigo Juniper Kestrel Lagoon Meridian Nimbus".split()
VENDORS = "Nordwerk Fabrico Halden Lumina Tessuto Verdant Arcata Brightline Castor Dovetail Elmwood Foxglove".split()
ROOMS = "Maple Birch Cedar Rowan Alder Hazel Aspen Willow Linden Poplar".split()
LONGEST, MOST_SOURCES = 160, 2
"""Letters of an answer that is read, and sources of one that counts: all that was found is no answer."""
UNKNOWN = r"don.?t know|not known|unknown|no (?:answer|information|such)|not found|could ?n.t find"
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


class Mail(NamedTuple):
    message_id: str
    sent: str
    sender: str
    recipient: str
    subject: str
    body: str


@dataclass(frozen=True)
class Question:
    """`answer` is the value that must be stated, empty if the inbox does not have it; `source` is its message."""

    owner: int
    text: str
    answer: str
    source: str


def day(rng: random.Random) -> str:
    return f"2026-{rng.randint(1, 9):02}-{rng.randint(1, 28):02}"


def code(rng: random.Random, letters: int = 3, digits: int = 4) -> str:
    return "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=letters)) + "".join(rng.choices("0123456789", k=digits))


Thread = tuple[str, list[str], str, str]
"""A subject, the texts of a thread of which the last one has the fact, the question, and its answer."""


def hotel(rng: random.Random, key: str) -> Thread:
    number = code(rng)
    first = f"I have asked the hotel in {key} for a room on the third floor. They promised to write today."
    told = f"The room in {key} is booked now. The confirmation number is {number}, breakfast is included."
    return f"Your stay in {key}", [first, told], f"What is the confirmation number of my hotel in {key}?", number


def flight(rng: random.Random, key: str) -> Thread:
    at = f"{rng.randint(6, 21):02}:{rng.choice(['05', '20', '35', '50'])}"
    gate = f"{rng.choice('ABCD')}{rng.randint(1, 30)}"
    told = f"Your flight to {key} leaves at {at} from gate {gate}. Bags close an hour before."
    return f"Itinerary {key}", [told], f"At what time does my flight to {key} leave?", at


def invoice(rng: random.Random, key: str) -> Thread:
    amount = f"{rng.randint(200, 9800):,}.{rng.choice(['00', '40', '75'])}"
    first = f"Please find attached what we delivered last month. The amount follows when {key} has checked it."
    told = f"The hours are checked. The total of the invoice is EUR {amount}, payable within 30 days."
    return f"Invoice from {key}", [first, told], f"How much is the invoice from {key}?", amount


def deadline(rng: random.Random, key: str) -> Thread:
    due = day(rng)
    first = f"When do we have to hand {key} in? The client was not clear about it on the phone."
    told = f"I asked again: they want the final version of {key} by {due}. A draft a week before would help."
    return f"{key}: when?", [first, told], f"When is the final version of {key} due?", due


def room(rng: random.Random, key: str) -> Thread:
    name = rng.choice(ROOMS)
    told = f"The kickoff of {key} moves: we meet in {name}, since the big room is taken. Coffee will be there."
    return f"{key} kickoff", [told], f"In which room is the kickoff of {key}?", name


def lead(rng: random.Random, key: str) -> Thread:
    name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
    first = f"Who takes {key} over while I am on leave? I would like to hand it over this week."
    told = f"{name} will lead {key} from Monday on. I have told the team already."
    return f"Handing over {key}", [first, told], f"Who takes over the lead of {key}?", name


def phone(rng: random.Random, key: str) -> Thread:
    number = f"+49 30 {rng.randint(100000, 999999)}"
    told = f"If anything breaks over the weekend, call our line at {number}. Somebody from {key} always answers."
    return f"{key} support", [told], f"What is the phone number of {key}'s support line?", number


def budget(rng: random.Random, key: str) -> Thread:
    amount = f"{rng.randint(12, 480)},000"
    first = f"Finance wants the numbers of {key} by Friday. Do you have a first guess?"
    told = f"After two rounds they approved EUR {amount} for {key}, a bit less than we had asked for."
    return f"Numbers for {key}", [first, told], f"What budget was approved for {key}?", amount


def parcel(rng: random.Random, key: str) -> Thread:
    number = code(rng, 2, 9)
    told = f"Your order has left our house. You can follow the parcel with the number {number}. Thank you, {key}."
    return f"{key}: on its way", [told], f"What is the tracking number of the parcel from {key}?", number


def version(rng: random.Random, key: str) -> Thread:
    number = f"{rng.randint(1, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"
    first = f"The build of {key} fails since Tuesday, as you may have seen."
    told = f"It was a library. We pinned {key} to version {number} of the parser, and the build is green again."
    return f"{key} build", [first, told], f"To which version of the parser was {key} pinned?", number


Topic = Callable[[random.Random, str], Thread]
BY_KEYS: dict[tuple[str, ...], tuple[Topic, ...]] = {
    tuple(CITIES): (hotel, flight),
    tuple(VENDORS): (invoice, phone, parcel),
    tuple(PROJECTS): (deadline, room, lead, budget, version),
}
TOPICS = [(topic, keys) for keys, topics in BY_KEYS.items() for topic in topics]
SMALL_TALK = [
    ("Lunch?", "Does anybody join for lunch at noon? The place around the corner has soup today."),
    ("Re: photos", "Lovely photos of {city}, thank you. We should go there again."),
    ("{project} notes", "Here are my notes on {project} from this morning. Nothing urgent, read them when you can."),
    ("Your {vendor} newsletter", "What is new at {vendor} this month: a new team, a new page and a small prize."),
    ("Out of office", "I am away until Monday and read no mail. For {project} please ask my colleagues."),
    ("{city} next year", "Have you thought about {city} for the next meeting? The trains are good."),
    ("Thanks", "Thank you for the help with {project} yesterday, it saved my afternoon."),
    ("Reminder: timesheet", "Please fill your timesheet in by Friday. {vendor} is charged by the half hour."),
]


@lru_cache(maxsize=OWNERS)
def made_up(owner: int) -> tuple[list[Mail], list[Question]]:
    """The mail of an owner, and the questions about it."""
    rng = random.Random(f"inbox {owner}")
    people = [f"{first.lower()}.{last.lower()}@example.com" for first in FIRST for last in LAST]
    me, others = people[owner], rng.sample(people[OWNERS:], 25)
    threads: list[tuple[list[tuple[str, str]], Question | None]] = []
    unknown: list[Question] = []
    for topic, keys in TOPICS:
        asked = rng.sample(keys, 4)
        for key in asked[:3]:
            subject, texts, text, answer = topic(rng, key)
            titles = [subject, *(f"Re: {subject}" for _ in texts[1:])]
            threads.append((list(zip(titles, texts, strict=True)), Question(owner, text, answer, "")))
        unknown.append(Question(owner, topic(rng, asked[3])[2], "", ""))
    for _ in range(CHATTER):
        subject, body = rng.choice(SMALL_TALK)
        words = {"city": rng.choice(CITIES), "project": rng.choice(PROJECTS), "vendor": rng.choice(VENDORS)}
        threads.append(([(subject.format(**words), body.format(**words))], None))
    rng.shuffle(threads)
    mails: list[Mail] = []
    questions: list[Question] = []
    at = datetime(2026, 1, 5, 8)
    for texts, question in threads:
        other = rng.choice(others)
        for subject, body in texts:
            at += timedelta(minutes=rng.randint(5, 900))
            name = f"<{owner}.{len(mails)}@example.com>"
            greeting = rng.choice(["Hi", "Hello", "Good morning"])
            signed = other.partition(".")[0].title()
            text = f"{greeting},\n\n{body}\n\nBest,\n{signed}"
            mails.append(Mail(name, f"{at:%Y-%m-%d %H:%M}", other, me, subject, text))
        if question:
            questions.append(Question(owner, question.text, question.answer, mails[-1].message_id))
    questions += rng.sample(unknown, len(TOPICS) // 2)
    return mails, questions


def questions() -> list[Question]:
    """All questions; the number of one is what `begin` takes."""
    return [question for owner in range(OWNERS) for question in made_up(owner)[1]]


def from_maildir(folder: Path, most: int = 20_000) -> Iterator[Mail]:
    """The mail in a folder of files, one message each, as Enron's is published."""
    for number, path in enumerate(sorted(each for each in folder.rglob("*") if each.is_file())):
        if number == most:
            return
        message = message_from_bytes(path.read_bytes())
        body = message.get_payload(decode=True) if not message.is_multipart() else b""
        text = body.decode(errors="replace") if isinstance(body, bytes) else ""
        sent = parsedate_to_datetime(message["date"]).strftime("%Y-%m-%d %H:%M") if message["date"] else ""
        sender, recipient, subject = (str(message[each] or "") for each in ("from", "to", "subject"))
        yield Mail(message["message-id"] or str(path), sent, sender, recipient, subject, text)


def index(mails: list[Mail]) -> sqlite3.Connection:
    """The mail in a table of words (FTS5)."""
    data = sqlite3.connect(":memory:", check_same_thread=False)
    data.row_factory = sqlite3.Row
    data.execute(f"CREATE VIRTUAL TABLE mail USING fts5({', '.join(Mail._fields)})")
    data.executemany(f"INSERT INTO mail VALUES ({', '.join('?' * len(Mail._fields))})", mails)
    return data


@lru_cache(maxsize=OWNERS)
def inbox(owner: int) -> sqlite3.Connection:
    return index(made_up(owner)[0])


Found = list[dict[str, Any]]


def matching(mail: sqlite3.Connection, keywords: list[str], sender: str, after: str, before: str) -> Found:
    """At most `MOST_FOUND` messages that have all words, the newest first."""
    words = [word for keyword in keywords for word in re.findall(r"\w+", keyword)]
    query = "SELECT message_id, sent, sender, subject, snippet(mail, 5, '', '', '...', 12) AS excerpt FROM mail "
    query += "WHERE mail MATCH ? AND (? = '' OR sender = ?) AND sent >= ? AND (? = '' OR sent < ?) "
    values = (" AND ".join(f'"{word}"' for word in words), sender, sender, after, before, before)
    return [dict(row) for row in mail.execute(query + f"ORDER BY sent DESC LIMIT {MOST_FOUND}", values)]


imported: sqlite3.Connection | None = None


@dataclass
class Asked:
    """A session: the question, and the answer with its sources that was returned."""

    question: Question | None = None
    returned: tuple[str, list[str]] | None = None

    @property
    def mail(self) -> sqlite3.Connection:
        return imported or inbox(self.question.owner if self.question else 0)


server = MCPServer("inbox", version="1.0.0", log_level="WARNING")
sessions = Sessions(Asked)


@server.tool(title="Search emails", annotations=READS)
def search_emails(
    ctx: Context,
    keywords: Annotated[list[str], Field(description="Words that a message must all have")],
    sender: Annotated[str, Field(description="Only from this address")] = "",
    sent_after: Annotated[str, Field(description="Only from this day on, such as 2026-03-01")] = "",
    sent_before: Annotated[str, Field(description="Only before this day")] = "",
) -> list[dict[str, Any]]:
    """Search the inbox: at most ten messages that have all keywords, the newest first."""
    if not any(re.search(r"\w", keyword) for keyword in keywords):
        raise ToolError("No keywords; give at least one word")
    return matching(sessions[ctx].mail, keywords, sender, sent_after, sent_before)


@server.tool(title="Read email", annotations=READS)
def read_email(ctx: Context, message_id: Annotated[str, Field(description="As a search gives it")]) -> dict[str, Any]:
    """Read a message."""
    found = sessions[ctx].mail.execute("SELECT * FROM mail WHERE message_id = ?", (message_id,)).fetchone()
    if not found:
        raise ToolError(f"No message {message_id}")
    return dict(found)


@server.tool(title="Return final answer", annotations=WRITES)
def return_final_answer(
    ctx: Context,
    answer: Annotated[str, Field(description="The answer, or: I don't know")],
    sources: Annotated[list[str], Field(description="The message ids that it was found in")] = [],  # noqa: B006
) -> str:
    """Give the answer to the question. If the inbox does not have it, say that you don't know."""
    sessions[ctx].returned = answer, sources
    return "The answer is returned. There is nothing more to do."


@server.tool(title="Begin", annotations=WRITES)
def begin(ctx: Context, question: int) -> str:
    """Open the inbox that a question is about."""
    sessions[ctx] = Asked(questions()[question])
    return "ready"


def states(answer: str, value: str) -> bool:
    """Whether a short answer has the value, as a whole and with any spaces and commas."""
    parts = r"[\s,]*".join(map(re.escape, re.sub(r"[\s,]+", "", value)))
    return len(answer) <= LONGEST and re.search(rf"(?<![\w.]){parts}(?![\w]|\.\d)", answer, re.IGNORECASE) is not None


@server.tool(title="Score", annotations=READS)
def score(ctx: Context) -> dict[str, Any]:
    """Say whether the returned answer is right. Of many sources none counts."""
    asked = sessions[ctx]
    answer, sources = asked.returned or ("", [])
    unknown = re.search(UNKNOWN, answer, re.IGNORECASE) is not None
    question = asked.question or Question(0, "", "", "")
    right = states(answer, question.answer) and not unknown if question.answer else unknown
    sourced = not question.answer or (question.source in sources and len(sources) <= MOST_SOURCES)
    points = 0.0 if not answer else 0.2 if unknown else 0.05
    if right:
        points = 1.0 if sourced else 0.8
    return {"correct": float(right and sourced), "states": right, "points": points}


def tasks(owners: range) -> Iterator[Any]:
    """The questions of some owners, with a search that finds the message and its answer."""
    for number, question in enumerate(questions()):
        if question.owner in owners:
            yield {
                "request": f"{question.text} Search my inbox, read what you find, and return the answer with its "
                "source.",
                "setup": f"begin(question={number})",
                "plan": [{"tool": tool, "arguments": arguments} for tool, arguments in way_to(question)],
                "answer": question.answer or "I don't know.",
                "values": [f"owner {question.owner}"],
                "kind": "answer" if question.answer else "unknown",
            }


def way_to(question: Question) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that answer a question: a search for two of its words, of such that find its message if there is one."""
    words = list(dict.fromkeys(re.findall(r"[a-z]{4,}|[A-Z][a-z]+", question.text)))
    pairs = [list(pair) for pair in combinations(reversed(words), 2)]
    found = (pair for pair in pairs if question.source in {row["message_id"] for row in search(question.owner, pair)})
    yield "search_emails", {"keywords": next(found, pairs[0]) if question.source else pairs[0]}
    if question.source:
        yield "read_email", {"message_id": question.source}
    sources = {"sources": [question.source]} if question.source else {}
    yield "return_final_answer", {"answer": question.answer or "I don't know.", **sources}


def search(owner: int, keywords: list[str]) -> Found:
    """The newest messages of an owner that have all keywords."""
    return matching(inbox(owner), keywords, "", "", "")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--mail", type=Path, metavar="FOLDER", help="serve the mail in this folder, without questions")
    options = parser.parse_args()
    if options.pack:
        write_pack(options.pack, {split: tasks(owners) for split, owners in SPLITS.items()})
    else:
        imported = index(list(from_maildir(options.mail))) if options.mail else None
        serve(server, options.http)
