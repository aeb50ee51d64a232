"""A Git repository and a database with fixed contents, which the hand-written requests in `scenarios/people` ask about.

Both are the same to the byte on every machine: the repository's dates, names and configuration are set, so that its
hashes are stable; the database's rows follow from the lists below.
"""

import os
import sqlite3
import subprocess
from pathlib import Path

AUTHORS = {
    "wanda": ("Wanda Novak", "wanda.novak@quay.example"),
    "elias": ("Elias Brandt", "elias@quay.example"),
    "chidi": ("Chidi Okoye", "chidi.okoye@quay.example"),
    "margo": ("Marguerite Dupont", "m.dupont@quay.example"),
}

README = "# quay\n\nBerths, tides and tariffs of a small marina.\n"
BERTHS = "BERTHS = {\n    'A1': 12.0,\n    'A2': 12.0,\n    'B1': 9.5,\n}\n"
BERTHS_C = BERTHS.replace("}", "    'C1': 18.0,\n}")
TIDES = "OFFSET_MINUTES = 0\n\n\ndef high_water(day):\n    return 12 * 60 + day * 50 % 720\n"
TARIFFS = "[per_night]\nsmall = 18.00\nmedium = 27.50\nlarge = 41.00\n"
TARIFFS_2026 = (
    "[per_night]\nsmall = 19.50\nmedium = 29.00\nlarge = 44.00\n\n[extras]\nelectricity = 4.20\nwater = 1.50\n"
)
CLI = "import sys\n\nfrom quay.tides import high_water\n\nprint(high_water(int(sys.argv[1])))\n"
RELEASE = "1. Run the tests.\n2. Raise VERSION.\n3. Tag the commit.\n"
INVOICE = "def total(nights, rate):\n    return nights * rate\n"
INVOICE_VAT = "VAT = 0.19\n\n\ndef total(nights, rate):\n    return round(nights * rate * (1 + VAT), 2)\n"
EXPORT = (
    "import csv\n\n\ndef write(rows, path):\n"
    "    with open(path, 'w', newline='') as file:\n        csv.writer(file).writerows(rows)\n"
)
LICENSE = "MIT License\n\nCopyright (c) 2025 Quay Contributors\n"
CI = "on: [push]\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: pytest\n"

# (branch, author, date, message, {path: text, or None to delete})
Step = tuple[str, str, str, str, dict[str, str | None]]
HISTORY: tuple[Step, ...] = (
    ("main", "wanda", "2025-03-03T09:12:00+01:00", "Start the project", {"README.md": README}),
    ("main", "wanda", "2025-03-03T10:40:00+01:00", "Add the list of berths", {"quay/berths.py": BERTHS}),
    ("main", "elias", "2025-03-05T14:05:00+01:00", "Add tide tables", {"quay/tides.py": TIDES}),
    ("main", "elias", "2025-03-05T16:31:00+01:00", "Print high water on the command line", {"quay/cli.py": CLI}),
    ("main", "chidi", "2025-03-11T08:55:00+01:00", "Add tariffs for 2025", {"config/tariffs.toml": TARIFFS}),
    ("main", "wanda", "2025-03-18T11:20:00+01:00", "Choose the MIT license", {"LICENSE": LICENSE}),
    ("main", "chidi", "2025-04-01T13:02:00+02:00", "Compute invoices", {"quay/invoice.py": INVOICE}),
    (
        "main",
        "margo",
        "2025-04-09T17:45:00+02:00",
        "Explain how berths are numbered",
        {"docs/berths.md": "Berths are numbered from the harbour mouth: A is the outer pontoon, C the inner one.\n"},
    ),
    ("main", "elias", "2025-04-22T10:10:00+02:00", "Run the tests on every push", {".github/workflows/ci.yml": CI}),
    ("main", "chidi", "2025-05-06T09:30:00+02:00", "Fix VAT on invoices", {"quay/invoice.py": INVOICE_VAT}),
    ("main", "margo", "2025-05-20T15:15:00+02:00", "Add berth C1", {"quay/berths.py": BERTHS_C}),
    (
        "main",
        "wanda",
        "2025-06-02T08:00:00+02:00",
        "Describe the release process",
        {"docs/release.md": RELEASE},
    ),
    ("main", "wanda", "2025-06-02T08:30:00+02:00", "Release 1.2.0", {"VERSION": "1.2.0\n"}),
    ("main", "chidi", "2025-06-17T12:48:00+02:00", "Export bookings as CSV", {"quay/export.py": EXPORT}),
    (
        "main",
        "elias",
        "2025-07-01T19:22:00+02:00",
        "Add a list of public holidays",
        {"config/holidays.txt": "1 May\n3 October\n"},
    ),
    ("main", "elias", "2025-07-01T19:40:00+02:00", "Remove the holiday list again", {"config/holidays.txt": None}),
    (
        "fix/tide-offset",
        "elias",
        "2025-07-15T09:05:00+02:00",
        "Shift tides by 25 minutes",
        {"quay/tides.py": TIDES.replace("OFFSET_MINUTES = 0", "OFFSET_MINUTES = 25")},
    ),
    (
        "fix/tide-offset",
        "margo",
        "2025-07-16T10:50:00+02:00",
        "Note where the tide offset comes from",
        {"docs/tides.md": "The offset of 25 minutes was measured at the north pier in June 2025.\n"},
    ),
    (
        "feature/night-tariff",
        "chidi",
        "2025-08-04T21:14:00+02:00",
        "Add a tariff for late arrivals",
        {"config/night.toml": "[late]\nafter = '22:00'\nsurcharge = 6.00\n"},
    ),
    (
        "feature/night-tariff",
        "chidi",
        "2025-08-05T22:01:00+02:00",
        "Charge late arrivals on the invoice",
        {"quay/night.py": "SURCHARGE = 6.00\n\n\ndef late(total):\n    return total + SURCHARGE\n"},
    ),
    (
        "feature/night-tariff",
        "wanda",
        "2025-08-12T09:09:00+02:00",
        "Raise the late surcharge to 7.50",
        {
            "config/night.toml": "[late]\nafter = '22:00'\nsurcharge = 7.50\n",
            "quay/night.py": "SURCHARGE = 7.50\n\n\ndef late(total):\n    return total + SURCHARGE\n",
        },
    ),
    ("main", "margo", "2025-09-08T14:33:00+02:00", "Add contact details", {"CONTACT.md": "harbour@quay.example\n"}),
    ("main", "chidi", "2025-11-24T11:11:00+01:00", "Raise tariffs for 2026", {"config/tariffs.toml": TARIFFS_2026}),
    (
        "main",
        "margo",
        "2025-12-01T16:20:00+01:00",
        "Translate the README",
        {"README.fr.md": "# quay\n\nPostes, marées et tarifs d'un petit port de plaisance.\n"},
    ),
    (
        "main",
        "wanda",
        "2026-01-12T10:00:00+01:00",
        "Plan the season of 2026",
        {"docs/season.md": "The season runs from 28 March to 31 October 2026.\n"},
    ),
)
TAGGED = {"Release 1.2.0": "v1.2.0"}
NAMES = {"core.autocrlf": "false", "user.name": "Harbour Desk", "user.email": "desk@quay.example"}


def make_git(folder: Path) -> None:
    """A new repository in `folder`: 25 commits by four authors on three branches, checked out at `main`.

    `docs/release.md` is modified and not staged, `notes.txt` is untracked.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def git(*arguments: str, **extra: str) -> None:
        environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | extra
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)

    git("init", "--initial-branch=main", "--object-format=sha1")
    for key, value in NAMES.items():
        git("config", key, value)
    current, branches = "main", {"main"}
    for branch, who, date, message, files in HISTORY:
        if branch not in branches:
            git("branch", branch, "main")
            branches.add(branch)
        if branch != current:
            git("checkout", branch)
            current = branch
        for path, text in files.items():
            _put(folder / path, text)
        name, email = AUTHORS[who]
        git("add", "--all")
        git(
            *("commit", "--quiet", "-m", message),
            GIT_AUTHOR_NAME=name,
            GIT_AUTHOR_EMAIL=email,
            GIT_AUTHOR_DATE=date,
            GIT_COMMITTER_NAME=name,
            GIT_COMMITTER_EMAIL=email,
            GIT_COMMITTER_DATE=date,
        )
        if message in TAGGED:
            git("tag", TAGGED[message])
    _put(folder / "docs/release.md", RELEASE + "4. Tell the harbour master.\n")
    _put(folder / "notes.txt", "Ask Chidi about the winter tariff.\n")


def _put(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


SCHEMA = """
CREATE TABLE vets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, speciality TEXT NOT NULL, hired TEXT NOT NULL);
CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, phone TEXT, town TEXT NOT NULL);
CREATE TABLE animals (id INTEGER PRIMARY KEY, name TEXT NOT NULL, species TEXT NOT NULL, breed TEXT, born TEXT,
  weight_kg REAL, owner_id INTEGER NOT NULL REFERENCES owners(id));
CREATE TABLE appointments (id INTEGER PRIMARY KEY, animal_id INTEGER NOT NULL REFERENCES animals(id),
  vet_id INTEGER NOT NULL REFERENCES vets(id), day TEXT NOT NULL, time TEXT NOT NULL, reason TEXT NOT NULL,
  status TEXT NOT NULL);
CREATE TABLE invoices (id INTEGER PRIMARY KEY, appointment_id INTEGER NOT NULL REFERENCES appointments(id),
  amount REAL NOT NULL, paid INTEGER NOT NULL, due TEXT NOT NULL);
"""
VETS = (
    ("Dr. Hanne Lindqvist", "surgery", "2014-02-01"),
    ("Dr. Omar Faris", "small animals", "2018-09-15"),
    ("Dr. Judit Szabo", "dentistry", "2021-05-03"),
    ("Dr. Kofi Mensah", "birds and reptiles", "2023-11-20"),
)
FIRST = (
    "Agnes Bruno Clara Dmitri Elif Farid Greta Hugo Ingrid Jonas Katya Liam Mirela Nuno Olga Pavel "
    "Quentin Rosa Stefan Tilda "
).split()
LAST = (
    "Aydin Becker Costa Dahl Evans Fischer Grant Horvat Ionescu Jansen Kowalski Larsen Moreau Nilsen "
    "Ortega Petrov Quist Reyes Schulz Tanaka "
).split()
TOWNS = ("Velden", "Marstal", "Ostrava", "Velden", "Brixen")
ANIMALS = (
    "Balu Cleo Dobby Echo Fips Ginger Hasso Indie Joker Kiwi Luna Momo Nala Otto Pixel Quax Ruby Simba "
    "Taiga Ulla Vito Wanja Xena Yuki Zorro Amber Bosco Coco Django Elvis Fiona Gizmo Hazel Iris Jasper "
    "Kuma Lotte Milo Nero Olive "
).split()
BREEDS = {
    "dog": ("Labrador", "Dachshund", "Border Collie", "Poodle"),
    "cat": ("Maine Coon", "Siamese", "European Shorthair"),
    "rabbit": ("Dutch", "Lop"),
    "parrot": ("Cockatiel",),
    "tortoise": ("Hermann's tortoise",),
}
SPECIES = ("dog", "cat", "dog", "rabbit", "cat", "dog", "parrot", "cat", "dog", "tortoise")
WEIGHTS = {"dog": 14.5, "cat": 4.2, "rabbit": 2.1, "parrot": 0.1, "tortoise": 1.3}
REASONS = ("vaccination", "check-up", "dental cleaning", "limping", "vaccination", "surgery", "skin rash")
PRICES = {
    "vaccination": 48.0,
    "check-up": 35.5,
    "dental cleaning": 120.0,
    "limping": 64.0,
    "surgery": 480.0,
    "skin rash": 57.25,
}


def make_database(path: Path) -> None:
    """A new SQLite database of a veterinary practice: vets, owners, animals, appointments and invoices."""
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        for n, vet in enumerate(VETS, 1):
            database.execute("INSERT INTO vets VALUES (?, ?, ?, ?)", (n, *vet))
        for n in range(1, 41):
            database.execute("INSERT INTO owners VALUES (?, ?, ?, ?, ?)", _owner(n))
            database.execute("INSERT INTO animals VALUES (?, ?, ?, ?, ?, ?, ?)", _animal(n))
        for n in range(1, 46):
            appointment = _appointment(n)
            database.execute("INSERT INTO appointments VALUES (?, ?, ?, ?, ?, ?, ?)", appointment)
            if appointment[-1] == "done":
                reason, month = str(appointment[5]), 4 + n // 20
                amount, due = round(PRICES[reason] + n % 4 * 2.5, 2), f"2026-{month:02d}-{n % 27 + 1:02d}"
                invoice = (n, amount, int(n % 3 != 0), due)
                database.execute(
                    "INSERT INTO invoices (appointment_id, amount, paid, due) VALUES (?, ?, ?, ?)", invoice
                )
    database.close()


def _owner(n: int) -> tuple[int, str, str | None, str, str]:
    first, last = FIRST[n * 7 % 20], LAST[(n * 3 + n // 20) % 20]
    email = None if n % 9 == 0 else f"{first}.{last}@mail.example".lower()
    return n, f"{first} {last}", email, f"+43 660 {4100 + n * 37}", TOWNS[n * 2 % 5 if n % 4 else 0]


def _animal(n: int) -> tuple[int, str, str, str, str, float, int]:
    species = SPECIES[n % 10]
    breed = BREEDS[species][n % len(BREEDS[species])]
    born = f"{2009 + n * 5 % 16}-{n * 7 % 12 + 1:02d}-{n * 11 % 28 + 1:02d}"
    weight = round(WEIGHTS[species] * (0.7 + n * 17 % 41 / 50), 2)
    return n, ANIMALS[n - 1], species, breed, born, weight, n * 3 % 34 + 1


def _appointment(n: int) -> tuple[int, int, int, str, str, str, str]:
    day = f"2026-{3 + n // 23:02d}-{n * 3 % 23 + 2:02d}"
    time = f"{8 + n * 5 % 9:02d}:{(0, 20, 40)[n % 3]:02d}"
    status = "cancelled" if n % 11 == 0 else "done" if n <= 34 else "booked"
    return n, n * 17 % 40 + 1, n % 4 + 1, day, time, REASONS[n % 7], status
