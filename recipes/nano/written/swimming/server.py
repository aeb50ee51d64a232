from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("otters-swim-club")

Squad = Literal["minis", "development", "performance", "masters"]
Event = Literal["50FR", "100FR", "200FR", "50BK", "100BK", "50BR", "100BR", "50FL", "100FL", "200IM"]

# licence: name, born, squad, coach, main stroke, parent or own phone, medical valid until, fee paid, joined
SWIMMERS = {
    70412: ["Amelie Roux", "2012-04-19", "development", "Gwen", "backstroke", "0161 555 0142", "2026-09-30", True, "2020-09-07"],
    70418: ["Callum Reid", "2010-11-02", "performance", "Petar", "freestyle", "0161 555 0177", "2026-06-15", True, "2018-01-15"],
    70425: ["Dilan Kaya", "2013-07-25", "development", "Gwen", "breaststroke", "0161 555 0119", "2026-12-01", False, "2022-03-28"],
    70431: ["Esme Reid", "2014-02-08", "minis", "Holly", "freestyle", "0161 555 0177", "2027-01-20", True, "2023-09-04"],
    70440: ["Femi Adeyemi", "2009-09-13", "performance", "Petar", "butterfly", "0161 555 0163", "2026-05-09", True, "2017-04-24"],
    70446: ["Greta Lindqvist", "2011-01-30", "performance", "Petar", "medley", "0161 555 0108", "2026-11-11", True, "2019-09-09"],
    70452: ["Hugo Marsh", "2015-05-17", "minis", "Holly", "backstroke", "0161 555 0190", "2026-08-22", False, "2024-01-08"],
    70459: ["Isla Pemberton", "1984-12-04", "masters", "Rolf", "freestyle", "0161 555 0131", "2026-10-18", True, "2016-05-02"],
    70463: ["Jin Park", "2012-08-21", "development", "Gwen", "butterfly", "0161 555 0155", "2026-07-07", True, "2021-06-14"],
    70470: ["Kofi Boateng", "1978-03-26", "masters", "Rolf", "breaststroke", "0161 555 0124", "2027-02-14", False, "2019-11-18"],
    70477: ["Lucia Ferraro", "2010-06-10", "performance", "Petar", "breaststroke", "0161 555 0186", "2026-04-28", True, "2018-09-03"],
    70481: ["Milo Hartley", "2013-10-05", "development", "Gwen", "freestyle", "0161 555 0112", "2026-09-16", True, "2022-09-05"],
}
# licence, event, time, meet, date
TIMES = [
    [70412, "50BK", "36.84", "winter-cup", "2026-01-24"], [70412, "100BK", "1:19.45", "winter-cup", "2026-01-24"], [70412, "50BK", "36.10", "club-champs", "2026-03-07"],
    [70412, "50FR", "33.72", "club-champs", "2026-03-07"], [70418, "50FR", "25.91", "winter-cup", "2026-01-24"], [70418, "100FR", "56.38", "winter-cup", "2026-01-24"],
    [70418, "100FR", "55.87", "club-champs", "2026-03-08"], [70418, "200FR", "2:03.14", "club-champs", "2026-03-08"], [70425, "50BR", "41.07", "club-champs", "2026-03-07"],
    [70425, "100BR", "1:31.66", "club-champs", "2026-03-08"], [70431, "50FR", "42.55", "club-champs", "2026-03-07"], [70440, "50FL", "27.03", "winter-cup", "2026-01-25"],
    [70440, "100FL", "1:00.72", "winter-cup", "2026-01-25"], [70440, "50FL", "26.78", "club-champs", "2026-03-07"], [70440, "50FR", "25.40", "club-champs", "2026-03-07"],
    [70446, "200IM", "2:31.90", "winter-cup", "2026-01-24"], [70446, "200IM", "2:29.35", "club-champs", "2026-03-08"], [70446, "100FR", "1:03.21", "club-champs", "2026-03-08"],
    [70452, "50BK", "52.48", "club-champs", "2026-03-07"], [70459, "50FR", "30.66", "masters-open", "2026-02-15"], [70459, "100FR", "1:07.90", "masters-open", "2026-02-15"],
    [70463, "50FL", "33.95", "club-champs", "2026-03-07"], [70463, "50FR", "31.18", "winter-cup", "2026-01-24"], [70470, "50BR", "35.52", "masters-open", "2026-02-15"],
    [70470, "100BR", "1:20.04", "masters-open", "2026-02-15"], [70477, "50BR", "35.29", "winter-cup", "2026-01-25"], [70477, "100BR", "1:16.83", "club-champs", "2026-03-08"],
    [70481, "50FR", "30.87", "club-champs", "2026-03-07"], [70481, "100FR", "1:08.33", "club-champs", "2026-03-08"],
]
# slug: name, date, pool, course, entry deadline, fee per event GBP, warm-up, status
MEETS = {
    "winter-cup": ["Winter Cup", "2026-01-24", "Salford", "25m", "2026-01-09", "6.50", "08:15", "finished"],
    "masters-open": ["North West Masters Open", "2026-02-15", "Bolton", "25m", "2026-01-30", "9.00", "12:30", "finished"],
    "club-champs": ["Club Championships", "2026-03-07", "Stretford", "25m", "2026-02-27", "3.00", "16:45", "finished"],
    "spring-sprint": ["Spring Sprint", "2026-04-18", "Oldham", "25m", "2026-04-03", "7.00", "08:00", "open"],
    "county-long": ["County Long Course", "2026-05-16", "Manchester Aquatics", "50m", "2026-04-24", "11.50", "07:30", "open"],
    "otters-gala": ["Otters Summer Gala", "2026-06-20", "Stretford", "25m", "2026-06-10", "4.00", "13:15", "open"],
    "relay-night": ["Relay Night", "2026-07-03", "Bury", "25m", "2026-06-26", "5.50", "17:30", "planned"],
}
ENTRIES = {
    "spring-sprint": [[70418, "50FR"], [70440, "50FL"], [70440, "50FR"], [70412, "50BK"], [70463, "50FL"], [70481, "50FR"]],
    "county-long": [[70418, "100FR"], [70418, "200FR"], [70446, "200IM"], [70477, "100BR"], [70440, "100FL"]],
    "otters-gala": [[70431, "50FR"], [70452, "50BK"]],
}


def swimmer(licence: int) -> list:
    if licence not in SWIMMERS:
        raise ToolError(f"LICENCE_NOT_FOUND: {licence}")
    return SWIMMERS[licence]


@server.tool()
def search_swimmers(name: str | None = None, squad: Squad | None = None) -> str:
    "Look up swimmers by (part of) name and/or squad. Gives licence, name, squad and coach."
    rows = [f"{k}\t{s[0]}\t{s[2]}\t{s[3]}" for k, s in SWIMMERS.items() if (not name or name.lower() in s[0].lower()) and (not squad or s[2] == squad)]
    return "\n".join(["licence\tname\tsquad\tcoach", *rows]) if rows else "no swimmers found"


@server.tool()
def swimmer_card(licence: int) -> dict:
    "Full member card by licence number."
    s = swimmer(licence)
    return {"licence": licence, "name": s[0], "date_of_birth": s[1], "squad": s[2], "coach": s[3], "main_stroke": s[4], "phone": s[5],
            "medical_valid_until": s[6], "fees_paid": s[7], "joined": s[8]}


@server.tool()
def swimmer_times(licence: int, event: Event | None = None) -> str:
    "Times swum by one swimmer, newest last, with personal bests marked PB. Events: distance + FR/BK/BR/FL/IM."
    s = swimmer(licence)
    rows = [t for t in TIMES if t[0] == licence and (not event or t[1] == event)]
    if not rows:
        return f"{s[0]} has no times" + (f" in {event}" if event else "")
    out = [s[0]]
    for _, e, time, meet, date in rows:
        best = min((sec(t[2]) for t in TIMES if t[0] == licence and t[1] == e))
        out.append(f"{e:6}{time:9}{date}  {meet}{'  PB' if sec(time) == best else ''}")
    return "\n".join(out)


def sec(time: str) -> float:
    minutes, _, seconds = time.rpartition(":")
    return 60 * int(minutes or 0) + float(seconds)


@server.tool()
def event_ranking(event: Event) -> str:
    "Club ranking of an event: each swimmer's best time, fastest first."
    best = {}
    for licence, e, time, *_ in TIMES:
        if e == event and (licence not in best or sec(time) < sec(best[licence])):
            best[licence] = time
    rows = [f"{i}. {SWIMMERS[k][0]} {t}" for i, (k, t) in enumerate(sorted(best.items(), key=lambda x: sec(x[1])), 1)]
    return "\n".join(rows) or f"nobody has swum {event}"


@server.tool()
def list_meets(status: Literal["planned", "open", "finished"] | None = None) -> list[dict]:
    "All meets, or those with a status; dates, ids and pools."
    return [{"meet_id": k, "name": m[0], "date": m[1], "pool": m[2], "status": m[7]} for k, m in MEETS.items() if not status or m[7] == status]


@server.tool()
def meet_info(meet_id: str) -> dict:
    "One meet with deadline, fee per event, warm-up and the entries of our swimmers. meet_id as in list_meets, e.g. winter-cup"
    if meet_id not in MEETS:
        raise ToolError(f"MEET_NOT_FOUND: {meet_id}")
    m = MEETS[meet_id]
    return {"meet_id": meet_id, "name": m[0], "date": m[1], "pool": m[2], "course": m[3], "entry_deadline": m[4], "fee_per_event": m[5] + " GBP", "warm_up": m[6],
            "status": m[7], "entries": [f"{SWIMMERS[k][0]} ({k}) {e}" for k, e in ENTRIES.get(meet_id, [])]}


@server.tool()
def change_entry(meet_id: str, licence: int, event: Event, action: Literal["enter", "withdraw"]) -> str:
    "Enter a swimmer for an event of an open meet, or withdraw the entry."
    if meet_id not in MEETS:
        raise ToolError(f"MEET_NOT_FOUND: {meet_id}")
    s, m = swimmer(licence), MEETS[meet_id]
    entries = ENTRIES.setdefault(meet_id, [])
    if m[7] != "open":
        return f"Not possible: {m[0]} is {m[7]}."
    if action == "withdraw":
        if [licence, event] not in entries:
            return f"{s[0]} is not entered for {event} at {m[0]}."
        entries.remove([licence, event])
        return f"{s[0]} withdrawn from {event} at {m[0]} ({m[1]})."
    if [licence, event] in entries:
        return f"{s[0]} is already entered for {event} at {m[0]}."
    entries.append([licence, event])
    return f"{s[0]} entered for {event} at {m[0]} ({m[1]}), fee {m[5]} GBP."


@server.tool()
def add_time(licence: int, event: Event, time: str, meet_id: str) -> str:
    "Record a time (m:ss.hh or ss.hh) swum at a meet."
    s = swimmer(licence)
    if meet_id not in MEETS:
        raise ToolError(f"MEET_NOT_FOUND: {meet_id}")
    old = [t[2] for t in TIMES if t[0] == licence and t[1] == event]
    TIMES.append([licence, event, time, meet_id, MEETS[meet_id][1]])
    best = min(old, key=sec) if old else None
    note = "first time" if best is None else f"new PB, was {best}" if sec(time) < sec(best) else f"PB stays {best}"
    return f"Recorded {event} {time} for {s[0]} at {meet_id} ({note})"


@server.tool()
def update_swimmer(licence: int, squad: Squad | None = None, phone: str | None = None, medical_valid_until: str | None = None, fees_paid: bool | None = None) -> dict:
    "Change squad, phone, medical certificate date (YYYY-MM-DD) or fee status of a swimmer."
    s, coaches = swimmer(licence), {"minis": "Holly", "development": "Gwen", "performance": "Petar", "masters": "Rolf"}
    out = {"licence": licence, "name": s[0]}
    if squad:
        s[2], s[3] = squad, coaches[squad]
        out |= {"squad": squad, "coach": s[3]}
    for i, key, value in ((5, "phone", phone), (6, "medical_valid_until", medical_valid_until), (7, "fees_paid", fees_paid)):
        if value is not None:
            s[i] = value
            out[key] = value
    return out


if __name__ == "__main__":
    server.run()
