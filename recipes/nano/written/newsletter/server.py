from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tidewrack-newsletter")

_SUB = [
    # email, name, status, plan, city, joined, open_rate, source, referrals, note
    ("anneke.visser@postbus.example", "Anneke Visser", "active", "patron", "Utrecht", "2021-02-14", 0.91, "podcast", 7, "met at the Ghent fair"),
    ("j.okoro@lagosmail.example", "Jide Okoro", "active", "free", "Lagos", "2023-06-30", 0.44, "twitter", 0, None),
    ("marisol.paz@correo.example", "Marisol Paz", "active", "supporter", "Oaxaca", "2022-09-05", 0.78, "friend", 3, None),
    ("t.halloran@eircom.example", "Tadhg Halloran", "paused", "supporter", "Cork", "2022-01-19", 0.63, "bookshop", 1, "back after his sabbatical in May"),
    ("wen.li@shanmail.example", "Wen Li", "active", "free", "Chengdu", "2024-03-11", 0.52, "search", 0, None),
    ("greta.lindqvist@brev.example", "Greta Lindqvist", "active", "patron", "Malmö", "2020-11-27", 0.97, "friend", 12, "wants paper copies too"),
    ("paul.dubois@courrier.example", "Paul Dubois", "unsubscribed", "free", "Lyon", "2022-12-08", 0.12, "facebook", 0, "too many mails"),
    ("nadia.dubois@courrier.example", "Nadia Dubois", "active", "supporter", "Lyon", "2023-01-16", 0.84, "friend", 2, None),
    ("sam.whitlock@inbox.example", "Sam Whitlock", "bounced", "free", "Leeds", "2021-08-23", 0.0, "search", 0, "mailbox full since March"),
    ("yuki.tanabe@denshi.example", "Yuki Tanabe", "active", "free", "Sendai", "2024-07-02", 0.69, "podcast", 1, None),
    ("rosa.ferri@postale.example", "Rosa Ferri", "active", "supporter", "Bari", "2021-05-09", 0.73, "bookshop", 4, None),
    ("k.mwangi@barua.example", "Kamau Mwangi", "active", "patron", "Nakuru", "2022-04-21", 0.88, "twitter", 5, "invoice to his school"),
    ("lotte.bruhn@brevduen.example", "Lotte Bruhn", "paused", "free", "Aarhus", "2023-10-03", 0.35, "facebook", 0, None),
    ("ed.prentice@inbox.example", "Edwina Prentice", "active", "supporter", "Bristol", "2020-10-31", 0.80, "podcast", 6, None),
    ("hana.kral@obalka.example", "Hana Král", "active", "free", "Brno", "2024-01-25", 0.58, "search", 0, None),
    ("diego.sosa@correo.example", "Diego Sosa", "bounced", "supporter", "Rosario", "2023-03-18", 0.21, "friend", 1, "card expired as well"),
    ("fatima.zahra@barid.example", "Fatima Zahra", "active", "free", "Fès", "2024-05-06", 0.66, "twitter", 0, None),
    ("mike.tran@mailbird.example", "Mike Tran", "active", "free", "Portland", "2023-08-12", 0.47, "podcast", 0, None),
    ("olga.prus@listonosz.example", "Olga Prus", "unsubscribed", "supporter", "Gdańsk", "2021-12-01", 0.40, "bookshop", 2, "moved to the RSS feed"),
    ("b.adeyemi@lagosmail.example", "Bisi Adeyemi", "active", "supporter", "Ibadan", "2022-07-17", 0.86, "friend", 3, None),
    ("ines.moreira@correio.example", "Inês Moreira", "active", "free", "Porto", "2024-09-19", 0.71, "facebook", 0, None),
    ("carl.moreno@mailbird.example", "Carl Moreno", "active", "patron", "Tucson", "2021-03-29", 0.93, "search", 2, "speaks for the library group"),
]
_SK = ["email", "name", "status", "plan", "city", "joined", "open_rate", "source", "referrals", "note"]
SUBS = {r[0]: dict(zip(_SK, r)) for r in _SUB}

_ISS = [
    # number, title, author, status, send_date, words, opens, clicks, subject line, price of sponsorship
    (118, "Salt and Glass", "Mara Quill", "sent", "2024-06-04", 1840, 3120, 412, "The beach that sings", 350),
    (119, "What the Herring Knew", "Mara Quill", "sent", "2024-06-18", 2210, 3255, 378, "A fish, a war, a recipe", 350),
    (120, "Lighthouse Wives", "Femi Ashby", "sent", "2024-07-02", 3105, 3678, 690, "They kept the lamps burning", 400),
    (121, "Low Water", "Mara Quill", "sent", "2024-07-16", 1495, 2987, 241, "Nothing to see but mud", 350),
    (122, "The Knitters of Fair Isle", "Sunniva Dahl", "sent", "2024-07-30", 2760, 3402, 533, "Every pattern is a map", 400),
    (123, "Ghost Nets", "Femi Ashby", "sent", "2024-08-13", 2480, 3311, 467, "Still fishing after 40 years", 0),
    (124, "A Short History of Fog", "Piet Arends", "sent", "2024-08-27", 1975, 3540, 389, "You cannot see this mail", 400),
    (125, "Eel Season", "Sunniva Dahl", "sent", "2024-09-10", 2330, 3266, 455, "Slippery, silver, leaving", 375),
    (126, "Harbour Cats", "Mara Quill", "sent", "2024-09-24", 1620, 4015, 812, "Meet the real harbourmasters", 450),
    (127, "Storm Names", "Piet Arends", "scheduled", "2024-10-08", 2050, None, None, "Who is afraid of Ophelia?", 400),
    (128, "The Sunken Bells", "Femi Ashby", "scheduled", "2024-10-22", 2895, None, None, "Listen at low tide", 425),
    (129, "Seaweed for Supper", "Sunniva Dahl", "draft", None, 1130, None, None, None, None),
    (130, "Letters from the Ferry", "Mara Quill", "draft", None, 640, None, None, None, None),
    (131, "Pilots", "Piet Arends", "draft", None, 2275, None, None, "The last mile is theirs", None),
]
_IK = ["number", "title", "author", "status", "send_date", "word_count", "opens", "clicks", "subject_line", "sponsor_fee_eur"]
ISSUES = {r[0]: dict(zip(_IK, r)) for r in _ISS}

_CAMP = [
    # code, name, channel, state, start, end, budget, spent, signups, owner
    ("FALL-POD", "Autumn podcast spots", "podcast", "running", "2024-09-01", "2024-11-15", 2400.00, 1310.50, 188, "Lena Roth"),
    ("FERRY-QR", "QR cards on the ferries", "print", "running", "2024-07-20", "2024-10-31", 650.00, 612.40, 97, "Jonas Eik"),
    ("CATS-VID", "Harbour cats video", "instagram", "running", "2024-09-25", "2024-10-09", 300.00, 74.20, 341, "Lena Roth"),
    ("LIB-SWAP", "Swap with Library Letters", "newsletter swap", "ended", "2024-05-06", "2024-05-20", 0.00, 0.00, 126, "Mara Quill"),
    ("SUMMER-AD", "Summer search ads", "search", "ended", "2024-06-01", "2024-08-31", 1200.00, 1187.95, 73, "Theo Marsh"),
    ("BOOKFAIR24", "Stand at the Ghent fair", "event", "ended", "2024-03-15", "2024-03-17", 900.00, 1044.00, 152, "Jonas Eik"),
    ("XMAS-GIFT", "Gift subscriptions", "newsletter", "planned", "2024-11-28", "2024-12-24", 800.00, 0.00, 0, "Lena Roth"),
    ("SCHOOLS", "Free plan for schools", "post", "paused", "2024-02-01", "2024-12-31", 500.00, 238.10, 41, "Theo Marsh"),
    ("WINBACK", "Come back mail to lapsed readers", "newsletter", "planned", "2025-01-13", "2025-01-27", 150.00, 0.00, 0, "Mara Quill"),
]
_CK = ["code", "name", "channel", "state", "start", "end", "budget", "spent", "signups", "owner"]
CAMPAIGNS = {r[0]: dict(zip(_CK, r)) for r in _CAMP}


def _sub(email):
    s = SUBS.get(email.strip().lower())
    if not s:
        raise ToolError(f"SubscriberNotFound: {email}")
    return s


@server.tool()
def get_subscriber(email: str) -> dict:
    "Fetch a subscriber's record by e-mail address."
    return _sub(email)


@server.tool()
def search_subscribers(name: str | None = None, city: str | None = None, plan: Literal["free", "supporter", "patron"] | None = None,
                       status: Literal["active", "paused", "bounced", "unsubscribed"] | None = None) -> list[dict]:
    "Find subscribers by (part of) name, city, plan and/or status. Returns name and e-mail, 12 at most."
    if not (name or city or plan or status):
        raise ToolError("BadRequest: at least one filter is required")
    hits = [s for s in SUBS.values() if (not name or name.lower() in s["name"].lower()) and (not city or city.lower() == s["city"].lower())
            and (not plan or s["plan"] == plan) and (not status or s["status"] == status)]
    return [{"name": s["name"], "email": s["email"]} for s in hits[:12]]


@server.tool()
def get_issue(number: int) -> dict:
    "Fetch one newsletter issue by its number."
    if number not in ISSUES:
        raise ToolError(f"IssueNotFound: {number}")
    return ISSUES[number]


@server.tool()
def list_issues(status: Literal["draft", "scheduled", "sent"] | None = None, author: str | None = None, title_contains: str | None = None) -> list[dict]:
    "List issues (number, title, send date, opens), newest first. All filters are optional."
    hits = [i for i in ISSUES.values() if (not status or i["status"] == status) and (not author or author.lower() in i["author"].lower())
            and (not title_contains or title_contains.lower() in i["title"].lower())]
    return [{k: i[k] for k in ("number", "title", "send_date", "opens")} for i in sorted(hits, key=lambda i: -i["number"])]


@server.tool()
def campaign_report(code: str) -> str:
    "Numbers of one growth campaign. Needs its code, like FALL-POD."
    c = CAMPAIGNS.get(code.strip().upper())
    if not c:
        raise ToolError(f"CampaignNotFound: {code}")
    return (f"{c['code']}: {c['name']}\nChannel: {c['channel']}\nState: {c['state']}\nRuns: {c['start']} to {c['end']}\n"
            f"Budget: EUR {c['budget']:.2f}\nSpent: EUR {c['spent']:.2f}\nSign-ups: {c['signups']}\nOwner: {c['owner']}")


@server.tool()
def list_campaigns(state: Literal["planned", "running", "paused", "ended"] | None = None) -> str:
    "Table of campaigns, optionally of one state."
    rows = [c for c in CAMPAIGNS.values() if not state or c["state"] == state]
    return "\n".join(["code        state    signups  name"] + [f"{c['code']:<11} {c['state']:<8} {c['signups']:>7}  {c['name']}" for c in rows])


@server.tool()
def add_subscriber(email: str, name: str, plan: Literal["free", "supporter", "patron"] = "free", city: str | None = None) -> dict:
    "Sign somebody up. The plan is 'free' unless given."
    if "@" not in email:
        raise ToolError("BadRequest: that is not an e-mail address")
    key = email.strip().lower()
    if key in SUBS:
        raise ToolError(f"AlreadySubscribed: {key} ({SUBS[key]['status']})")
    SUBS[key] = dict(email=key, name=name, status="active", plan=plan, city=city, joined="2024-10-01", open_rate=0.0, source="manual", referrals=0, note=None)
    return {"added": key, "name": name, "plan": plan}


@server.tool()
def update_subscriber(email: str, status: Literal["active", "paused", "unsubscribed"] | None = None,
                      plan: Literal["free", "supporter", "patron"] | None = None, note: str | None = None) -> dict:
    "Change a subscriber's status, plan or note. Only the fields that are passed change."
    s = _sub(email)
    changed = {k: v for k, v in (("status", status), ("plan", plan), ("note", note)) if v is not None}
    if not changed:
        raise ToolError("BadRequest: nothing to change")
    s.update(changed)
    return {"email": s["email"], "updated": changed}


@server.tool()
def schedule_issue(number: int, send_date: str) -> dict:
    "Set or move the send date (YYYY-MM-DD) of a draft or scheduled issue."
    if number not in ISSUES:
        raise ToolError(f"IssueNotFound: {number}")
    i = ISSUES[number]
    if i["status"] == "sent":
        raise ToolError(f"Conflict: issue {number} was already sent on {i['send_date']}")
    i["status"], i["send_date"] = "scheduled", send_date
    return {"number": number, "title": i["title"], "status": "scheduled", "send_date": send_date}


if __name__ == "__main__":
    server.run()
