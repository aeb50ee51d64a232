from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("bibliography")

AUTHORS = {
    "okafor-n": ("Ngozi Okafor", "University of Brenmouth", "n.okafor@brenmouth.example"),
    "lind-p": ("Per Lind", "Harsund Marine Institute", "per.lind@harsund.example"),
    "castel-m": ("Mireia Castel", "Delta Field Station", "mireia@deltastation.example"),
    "ishii-r": ("Ren Ishii", "Kamo Institute of Technology", "r.ishii@kamotech.example"),
    "dubois-t": ("Thea Dubois", "Moorland College", "tdubois@moorland.example"),
    "brandt-k": ("Klaus Brandt", "City Museum of Natural History", "brandt@citymuseum.example"),
    "mwangi-a": ("Amina Mwangi", "Eastlea University", "a.mwangi@eastlea.example"),
    "petrov-s": ("Silvia Petrov", "Academy of Sound", "silvia.petrov@soundacademy.example"),
    "hale-j": ("Jonah Hale", "Levee Research Trust", "jhale@leveetrust.example"),
    "quist-e": ("Ebba Quist", "University of Brenmouth", "e.quist@brenmouth.example"),
}

# name, publisher, editor, open access, fee, next deadline
VENUES = {
    "JTE": ("Journal of Tidal Ecology", "Saltwater Press", "lind-p", "yes", 1450, "rolling"),
    "UBR": ("Urban Birds Review", "Fieldgate", "mwangi-a", "no", 0, "2026-01-10"),
    "CSS": ("Coastal Sensing Symposium", "Norvia", "ishii-r", "yes", 620, "2026-02-15"),
    "PLX": ("Peat and Lakes Letters", "Moorland House", "dubois-t", "no", 300, "rolling"),
    "SND": ("Soundscapes", "Fieldgate", "petrov-s", "yes", 890, "2025-11-30"),
}

# type, title, authors, venue, year, pages, cites
PAPERS = {
    "lind1998mud": ("article", "Mudflats as Memory", ["lind-p"], "JTE", 1998, "11-29", []),
    "okafor2004eel": ("article", "Eelgrass Return after Storms", ["okafor-n", "lind-p"], "JTE", 2004, "101-118", ["lind1998mud"]),
    "brandt2007gulls": ("article", "Why Gulls Moved to Town", ["brandt-k"], "UBR", 2007, "3-19", []),
    "mwangi2010swifts": ("article", "Swifts under Solar Roofs", ["mwangi-a", "brandt-k"], "UBR", 2010, "44-60", ["brandt2007gulls"]),
    "dubois2011peat": ("article", "Slow Carbon in Small Bogs", ["dubois-t"], "PLX", 2011, "200-214", []),
    "petrov2012quiet": ("article", "A Quiet Harbour: Noise before Dawn", ["petrov-s"], "SND", 2012, "1-22", []),
    "ishii2014buoys": ("inproceedings", "Cheap Buoys, Honest Data", ["ishii-r", "lind-p"], "CSS", 2014, "77-84", ["okafor2004eel"]),
    "hale2015salt": ("article", "Salt in the Cellar", ["hale-j"], "JTE", 2015, "310-325", ["lind1998mud", "ishii2014buoys"]),
    "castel2016crabs": ("article", "Green Crabs at the Sluice", ["castel-m", "okafor-n"], "JTE", 2016, "55-71", ["okafor2004eel"]),
    "quist2017ferry": ("article", "Ferry Noise and Herring", ["quist-e", "petrov-s"], "SND", 2017, "130-149", ["petrov2012quiet"]),
    "okafor2017tides": ("article", "Tides We No Longer Notice", ["okafor-n"], "JTE", 2017, "1-17", ["lind1998mud", "okafor2004eel", "hale2015salt"]),
    "dubois2018ponds": ("article", "Ponds on Purpose", ["dubois-t", "mwangi-a"], "PLX", 2018, "12-30", ["dubois2011peat"]),
    "ishii2019drift": ("inproceedings", "Correcting Sensor Drift with Barnacles", ["ishii-r"], "CSS", 2019, "15-22", ["ishii2014buoys"]),
    "mwangi2020crows": ("article", "Crows at the Tram Depot", ["mwangi-a"], "UBR", 2020, "88-104", ["brandt2007gulls", "mwangi2010swifts"]),
    "castel2020nets": ("inproceedings", "Ghost Nets from Above", ["castel-m", "ishii-r"], "CSS", 2020, "40-48", ["ishii2019drift", "ishii2014buoys"]),
    "petrov2021rain": ("article", "Rain on Tin: Urban Sound Archives", ["petrov-s", "hale-j"], "SND", 2021, "60-81", ["petrov2012quiet"]),
    "hale2022levees": ("article", "Living Levees", ["hale-j", "dubois-t"], "JTE", 2022, "400-421", ["okafor2017tides", "dubois2018ponds", "hale2015salt"]),
    "quist2023listening": ("article", "Listening to Eelgrass", ["quist-e", "okafor-n"], "SND", 2023, "9-33", ["okafor2004eel", "quist2017ferry", "petrov2021rain"]),
}

LISTS = {
    "tidal-seminar": {"title": "Tidal seminar, autumn", "owner": "okafor-n", "due": "2025-10-06",
                      "papers": {"lind1998mud": "read", "okafor2004eel": "read", "ishii2014buoys": "unread", "hale2015salt": "unread"}},
    "sound-club": {"title": "Sound club", "owner": "petrov-s", "due": "2025-09-22",
                   "papers": {"petrov2012quiet": "read", "quist2017ferry": "unread", "petrov2021rain": "unread"}},
    "city-birds": {"title": "City birds reading group", "owner": "brandt-k", "due": "2025-11-14",
                   "papers": {"brandt2007gulls": "read", "mwangi2010swifts": "unread"}},
    "exam-quist": {"title": "Ebba's exam list", "owner": "quist-e", "due": "2025-12-01",
                   "papers": {"okafor2004eel": "unread", "dubois2018ponds": "unread", "castel2020nets": "reading", "hale2022levees": "unread"}},
    "sensors-101": {"title": "Sensors for beginners", "owner": "ishii-r", "due": "2025-10-20",
                    "papers": {"ishii2014buoys": "unread", "ishii2019drift": "unread"}},
}


@server.tool()
def get_paper(citekey: str) -> str:
    """BibTeX-like entry of a paper. Authors are author ids, venue is a venue code, cites holds citekeys."""
    if citekey not in PAPERS:
        return f"% no entry with citekey {citekey}"
    kind, title, authors, venue, year, pages, cites = PAPERS[citekey]
    return (f"@{kind}{{{citekey},\n  title = {{{title}}},\n  author = {{{' and '.join(authors)}}},\n  venue = {{{venue}}},\n"
            f"  year = {{{year}}},\n  pages = {{{pages}}},\n  cites = {{{', '.join(cites)}}}\n}}")


@server.tool()
def search_papers(title_words: str | None = None, author_id: str | None = None, venue: str | None = None, year: int | None = None) -> str:
    """Search the collection. title_words is matched anywhere in the title, author_id like 'hale-j', venue is a code like 'JTE'."""
    if not (title_words or author_id or venue or year):
        raise ToolError("at least one search field is required")
    hits = [f"{key} ({p[4]}) {p[1]}" for key, p in PAPERS.items()
            if (not title_words or title_words.casefold() in p[1].casefold()) and (not author_id or author_id in p[2])
            and (not venue or venue == p[3]) and (not year or year == p[4])]
    return "\n".join(hits) or "0 papers found"


@server.tool()
def cited_by(citekey: str) -> str:
    """Papers in the collection that cite the given paper."""
    if citekey not in PAPERS:
        return f"% no entry with citekey {citekey}"
    keys = [key for key, p in PAPERS.items() if citekey in p[6]]
    return f"{citekey} is cited by {len(keys)}: {', '.join(keys)}" if keys else f"{citekey} is not cited by any paper here"


@server.tool()
def get_author(author: str) -> str:
    """Author record by author id ('hale-j') or by name or surname."""
    for key, (name, place, mail) in AUTHORS.items():
        if author.casefold() == key or author.casefold() in name.casefold():
            return f"id: {key}\nname: {name}\naffiliation: {place}\nemail: {mail}"
    raise ToolError(f"no author matches '{author}'")


@server.tool()
def get_venue(code: str) -> str:
    """Journal or conference by its code."""
    if code not in VENUES:
        raise ToolError(f"unknown venue code {code}")
    name, publisher, editor, oa, fee, deadline = VENUES[code]
    return (f"code: {code}\nname: {name}\npublisher: {publisher}\neditor: {editor}\nopen_access: {oa}\n"
            f"author_fee_usd: {fee}\nnext_deadline: {deadline}")


def _list(list_id):
    if list_id not in LISTS:
        raise ToolError(f"there is no reading list '{list_id}'")
    return LISTS[list_id]


@server.tool()
def show_lists(list_id: str | None = None) -> str:
    """One reading list with its papers and their status; without list_id an overview of all lists."""
    if list_id is None:
        return "\n".join(f"{key}: {l['title']}; owner {l['owner']}; due {l['due']}" for key, l in LISTS.items())
    l = _list(list_id)
    return (f"list: {list_id}\ntitle: {l['title']}\nowner: {l['owner']}\ndue: {l['due']}\npapers:\n"
            + "\n".join(f"  {k} [{s}]" for k, s in l["papers"].items()))


@server.tool()
def list_add(list_id: str, citekey: str) -> str:
    """Put a paper on a reading list (as unread)."""
    l = _list(list_id)
    if citekey not in PAPERS:
        return f"% no entry with citekey {citekey}"
    if citekey in l["papers"]:
        return f"{citekey} is on {list_id} already"
    l["papers"][citekey] = "unread"
    return f"added {citekey} to {list_id}; {len(l['papers'])} papers on the list"


@server.tool()
def list_mark(list_id: str, citekey: str, status: Literal["unread", "reading", "read"]) -> str:
    """Set how far somebody has got with a paper on a reading list."""
    l = _list(list_id)
    if citekey not in l["papers"]:
        raise ToolError(f"{citekey} is not on {list_id}")
    old, l["papers"][citekey] = l["papers"][citekey], status
    return f"{list_id}: {citekey} {old} -> {status}"


@server.tool()
def list_set_due(list_id: str, due: str) -> str:
    """Set the due date (YYYY-MM-DD) of a reading list."""
    l = _list(list_id)
    old, l["due"] = l["due"], due
    return f"{list_id}: due {old} -> {due}"


if __name__ == "__main__":
    server.run()
