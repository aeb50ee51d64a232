"""Seating and invitations for the wedding dinner of Nell and Otis, 20 June 2026."""
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("wedding-banquet")

# name: age, side, table, diet, invitation, arrives by, song wish
GUESTS = {
    "Bertie Pettigrew": [71, "bride", "Lavender", "gluten free", "The Pettigrews", "train", "Moon River"],
    "Joan Pettigrew": [69, "bride", "Lavender", "standard", "The Pettigrews", "train", "Fly Me to the Moon"],
    "Clement Pettigrew": [34, "bride", "Marigold", "vegan", "The Pettigrews", "bike", "Heroes"],
    "Adaeze Okonjo": [41, "groom", "Peony", "halal", "Okonjo family", "car", "Sweet Mother"],
    "Emeka Okonjo": [44, "groom", "Peony", "halal", "Okonjo family", "car", "September"],
    "Zikora Okonjo": [9, "groom", "Sweet Pea", "halal", "Okonjo family", "car", "Let It Go"],
    "Tobi Okonjo": [6, "groom", "Sweet Pea", "nut allergy", "Okonjo family", "car", "Baby Shark"],
    "Harriet Marsh": [38, "bride", "Marigold", "vegetarian", "Marsh & Lyle", "plane", "Dancing Queen"],
    "Gwen Lyle": [40, "bride", "Marigold", "vegan", "Marsh & Lyle", "plane", "Jolene"],
    "Beatrice Fallow": [83, "groom", "Lavender", "vegetarian", "Auntie Bea", "taxi", "Que Sera Sera"],
    "Rupert Fenwick": [52, "groom", "Foxglove", "standard", "Fenwick family", "car", "Wonderwall"],
    "Isolde Fenwick": [50, "groom", "Foxglove", "gluten free", "Fenwick family", "car", "Vogue"],
    "Percy Fenwick": [12, "groom", "Sweet Pea", "standard", "Fenwick family", "car", "Thunderstruck"],
    "Hugo Tran": [29, "groom", "Honeysuckle", "nut allergy", "Hugo Tran", "train", "Get Lucky"],
    "Celeste Delacourt": [47, "bride", "Foxglove", "vegetarian", "Delacourts", "ferry", "La Mer"],
    "Armand Delacourt": [49, "bride", "Foxglove", "standard", "Delacourts", "ferry", "La Vie en rose"],
    "Noelle Delacourt": [15, "bride", "Honeysuckle", "vegan", "Delacourts", "ferry", "Bad Guy"],
    "Ness Abernathy": [31, "bride", "Honeysuckle", "standard", "Ness Abernathy", "bus", "500 Miles"],
    "Callum Wilkie": [36, "groom", "Marigold", "nut allergy", "The Wilkies", "car", "Mr Brightside"],
    "Shona Wilkie": [35, "groom", "Marigold", "standard", "The Wilkies", "car", "Valerie"],
    "Rosalind Quirk": [62, "bride", "Lavender", "gluten free", "Rosalind Quirk", "taxi", "Hallelujah"],
    "Silas Vane": [27, "groom", "Honeysuckle", "vegan", "Silas Vane", "bus", "Blue Monday"],
    "Mabel Stroud": [58, "bride", "Peony", "standard", "Strouds", "car", "Stand by Me"],
    "Lionel Stroud": [60, "bride", "Peony", "vegetarian", "Strouds", "car", "My Girl"],
}
GUEST_KEYS = ("age", "side", "table", "diet", "invitation", "arrives by", "song wish")
# name: seats, place, host, waiter, candles
TABLES = {
    "Lavender": [6, "by the fireplace", "Joan Pettigrew", "Tamsin", "white"],
    "Foxglove": [6, "next to the stage", "Isolde Fenwick", "Pavel", "red"],
    "Peony": [4, "under the balcony", "Adaeze Okonjo", "Pavel", "gold"],
    "Sweet Pea": [5, "beside the garden door", "Percy Fenwick", "Lotte", "none"],
    "Marigold": [8, "near the bar", "Gwen Lyle", "Andrzej", "gold"],
    "Honeysuckle": [7, "at the window", "Ness Abernathy", "Lotte", "white"],
}
# diet: starter, main, dessert, surcharge, cook
DIETS = {
    "standard": ["smoked trout", "roast lamb", "lemon tart", 0, "Olga"],
    "vegetarian": ["beetroot salad", "mushroom pie", "lemon tart", 4, "Olga"],
    "vegan": ["beetroot salad", "stuffed aubergine", "poached pear", 6, "Dev"],
    "gluten free": ["smoked trout", "lamb with polenta", "almond cake", 7, "Dev"],
    "nut allergy": ["pea soup", "roast chicken", "vanilla cream", 3, "Fatou"],
    "halal": ["pea soup", "halal lamb tagine", "orange salad", 9, "Fatou"],
}
# name: contact, e-mail, posted, reply, replied on, coming, gift, hotel
INVITATIONS = {
    "The Pettigrews": ["Joan Pettigrew", "pettigrews@post.example", "2026-02-03", "yes", "2026-02-19", 3, 250, "The Swan"],
    "Okonjo family": ["Emeka Okonjo", "emeka@okonjo.example", "2026-02-03", "yes", "2026-02-11", 4, 400, "Mill House"],
    "Marsh & Lyle": ["Harriet Marsh", "harriet@marshlyle.example", "2026-02-10", "waiting", "-", 2, 0, "none"],
    "Auntie Bea": ["Beatrice Fallow", "bea@fallow.example", "2026-02-01", "yes", "2026-02-06", 1, 120, "The Swan"],
    "Fenwick family": ["Isolde Fenwick", "isolde@fenwick.example", "2026-02-03", "yes", "2026-03-02", 3, 180, "Mill House"],
    "Hugo Tran": ["Hugo Tran", "hugo.tran@mail.example", "2026-02-17", "waiting", "-", 1, 0, "none"],
    "Delacourts": ["Celeste Delacourt", "celeste@delacourt.example", "2026-01-28", "yes", "2026-03-15", 3, 300, "Harbour Lodge"],
    "Ness Abernathy": ["Ness Abernathy", "ness@abernathy.example", "2026-02-10", "yes", "2026-02-12", 1, 60, "The Swan"],
    "The Wilkies": ["Shona Wilkie", "shona@wilkie.example", "2026-02-17", "no", "2026-03-01", 0, 75, "none"],
    "Rosalind Quirk": ["Rosalind Quirk", "r.quirk@mail.example", "2026-02-17", "waiting", "-", 1, 0, "none"],
    "Silas Vane": ["Silas Vane", "silas@vane.example", "2026-02-24", "no", "2026-03-09", 0, 0, "none"],
    "Strouds": ["Mabel Stroud", "mabel@stroud.example", "2026-02-10", "yes", "2026-02-27", 2, 150, "Harbour Lodge"],
}


def _key(table, name):
    return next((k for k in table if k.lower() == name.strip().lower()), None)


@server.tool()
def guest_card(name: str) -> str:
    "Everything on one guest: age, side, table, diet, invitation, travel, song. Needs the full name."
    k = _key(GUESTS, name)
    if not k:
        return f"Nobody called {name} is on the guest list."
    return "\n".join([f"name: {k}"] + [f"{f}: {v}" for f, v in zip(GUEST_KEYS, GUESTS[k])])


@server.tool()
def list_guests(name_part: str = "", table: str = "", diet: str = "", invitation: str = "") -> str:
    "Guests by a part of the name, by table, by diet or by invitation (at least one of them). One line each: name | age | side."
    if not (name_part or table or diet or invitation):
        return "Please narrow it down: name_part, table, diet or invitation."
    rows = [f"{n} | {g[0]} | {g[1]}" for n, g in GUESTS.items() if name_part.lower() in n.lower() and (not table or g[2].lower() == table.lower())
            and (not diet or g[3] == diet.lower()) and (not invitation or g[4].lower() == invitation.lower())]
    return "name | age | side\n" + "\n".join(rows) if rows else "No guests match."


@server.tool()
def table_card(table: str) -> str:
    "One table: seats, where it stands, host, waiter, candles."
    k = _key(TABLES, table)
    if not k:
        return f"There is no table named {table}."
    s, place, host, waiter, candles = TABLES[k]
    return f"table: {k}\nseats: {s}\nplace: {place}\nhost: {host}\nwaiter: {waiter}\ncandles: {candles}"


@server.tool()
def tables_overview() -> str:
    "All tables with their seats and how many are taken."
    return "table | seats | taken\n" + "\n".join(f"{k} | {t[0]} | {sum(g[2] == k for g in GUESTS.values())}" for k, t in TABLES.items())


@server.tool()
def diet_menu(diet: Literal["standard", "vegetarian", "vegan", "gluten free", "nut allergy", "halal"]) -> str:
    "The three courses for a diet, the surcharge per head and who cooks it."
    a, b, c, extra, cook = DIETS[diet]
    return f"diet: {diet}\nstarter: {a}\nmain: {b}\ndessert: {c}\nsurcharge: £{extra} per head\ncook: {cook}"


@server.tool()
def invitation_card(invitation: str) -> str:
    "One invitation, by the name on the envelope (e.g. 'The Pettigrews')."
    k = _key(INVITATIONS, invitation)
    if not k:
        return f"No invitation was made out to '{invitation}'."
    return "\n".join([f"invitation: {k}"] + [f"{f}: {v}" for f, v in zip(("contact", "e-mail", "posted", "reply", "replied on", "coming", "gift", "hotel"),
                     [*INVITATIONS[k][:6], f"£{INVITATIONS[k][6]}", INVITATIONS[k][7]])])


@server.tool()
def list_invitations(reply: Literal["yes", "no", "waiting"] | None = None) -> str:
    "Invitations, all or by reply. One line each: invitation | reply | coming | gift."
    return "invitation | reply | coming | gift\n" + "\n".join(f"{k} | {i[3]} | {i[5]} | £{i[6]}" for k, i in INVITATIONS.items() if not reply or i[3] == reply)


@server.tool()
def update_guest(name: str, table: str | None = None, diet: Literal["standard", "vegetarian", "vegan", "gluten free", "nut allergy", "halal"] | None = None) -> str:
    "Seat a guest at another table and/or change the diet."
    k = _key(GUESTS, name)
    if not k:
        return f"Nobody called {name} is on the guest list."
    if table:
        t = _key(TABLES, table)
        if not t:
            return f"There is no table named {table}."
        if sum(g[2] == t for n, g in GUESTS.items() if n != k) >= TABLES[t][0]:
            raise ToolError(f"{t} is full ({TABLES[t][0]} seats)")
        GUESTS[k][2] = t
    if diet:
        GUESTS[k][3] = diet
    return f"{k} is now at {GUESTS[k][2]}, diet {GUESTS[k][3]}."


@server.tool()
def record_reply(invitation: str, reply: Literal["yes", "no", "waiting"] | None = None, coming: int | None = None) -> str:
    "Note the reply to an invitation and/or how many people come."
    k = _key(INVITATIONS, invitation)
    if not k:
        return f"No invitation was made out to '{invitation}'."
    if reply is None and coming is None:
        raise ToolError("nothing to record: give reply or coming")
    i = INVITATIONS[k]
    i[3], i[5] = reply or i[3], 0 if reply == "no" else i[5] if coming is None else coming
    return f"{k}: reply {i[3]}, {i[5]} coming."


if __name__ == "__main__":
    server.run()
