from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("notebook")

Kind = Literal["person", "company", "topic"]
Relation = Literal["works_at", "reports_to", "knows", "married_to", "interested_in", "advises", "led_by", "supplied_by",
                   "learned_from", "recommended_by", "organised_by", "done_by"]

NOTES: dict[str, dict] = {}


def _n(name, kind, facts, *links):
    NOTES[name] = {"kind": kind, "facts": list(facts), "links": [tuple(l) for l in links]}


_n("Dana Whitlow", "person", ["product designer", "birthday 14 March", "allergic to walnuts", "phone 555-0131"], ("works_at", "Kestrel Foods"), ("knows", "Ravi Menon"), ("interested_in", "Sourdough"))
_n("Ravi Menon", "person", ["met at the Lisbon conference in 2023", "drinks only decaf", "e-mail ravi@menon.example"], ("works_at", "Larkspur Labs"), ("married_to", "Clara Menon"), ("interested_in", "Birdwatching"))
_n("Clara Menon", "person", ["primary school teacher", "birthday 2 November", "plays the cello"], ("married_to", "Ravi Menon"), ("interested_in", "Chamber Music"))
_n("Otto Feldkamp", "person", ["retired harbour pilot", "lives in Cuxhaven", "phone 555-0147"], ("knows", "Ines Carrow"), ("interested_in", "Tide Clocks"))
_n("Ines Carrow", "person", ["finance director", "birthday 30 June", "prefers calls before 10:00"], ("works_at", "Kestrel Foods"), ("reports_to", "Victor Amsel"))
_n("Jonah Pell", "person", ["freelance translator, Danish and Dutch", "owes me 40 euros", "moved to Ghent in 2024"], ("interested_in", "Sourdough"), ("knows", "Hanna Ruiz"))
_n("Mei Tanaka", "person", ["hardware engineer", "vegetarian", "two sons, Ken and Aki"], ("works_at", "Brightwell Robotics"), ("reports_to", "Paul Osei"), ("interested_in", "Birdwatching"))
_n("Paul Osei", "person", ["chief engineer", "e-mail paul.osei@brightwell.example", "marathon best 3:12"], ("works_at", "Brightwell Robotics"))
_n("Sofia Brandt", "person", ["lawyer, contract law", "speaks Polish", "phone 555-0162"], ("works_at", "Brandt & Lowe"), ("advises", "Larkspur Labs"))
_n("Liam Quay", "person", ["intern until September", "birthday 9 August", "rides a red scooter"], ("works_at", "Larkspur Labs"), ("reports_to", "Ravi Menon"))
_n("Hanna Ruiz", "person", ["journalist", "lives in Valencia", "bad with names"], ("works_at", "The Weekly Tide"), ("interested_in", "Tide Clocks"))
_n("Tomas Varga", "person", ["carpenter", "has a van with a ladder", "phone 555-0175"], ("recommended_by", "Otto Feldkamp"))
_n("Victor Amsel", "person", ["sails a 9 metre sloop", "birthday 21 May", "phone 555-0188"], ("works_at", "Kestrel Foods"))
_n("Noor Haddad", "person", ["e-mail noor@larkspur.example", "hates voicemail", "two cats"], ("works_at", "Larkspur Labs"))
_n("Gregor Stahl", "person", ["plant manager", "phone 555-0190", "football referee on Sundays"], ("works_at", "Millgate Packaging"))
_n("Kestrel Foods", "company", ["makes oat snacks", "founded 2011", "office in Leeds", "85 employees"], ("led_by", "Victor Amsel"), ("supplied_by", "Millgate Packaging"))
_n("Larkspur Labs", "company", ["makes battery sensors", "founded 2019", "office in Porto", "22 employees"], ("led_by", "Noor Haddad"))
_n("Brightwell Robotics", "company", ["makes warehouse robots", "founded 2015", "office in Eindhoven", "120 employees"], ("supplied_by", "Larkspur Labs"))
_n("Brandt & Lowe", "company", ["law firm", "office in Hamburg", "bills 210 euros an hour"], ("led_by", "Sofia Brandt"))
_n("Millgate Packaging", "company", ["makes cardboard trays", "office in Hull", "invoices due in 30 days"], ("led_by", "Gregor Stahl"))
_n("The Weekly Tide", "company", ["local newspaper", "office in Alboraya", "circulation 14,000"])
_n("Sourdough", "topic", ["feed the starter every 12 hours", "rye flour from the mill in Olst", "bake at 240 degrees"], ("learned_from", "Jonah Pell"))
_n("Birdwatching", "topic", ["best spot is Vessem heath", "binoculars 8x42"], ("learned_from", "Mei Tanaka"))
_n("Chamber Music", "topic", ["subscription costs 180 euros", "season starts in October"])
_n("Tide Clocks", "topic", ["takes one AA battery", "reset at full moon"], ("learned_from", "Otto Feldkamp"))
_n("Trade Fair 2025", "topic", ["12 to 14 November", "stand 4-118", "deposit of 650 euros paid"], ("organised_by", "Larkspur Labs"))
_n("Kitchen Rebuild", "topic", ["budget 8,400 euros", "tiles ordered on 3 April"], ("done_by", "Tomas Varga"))


def _name(name: str) -> str:
    return next((n for n in NOTES if n.lower() == name.lower()), name)


def _get(name: str) -> dict:
    name = _name(name)
    if name not in NOTES:
        raise ToolError(f"There is no note called '{name}'.")
    return NOTES[name]


@server.tool()
def open_note(name: str) -> str:
    "Read the note about a person, company or topic: its facts and its links. Needs the full name; upper or lower case does not matter."
    name = _name(name)
    if name not in NOTES:
        return f"Nothing in the notebook about '{name}'."
    note = NOTES[name]
    return "\n".join([f"{name} ({note['kind']})"] + [f"- {f}" for f in note["facts"]] + [f"{r} -> {t}" for r, t in note["links"]])


@server.tool()
def find_notes(text: str) -> list[str]:
    "Full names of all notes whose name or facts contain the text."
    t = text.lower()
    return [n for n, note in NOTES.items() if t in n.lower() or any(t in f.lower() for f in note["facts"])]


@server.tool()
def list_notes(kind: Kind) -> list[str]:
    "Names of all notes of one kind."
    return [n for n, note in NOTES.items() if note["kind"] == kind]


@server.tool()
def backlinks(name: str, relation: Optional[Relation] = None) -> list[str]:
    "Names of the notes that link TO this one, e.g. everybody who works_at a company."
    _get(name)
    name = _name(name)
    return [n if relation else f"{n} ({r})" for n, note in NOTES.items() for r, t in note["links"] if t == name and relation in (None, r)]


@server.tool()
def new_note(name: str, kind: Kind) -> str:
    "Start an empty note."
    if _name(name) in NOTES:
        raise ToolError(f"'{name}' is already in the notebook.")
    NOTES[name] = {"kind": kind, "facts": [], "links": []}
    return f"New {kind}: {name}"


@server.tool()
def add_fact(name: str, fact: str) -> str:
    "Write one short fact into a note."
    note = _get(name)
    note["facts"].append(fact)
    return f"{name}: + {fact}"


@server.tool()
def remove_fact(name: str, fact: str) -> str:
    "Delete a fact from a note; the fact must be given exactly as it stands in the note."
    note = _get(name)
    if fact not in note["facts"]:
        raise ToolError(f"'{name}' has no fact '{fact}'.")
    note["facts"].remove(fact)
    return f"{name}: - {fact}"


@server.tool()
def add_link(from_name: str, relation: Relation, to_name: str) -> str:
    "Link two notes, e.g. from a person with works_at to a company."
    note = _get(from_name)
    _get(to_name)
    from_name, to_name = _name(from_name), _name(to_name)
    note["links"].append((relation, to_name))
    return f"linked: {from_name} {relation} -> {to_name}"


@server.tool()
def remove_link(from_name: str, relation: Relation, to_name: str) -> str:
    "Take a link away again."
    note = _get(from_name)
    from_name, to_name = _name(from_name), _name(to_name)
    if (relation, to_name) not in note["links"]:
        raise ToolError(f"No link {from_name} {relation} -> {to_name}.")
    note["links"].remove((relation, to_name))
    return f"unlinked: {from_name} {relation} -> {to_name}"


if __name__ == "__main__":
    server.run()
