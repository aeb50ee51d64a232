from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("willowbrook-vets")

Species = Literal["dog", "cat", "rabbit", "bird", "horse", "tortoise"]
Vet = Literal["Dr Amsel", "Dr Okonkwo", "Dr Reyes"]

# id: name, phone, e-mail, town, balance due (USD), prefers
OWNERS = {
    "O-11": ["Clara Benning", "555-0142", "clara@benning.example", "Millford", 0.0, "phone"],
    "O-12": ["Arturo Delgado", "555-0178", "adelgado@mail.example", "Easton", 186.5, "e-mail"],
    "O-13": ["Hye-jin Park", "555-0191", "hjpark@mail.example", "Millford", 42.0, "text message"],
    "O-14": ["Oliver Stone-Finch", "555-0113", "osf@farm.example", "Lower Wick", 310.0, "phone"],
    "O-15": ["Wanda Petrov", "555-0125", "wanda.p@mail.example", "Easton", 0.0, "text message"],
    "O-16": ["Desmond Clarke", "555-0164", "des.clarke@mail.example", "Harrow Hill", 75.25, "e-mail"],
    "O-17": ["Yara Nasser", "555-0107", "yara@nasser.example", "Millford", 0.0, "text message"],
    "O-18": ["Bill Tuttle", "555-0133", "none", "Lower Wick", 18.9, "phone"],
}

# id: name, species, breed, sex, born, weight kg, colour, owner, chip, allergies, last vaccination, insured, neutered
ANIMALS = {
    "a7f3": ["Biscuit", "dog", "Golden Retriever", "male", "2019-04-11", 33.5, "gold", "O-11", "985112004417", "none", "2024-09-02", True, True],
    "b21c": ["Shadow", "cat", "Domestic Shorthair", "female", "2016-08-20", 4.6, "black", "O-11", "985112001093", "penicillin", "2024-07-15", False, True],
    "c09e": ["Rocket", "dog", "Border Collie", "male", "2022-01-30", 18.2, "black and white", "O-12", "985112007760", "none", "2025-02-10", True, False],
    "d4a8": ["Pepper", "rabbit", "Dutch", "female", "2023-05-05", 2.1, "grey", "O-13", "none", "none", "2024-11-28", False, True],
    "e5b0": ["Mochi", "cat", "Ragdoll", "male", "2021-10-17", 6.3, "cream", "O-13", "985112005528", "chicken", "2025-01-21", True, True],
    "f18d": ["Juniper", "horse", "Haflinger", "female", "2012-06-01", 412.0, "chestnut", "O-14", "985112000216", "none", "2024-10-06", True, False],
    "03ca": ["Tank", "tortoise", "Hermann's", "male", "1998-05-12", 1.4, "brown", "O-15", "none", "none", "never", False, False],
    "19be": ["Luna", "dog", "Whippet", "female", "2020-12-03", 13.7, "fawn", "O-15", "985112006341", "bee stings", "2024-12-19", False, True],
    "2d60": ["Luna", "cat", "Siamese", "female", "2018-03-27", 3.9, "seal point", "O-16", "985112002874", "none", "2024-05-30", True, True],
    "37f9": ["Gizmo", "bird", "Cockatiel", "male", "2020-07-08", 0.09, "yellow", "O-16", "none", "none", "never", False, False],
    "4eb2": ["Saffron", "cat", "Maine Coon", "female", "2022-09-14", 5.8, "red tabby", "O-17", "985112008452", "none", "2025-03-04", True, False],
    "5c71": ["Duke", "dog", "German Shepherd", "male", "2015-02-22", 36.8, "black and tan", "O-18", "985112000977", "ibuprofen", "2023-11-09", False, True],
    "60d5": ["Willow", "rabbit", "Lionhead", "female", "2024-02-02", 1.7, "white", "O-17", "none", "none", "2025-03-04", False, False],
}

# number: date, time, animal, vet, room, reason, status
APPTS = {
    731: ["2025-06-16", "09:00", "a7f3", "Dr Amsel", "1", "vaccination", "done"],
    732: ["2025-06-16", "10:30", "5c71", "Dr Reyes", "2", "arthritis check", "done"],
    733: ["2025-06-16", "15:15", "37f9", "Dr Okonkwo", "3", "beak trim", "no-show"],
    734: ["2025-06-17", "08:45", "e5b0", "Dr Amsel", "1", "dental cleaning", "booked"],
    735: ["2025-06-17", "11:00", "03ca", "Dr Okonkwo", "3", "shell infection", "booked"],
    736: ["2025-06-17", "14:30", "c09e", "Dr Reyes", "2", "neutering", "booked"],
    737: ["2025-06-18", "09:30", "f18d", "Dr Reyes", "yard", "hoof abscess", "booked"],
    738: ["2025-06-18", "13:00", "b21c", "Dr Amsel", "1", "blood test", "booked"],
    739: ["2025-06-19", "10:00", "60d5", "Dr Okonkwo", "3", "spaying", "booked"],
    740: ["2025-06-19", "16:00", "19be", "Dr Amsel", "1", "stitches out", "booked"],
    741: ["2025-06-20", "08:30", "d4a8", "Dr Okonkwo", "3", "nail clipping", "booked"],
    742: ["2025-06-20", "12:15", "2d60", "Dr Reyes", "2", "vaccination", "booked"],
    743: ["2025-06-21", "09:45", "4eb2", "Dr Amsel", "1", "ear mites", "cancelled"],
}
_next = 744


def _appt(n):
    if n not in APPTS:
        raise ToolError(f"appointment {n} does not exist")
    return APPTS[n]


@server.tool(name="find-animals")
def find_animals(name: str | None = None, species: Species | None = None, owner: str | None = None) -> str:
    "Find patients by their name, species and/or (part of) the owner's name. One line each: id, name, species, breed, owner with owner number."
    rows = [f"{i}: {a[0]}, {a[1]} ({a[2]}), owner {OWNERS[a[7]][0]} {a[7]}" for i, a in ANIMALS.items()
            if (name or "").lower() in a[0].lower() and species in (None, a[1]) and (owner or "").lower() in OWNERS[a[7]][0].lower()]
    return "\n".join(rows) or "0 animals found"


@server.tool(name="animal-record")
def animal_record(animal_id: str) -> dict:
    "Full record of a patient by its four-character id."
    if animal_id not in ANIMALS:
        raise ToolError(f"no patient {animal_id}")
    a = ANIMALS[animal_id]
    return {"id": animal_id, "name": a[0], "species": a[1], "breed": a[2], "sex": a[3], "born": a[4], "weight_kg": a[5], "colour": a[6],
            "owner_id": a[7], "microchip": a[8], "allergies": a[9], "last_vaccination": a[10], "insured": a[11], "neutered": a[12]}


@server.tool(name="owner-lookup")
def owner_lookup(name: str) -> list[dict]:
    "Contact data and balance due of owners; takes a name or part of it."
    return [{"owner_id": i, "name": o[0], "phone": o[1], "email": o[2], "town": o[3], "balance_due": f"${o[4]:.2f}", "prefers": o[5]}
            for i, o in OWNERS.items() if name.lower() in o[0].lower()]


@server.tool(name="list-appointments")
def list_appointments(date: str | None = None, vet: Vet | None = None, animal_id: str | None = None) -> str:
    "Diary of this week, Mon 2025-06-16 to Sat 2025-06-21, by date (YYYY-MM-DD), vet and/or animal."
    rows = [f"#{n} {p[0]} {p[1]} {ANIMALS[p[2]][0]} ({p[2]}) with {p[3]}, room {p[4]}, {p[5]} [{p[6]}]" for n, p in APPTS.items()
            if date in (None, p[0]) and vet in (None, p[3]) and animal_id in (None, p[2])]
    return "\n".join(rows) or "No appointments."


@server.tool(name="book-appointment")
def book_appointment(animal_id: str, date: str, time: str, vet: Vet, reason: str = "check-up") -> str:
    "Book a patient in. date YYYY-MM-DD (this week is Mon 2025-06-16 to Sat 2025-06-21), time HH:MM."
    global _next
    if animal_id not in ANIMALS:
        raise ToolError(f"no patient {animal_id}")
    if any(p[:2] == [date, time] and p[3] == vet and p[6] != "cancelled" for p in APPTS.values()):
        raise ToolError(f"{vet} is already taken at {time} on {date}")
    n = _next; _next += 1
    APPTS[n] = [date, time, animal_id, vet, {"Dr Amsel": "1", "Dr Reyes": "2", "Dr Okonkwo": "3"}[vet], reason, "booked"]
    return f"Booked #{n}: {ANIMALS[animal_id][0]} with {vet}, {date} {time}, {reason}"


@server.tool(name="move-appointment")
def move_appointment(number: int, new_time: str, new_date: str | None = None) -> str:
    "Move an appointment to another time (HH:MM) and, if given, another date (YYYY-MM-DD; Mon 2025-06-16 to Sat 2025-06-21)."
    p = _appt(number)
    p[0], p[1] = new_date or p[0], new_time
    return f"#{number} ({ANIMALS[p[2]][0]}, {p[3]}) moved to {p[0]} {p[1]}"


@server.tool(name="set-appointment-status")
def set_appointment_status(number: int, status: Literal["booked", "arrived", "done", "cancelled", "no-show"]) -> str:
    "Change the status of an appointment."
    p = _appt(number)
    old, p[6] = p[6], status
    return f"#{number} {ANIMALS[p[2]][0]}: {old} -> {status}"


@server.tool(name="record-weight")
def record_weight(animal_id: str, kg: float) -> dict:
    "Enter a new weight for a patient."
    if animal_id not in ANIMALS:
        raise ToolError(f"no patient {animal_id}")
    a = ANIMALS[animal_id]
    old, a[5] = a[5], kg
    return {"id": animal_id, "name": a[0], "weight_kg": kg, "previous_kg": old}


@server.tool(name="record-payment")
def record_payment(owner_id: str, amount: float) -> dict:
    "Book a payment (USD) against an owner's balance."
    if owner_id not in OWNERS:
        raise ToolError(f"no owner {owner_id}")
    o = OWNERS[owner_id]
    if amount > o[4]:
        raise ToolError(f"amount exceeds the balance of ${o[4]:.2f}")
    o[4] = round(o[4] - amount, 2)
    return {"owner_id": owner_id, "name": o[0], "paid": f"${amount:.2f}", "balance_due": f"${o[4]:.2f}"}


if __name__ == "__main__":
    server.run()
