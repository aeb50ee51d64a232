from typing import Literal
from mcp.server.mcpserver import MCPServer

server = MCPServer("animal-shelter")

_A = """A-201|Biscuit|dog|beagle mix|4|male|13.5|D1|2025-01-08|available|yes|180|good with children, pulls on the lead
A-202|Olive|cat|domestic shorthair|2|female|3.9|C2|2025-02-14|available|yes|95|shy at first, likes other cats
A-203|Rocco|dog|boxer|6|male|29|D4|2024-11-20|available|yes|160|no cats, needs a garden
A-204|Pebble|rabbit|lionhead|1|female|1.6|R1|2025-03-01|reserved|no|40|to be kept with another rabbit
A-205|Magnus|cat|Maine Coon|7|male|7.2|C5|2024-12-03|in treatment|yes|120|thyroid tablets twice a day
A-206|Tilly|dog|terrier cross|9|female|8.1|D2|2024-10-17|available|yes|90|calm, happy in a flat
A-207|Nacho|dog|chihuahua|3|male|2.8|D6|2025-02-22|reserved|no|170|nervous with men
A-208|Smudge|cat|tuxedo|1|male|4.3|C1|2025-03-04|available|no|95|very playful, indoor only
A-209|Hazel|rabbit|Dutch|2|female|2.1|R2|2025-01-30|available|yes|40|litter trained
A-210|Bruno|dog|labrador|2|male|31.5|D5|2025-03-06|in treatment|no|210|kennel cough, back on 20 March
A-211|Mabel|cat|Persian mix|11|female|3.4|C4|2024-09-25|available|yes|60|needs daily brushing
A-212|Ziggy|dog|collie|1|male|17.2|D3|2025-02-09|available|no|200|lots of energy, agility talent
A-213|Clover|rabbit|lop|3|male|2.6|R1|2025-02-18|reserved|yes|45|bonded with Pebble
A-214|Pumpkin|cat|ginger tabby|5|male|5.8|C3|2025-01-19|adopted|yes|95|went home on 8 March
A-215|Duchess|dog|greyhound|5|female|26.4|D7|2024-12-29|available|yes|150|muzzle outdoors, sleeps all day
A-216|Fig|cat|domestic longhair|0.5|female|2.2|C2|2025-03-09|in treatment|no|110|ear mites, drops until Friday"""
_AK = "id name species breed age_years sex weight_kg pen arrived status neutered fee_eur notes".split()
ANIMALS = {l.split("|")[0]: dict(zip(_AK, l.split("|"))) for l in _A.splitlines()}

_P = """h.lindqvist@postmail.example|Hanna Lindqvist|0461 553 210|Ostby|passed|garden|dogs|2025-01-22
raj.patel@inbox.example|Raj Patel|0461 559 874|Millbrook|passed|flat|cats|2025-02-03
marie.dubois@courrier.example|Marie Dubois|0463 201 118|Ostby|pending|garden|dogs|2025-03-02
tomasz.k@webpost.example|Tomasz Kowalski|0461 550 667|Harrow End|passed|garden|rabbits|2024-12-11
ellie.grant@inbox.example|Ellie Grant|0465 330 902|Millbrook|failed|flat|dogs|2025-02-20
s.okafor@postmail.example|Samuel Okafor|0461 558 431|Fernhill|pending|flat|cats|2025-03-07
bea.romano@posta.example|Bea Romano|0463 207 745|Fernhill|passed|balcony|cats|2025-01-09
joan.whitby@inbox.example|Joan Whitby|0465 338 156|Harrow End|passed|garden|dogs|2024-11-28
lucas.meyer@webpost.example|Lucas Meyer|0461 551 020|Ostby|pending|garden|dogs|2025-03-10
nina.grant@postmail.example|Nina Grant|0463 204 399|Ostby|passed|balcony|rabbits|2025-02-27"""
_PK = "email name phone town home_check home looking_for registered".split()
ADOPTERS = {l.split("|")[0]: dict(zip(_PK, l.split("|"))) for l in _P.splitlines()}

_V = """501|A-204|nina.grant@postmail.example|2025-03-11|10:00|Gwen|done
502|A-207|joan.whitby@inbox.example|2025-03-11|14:30|Pascal|done
503|A-202|raj.patel@inbox.example|2025-03-15|11:00|Gwen|booked
504|A-201|h.lindqvist@postmail.example|2025-03-15|13:00|Pascal|booked
505|A-203|marie.dubois@courrier.example|2025-03-15|15:30|Irena|booked
506|A-208|bea.romano@posta.example|2025-03-16|10:30|Irena|booked
507|A-206|ellie.grant@inbox.example|2025-03-12|16:00|Gwen|cancelled
508|A-212|h.lindqvist@postmail.example|2025-03-16|12:00|Pascal|booked
509|A-209|tomasz.k@webpost.example|2025-03-18|09:30|Gwen|booked
510|A-211|s.okafor@postmail.example|2025-03-18|17:00|Irena|booked
511|A-215|lucas.meyer@webpost.example|2025-03-19|14:00|Pascal|booked
512|A-201|joan.whitby@inbox.example|2025-03-19|11:30|Irena|booked"""
_VK = "no animal adopter date time volunteer state".split()
VISITS = {int(l.split("|")[0]): dict(zip(_VK, l.split("|"))) for l in _V.splitlines()}


def _card(d): return "\n".join(f"{k.replace('_', ' ')}: {v}" for k, v in d.items())
def _visit_line(v):
    return f"#{v['no']} {v['date']} {v['time']} {ANIMALS[v['animal']]['name']} ({v['animal']}) with {ADOPTERS[v['adopter']]['name']}, volunteer {v['volunteer']}, {v['state']}"


@server.tool()
def find_animals(name: str = "", species: Literal["", "dog", "cat", "rabbit"] = "",
                 status: Literal["", "available", "reserved", "in treatment", "adopted"] = "") -> str:
    "Search the animals by name, species and/or status. One line each: id, name, species, age, fee, pen, status."
    hits = [a for a in ANIMALS.values() if (not name or name.lower() in a["name"].lower())
            and (not species or a["species"] == species) and (not status or a["status"] == status)]
    return "\n".join(f"{a['id']} {a['name']}, {a['species']}, {a['age_years']} y, {a['fee_eur']} EUR, pen {a['pen']}, {a['status']}" for a in hits) or "No animals found."


@server.tool()
def animal_card(animal_id: str) -> str:
    "Full card of an animal, by id such as A-201."
    a = ANIMALS.get(animal_id)
    return _card(a) if a else f"There is no animal {animal_id}."


@server.tool()
def find_adopter(name: str) -> str:
    "Look up the e-mail address of adopters by (part of) their name."
    hits = [p for p in ADOPTERS.values() if name.lower() in p["name"].lower()]
    return "\n".join(f"{p['name']} <{p['email']}>" for p in hits) or f"Nobody called {name} is registered."


@server.tool()
def adopter_card(email: str) -> str:
    "Contact data, home and home check of a registered adopter."
    p = ADOPTERS.get(email.lower())
    return _card(p) if p else f"No adopter with the address {email}."


@server.tool()
def list_visits(date: str = "", animal_id: str = "", adopter_email: str = "", volunteer: str = "") -> str:
    "Visits, filtered by day (YYYY-MM-DD), animal, adopter or volunteer. At least one filter is needed."
    if not (date or animal_id or adopter_email or volunteer):
        return "Give at least one filter."
    hits = [v for v in VISITS.values() if (not date or v["date"] == date) and (not animal_id or v["animal"] == animal_id)
            and (not adopter_email or v["adopter"] == adopter_email) and (not volunteer or v["volunteer"].lower() == volunteer.lower())]
    return "\n".join(map(_visit_line, hits)) or "No visits."


@server.tool()
def show_visit(visit_no: int) -> str:
    "One visit by its number."
    return _visit_line(VISITS[visit_no]) if visit_no in VISITS else f"No visit number {visit_no}."


@server.tool()
def book_visit(animal_id: str, adopter_email: str, date: str, time: str) -> str:
    "Book a visit of an adopter with an animal. Date YYYY-MM-DD, time HH:MM."
    if animal_id not in ANIMALS: return f"There is no animal {animal_id}."
    if adopter_email not in ADOPTERS: return f"No adopter with the address {adopter_email}."
    n = max(VISITS) + 1
    VISITS[n] = dict(no=n, animal=animal_id, adopter=adopter_email, date=date, time=time, volunteer="Gwen", state="booked")
    return "Booked: " + _visit_line(VISITS[n])


@server.tool()
def change_visit(visit_no: int, date: str = "", time: str = "", volunteer: str = "",
                 state: Literal["", "booked", "done", "cancelled", "no-show"] = "") -> str:
    "Move a visit, give it to another volunteer, or set its state. Leave out what stays."
    v = VISITS.get(visit_no)
    if not v: return f"No visit number {visit_no}."
    v.update({k: x for k, x in dict(date=date, time=time, volunteer=volunteer, state=state).items() if x})
    return "Changed: " + _visit_line(v)


@server.tool()
def update_animal(animal_id: str, status: Literal["", "available", "reserved", "in treatment", "adopted"] = "", pen: str = "",
                  weight_kg: float = 0, fee_eur: int = 0, neutered: Literal["", "yes", "no"] = "") -> str:
    "Change an animal's status, pen, weight, fee or neutered mark. Only what is given changes."
    a = ANIMALS.get(animal_id)
    if not a: return f"There is no animal {animal_id}."
    new = {k: x for k, x in dict(status=status, pen=pen, weight_kg=weight_kg, fee_eur=fee_eur, neutered=neutered).items() if x}
    a.update(new)
    return f"{a['name']} ({animal_id}) updated, " + ", ".join(f"{k.replace('_', ' ')}: {x}" for k, x in new.items())


if __name__ == "__main__":
    server.run()
