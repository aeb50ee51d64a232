from typing import Annotated, Literal

from pydantic import Field
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("cantabile")

_S = "email name voice since phone dues_paid folder".split()
SINGERS = {r[0]: dict(zip(_S, r)) for r in [
    ("anouk.v@cantabile.example", "Anouk Verhoef", "soprano", 2015, "06-1180 2214", True, 3),
    ("b.osterman@cantabile.example", "Bette Osterman", "soprano", 2021, "06-1180 7751", False, 8),
    ("mirjam@cantabile.example", "Mirjam Kool", "soprano", 2009, "06-1180 3390", True, 1),
    ("tess.lam@cantabile.example", "Tess Lambert", "soprano", 2024, "06-1180 6428", True, 12),
    ("rosa.d@cantabile.example", "Rosa Delgado", "alto", 2018, "06-1180 5503", False, 17),
    ("fenna@cantabile.example", "Fenna de Wit", "alto", 2011, "06-1180 9042", True, 14),
    ("ilse.b@cantabile.example", "Ilse Bakker", "alto", 2023, "06-1180 1876", True, 21),
    ("yuki@cantabile.example", "Yuki Tanabe", "alto", 2019, "06-1180 4467", True, 19),
    ("joris@cantabile.example", "Joris Meijer", "tenor", 2016, "06-1180 8125", True, 26),
    ("p.anand@cantabile.example", "Prakash Anand", "tenor", 2022, "06-1180 2939", False, 29),
    ("wim.s@cantabile.example", "Wim Schouten", "tenor", 2004, "06-1180 7012", True, 24),
    ("karel@cantabile.example", "Karel Novotny", "bass", 2013, "06-1180 3654", True, 33),
    ("hugo.f@cantabile.example", "Hugo Fontein", "bass", 2020, "06-1180 5987", False, 38),
    ("bas.b@cantabile.example", "Bas Brouwer", "bass", 2007, "06-1180 6230", True, 31),
]}

_A = "score title composer language voicing copies minutes box period".split()
SCORES = {r[0]: dict(zip(_A, r)) for r in [
    ("ave-verum-mozart", "Ave verum corpus", "W. A. Mozart", "Latin", "SATB", 42, 4, "K2", "classical"),
    ("locus-iste", "Locus iste", "Anton Bruckner", "Latin", "SATB", 38, 3, "K1", "romantic"),
    ("geistliches-lied", "Geistliches Lied", "Johannes Brahms", "German", "SATB", 25, 5, "K3", "romantic"),
    ("if-ye-love-me", "If ye love me", "Thomas Tallis", "English", "SATB", 30, 2, "K5", "renaissance"),
    ("o-magnum-mysterium", "O magnum mysterium", "Morten Lauridsen", "Latin", "SATB", 36, 6, "K6", "modern"),
    ("sicut-cervus", "Sicut cervus", "Palestrina", "Latin", "SATB", 28, 7, "K5", "renaissance"),
    ("cantique-racine", "Cantique de Jean Racine", "Gabriel Faure", "French", "SATB", 44, 5, "K4", "romantic"),
    ("the-blue-bird", "The Blue Bird", "Charles V. Stanford", "English", "SSATB", 19, 4, "K7", "romantic"),
    ("jauchzet-dem-herrn", "Jauchzet dem Herrn", "Heinrich Schuetz", "German", "SATB SATB", 22, 8, "K8", "baroque"),
    ("lux-aurumque", "Lux aurumque", "Eric Whitacre", "Latin", "SSAATTBB", 33, 4, "K6", "modern"),
    ("dirait-on", "Dirait-on", "Morten Lauridsen", "French", "SATB", 27, 5, "K6", "modern"),
    ("lobet-den-herrn", "Lobet den Herrn", "J. S. Bach", "German", "SATB", 40, 7, "K8", "baroque"),
    ("come-again", "Come again", "John Dowland", "English", "SATB", 16, 3, "K5", "renaissance"),
    ("trois-chansons", "Trois chansons", "Claude Debussy", "French", "SATB", 12, 7, "K4", "modern"),
]}

_C = "no name date time venue ticket_price tickets_left conductor programme".split()
CONCERTS = {r[0]: dict(zip(_C, r)) for r in [
    (41, "Advent by Candlelight", "2026-12-06", "20:00", "St Lambert's Church", "€16", 54, "Marit Holm", ["o-magnum-mysterium", "lux-aurumque", "geistliches-lied"]),
    (42, "Christmas Matinee", "2026-12-20", "15:30", "Waag Hall", "€12", 120, "Marit Holm", ["ave-verum-mozart", "lobet-den-herrn"]),
    (43, "New Year Concert", "2027-01-10", "16:00", "Theatre De Kom", "€22", 7, "Edwin Pos", ["cantique-racine", "dirait-on", "the-blue-bird"]),
    (44, "Early Music Night", "2027-02-13", "20:15", "St Lambert's Church", "€14", 88, "Edwin Pos", ["if-ye-love-me", "sicut-cervus", "come-again"]),
    (45, "Passion Evening", "2027-03-19", "19:30", "Old Abbey", "€18", 143, "Marit Holm", ["locus-iste", "ave-verum-mozart"]),
    (46, "Spring in Paris", "2027-04-24", "20:00", "Waag Hall", "€15", 165, "Celia Grant", ["trois-chansons", "cantique-racine"]),
    (47, "Midsummer Serenade", "2027-06-21", "21:00", "Castle Garden", "€10", 200, "Celia Grant", ["the-blue-bird"]),
]}


def _concert(no):
    if no not in CONCERTS:
        raise ToolError(f"concert {no} not found")
    return CONCERTS[no]


@server.tool(name="look-up-singer")
def look_up_singer(who: Annotated[str, Field(description="name, part of a name, or e-mail")]) -> str:
    """Everything we know about a singer."""
    w = who.lower().strip()
    found = [s for s in SINGERS.values() if w == s["email"] or w in s["name"].lower()]
    if not found:
        return f"Nobody called {who} sings with us."
    return "\n\n".join(f"{s['name']} <{s['email']}>\nvoice: {s['voice']}\nmember since: {s['since']}\nphone: {s['phone']}\n"
                       f"dues paid: {'yes' if s['dues_paid'] else 'no'}\nfolder: {s['folder']}" for s in found)


@server.tool(name="list-singers")
def list_singers(voice: Literal["soprano", "alto", "tenor", "bass"] | None = None, dues_paid: bool | None = None) -> str:
    """Singers as a table, all or by voice part and whether the dues are paid."""
    rows = [s for s in SINGERS.values() if voice in (None, s["voice"]) and dues_paid in (None, s["dues_paid"])]
    if not rows:
        return "(none)"
    return "name | voice | since | dues | folder\n" + "\n".join(
        f"{s['name']} | {s['voice']} | {s['since']} | {'paid' if s['dues_paid'] else 'open'} | {s['folder']}" for s in rows)


@server.tool(name="edit-singer")
def edit_singer(email: Annotated[str, Field(description="the singer's e-mail, which is the key")], voice: Literal["soprano", "alto", "tenor", "bass"] | None = None,
                phone: str | None = None, dues_paid: bool | None = None, folder: int | None = None) -> str:
    """Change a singer's voice part, phone, dues or folder number."""
    if email not in SINGERS:
        raise ToolError(f"no singer with e-mail {email}")
    new = {k: v for k, v in (("voice", voice), ("phone", phone), ("dues_paid", dues_paid), ("folder", folder)) if v is not None}
    if not new:
        raise ToolError("nothing to change")
    SINGERS[email].update(new)
    return f"Saved {SINGERS[email]['name']}: " + ", ".join(f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in new.items())


@server.tool(name="search-archive")
def search_archive(words: Annotated[str | None, Field(description="words from the title or the composer's name")] = None,
                   language: Literal["Latin", "German", "English", "French"] | None = None,
                   period: Literal["renaissance", "baroque", "classical", "romantic", "modern"] | None = None) -> str:
    """Search the score archive. Lines: score id, title, composer, copies."""
    rows = [a for a in SCORES.values() if (not words or words.lower() in f"{a['title']} {a['composer']}".lower())
            and language in (None, a["language"]) and period in (None, a["period"])]
    return "\n".join(f"{a['score']}: {a['title']} ({a['composer']}), {a['copies']} copies" for a in rows) or "No scores found."


@server.tool(name="score-details")
def score_details(score: str) -> dict:
    """One score by its id, e.g. locus-iste: voicing, language, length in minutes, copies, archive box."""
    if score not in SCORES:
        raise ToolError(f"no such score: {score}")
    return SCORES[score]


@server.tool(name="count-copies")
def count_copies(score: str, copies: int) -> str:
    """Enter how many copies of a score there are now."""
    if score not in SCORES:
        raise ToolError(f"no such score: {score}")
    old, SCORES[score]["copies"] = SCORES[score]["copies"], copies
    return f"{SCORES[score]['title']}: {old} -> {copies} copies"


@server.tool(name="concert-calendar")
def concert_calendar(venue: str | None = None, conductor: str | None = None) -> str:
    """The season's concerts, optionally at one venue or with one conductor."""
    rows = [c for c in CONCERTS.values() if (not venue or venue.lower() in c["venue"].lower()) and (not conductor or conductor.lower() in c["conductor"].lower())]
    return "\n".join(f"{c['no']} {c['date']} {c['time']} {c['name']}, {c['venue']}" for c in rows) or "No concerts."


@server.tool(name="concert-info")
def concert_info(no: int) -> dict:
    """A concert by number: venue, conductor, ticket price, tickets left, programme (score ids)."""
    return _concert(no)


@server.tool(name="change-concert")
def change_concert(no: int, date: str | None = None, time: str | None = None, venue: str | None = None, tickets_left: int | None = None, add_score: str | None = None,
                   remove_score: str | None = None) -> str:
    """Move a concert, set its tickets left, or put a score on / take a score off the programme."""
    c = _concert(no)
    if add_score and add_score not in SCORES:
        raise ToolError(f"no such score: {add_score}")
    if add_score and add_score in c["programme"]:
        raise ToolError(f"{add_score} is already on the programme")
    if remove_score and remove_score not in c["programme"]:
        raise ToolError(f"{remove_score} is not on the programme")
    new = {k: v for k, v in (("date", date), ("time", time), ("venue", venue), ("tickets_left", tickets_left)) if v is not None}
    c.update(new)
    done = [f"{k} is now {v}" for k, v in new.items()]
    if add_score:
        c["programme"] = c["programme"] + [add_score]; done.append(f"added {add_score}")
    if remove_score:
        c["programme"] = [s for s in c["programme"] if s != remove_score]; done.append(f"removed {remove_score}")
    if not done:
        raise ToolError("nothing to change")
    return f"Concert {no} ({c['name']}): " + "; ".join(done) + "."


if __name__ == "__main__":
    server.run()
