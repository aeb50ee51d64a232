"""The folder and the memory file that `scenarios/people/{filesystem,memory}.jsonl` ask about: a small company's.

Both are always the same. Every path in the packs is relative to the folder, and the server resolves it: no line needs
`{dir}`. The filesystem server's writing tools must be allowed (`allow_destructive`), the memory server's deleting tools
must not.
"""

import json
from pathlib import Path

FILES = {
    "README.txt": """\
Fennel & Finch coffee roasters, shared folder.

notes      what we talked about
invoices   what we billed, one file an invoice
lists      contacts, suppliers, stock, holidays
logs       written by the machines, do not edit
drafts     texts that are not out yet
contracts  signed papers, old ones in contracts/archive

Questions: Hanne, extension 14.
""",
    "notes/2026-03-02-standup.md": """\
# Stand-up 2 March 2026

Present: Hanne, Bruno, Yusuf, Clem
- Bruno: grinder two is loud again, technician comes on Thursday
- Yusuf: the web shop takes PayPal from next week
- Clem: ordered 40 jute sacks from Santos Trading
- Decision: no deliveries on Fridays in April
""",
    "notes/2026-03-09-standup.md": """\
# Stand-up 9 March 2026

Present: Hanne, Yusuf, Clem
- Bruno is ill
- Yusuf: PayPal works, 17 orders so far
- Clem: sacks have arrived, 2 of 40 were torn
- Hanne: the tax office wants the 2024 papers by 30 April
- Decision: the tasting moves to Saturday 28 March
""",
    "notes/2026-03-16-standup.md": """\
# Stand-up 16 March 2026

Present: Hanne, Bruno, Yusuf, Clem, Odile
- Odile starts today in packing
- Bruno: grinder two got a new belt, bill was 310 euros
- Yusuf: newsletter goes out on 1 April, needs a photo
- Decision: Clem gets the key to the cellar
""",
    "notes/ideas.md": """\
# Ideas

1. Cold brew in cans
2. Roasting course for beginners, 12 places
3. Refill discount of 10 percent
4. Coffee sacks as shopping bags
""",
    "notes/office-wifi.txt": """\
Network: finch-office
Guest network: finch-guest
Guest password: arabica-at-noon
The router is behind the filing cabinet. If it blinks orange, pull the plug and count to ten.
""",
    "notes/moving-checklist.md": """\
# Moving the packing room (deadline 15 May 2026)

[x] measure the doors
[x] ask the landlord
[ ] rent a van
[ ] label the boxes
[ ] tell the post office
""",
    "invoices/INV-1041-harbor-cafe.txt": """\
Invoice INV-1041
Customer: Harbor Cafe
Date: 2026-01-12
Item: House blend, 20 kg at 18.50 = 370.00
Item: Delivery = 15.00
Total: 385.00 EUR
Due: 2026-02-11
Status: paid
""",
    "invoices/INV-1042-tilda-books.txt": """\
Invoice INV-1042
Customer: Tilda Books
Date: 2026-01-30
Item: Decaf, 4 kg at 21.00 = 84.00
Total: 84.00 EUR
Due: 2026-03-01
Status: paid
""",
    "invoices/INV-1043-harbor-cafe.txt": """\
Invoice INV-1043
Customer: Harbor Cafe
Date: 2026-02-16
Item: House blend, 25 kg at 18.50 = 462.50
Item: Filter papers, 6 boxes at 4.25 = 25.50
Total: 488.00 EUR
Due: 2026-03-18
Status: unpaid
""",
    "invoices/INV-1044-brightside-gym.txt": """\
Invoice INV-1044
Customer: Brightside Gym
Date: 2026-02-27
Item: Espresso Nero, 10 kg at 22.40 = 224.00
Total: 224.00 EUR
Due: 2026-03-29
Status: unpaid
""",
    "invoices/INV-1045-nordlicht-hotel.txt": """\
Invoice INV-1045
Customer: Hotel Nordlicht
Date: 2026-03-10
Item: Breakfast blend, 60 kg at 17.20 = 1032.00
Item: Delivery = 40.00
Total: 1072.00 EUR
Due: 2026-04-09
Status: paid
""",
    "lists/contacts.csv": """\
name,role,phone,email
Hanne Voss,owner,555-0114,hanne@fennelfinch.example
Bruno Salis,roaster,555-0121,bruno@fennelfinch.example
Yusuf Demir,web shop,555-0137,yusuf@fennelfinch.example
Clem Archer,buying,555-0142,clem@fennelfinch.example
Odile Marchand,packing,555-0159,odile@fennelfinch.example
""",
    "lists/suppliers.csv": """\
supplier,country,product,price_per_kg
Santos Trading,Brazil,green arabica,6.80
Kivu Growers,Rwanda,green bourbon,9.35
Mekong Beans,Vietnam,green robusta,4.10
Altura Coop,Peru,green decaf,8.20
""",
    "lists/inventory.csv": """\
item,place,quantity,unit
House blend,rack 3,140,kg
Espresso Nero,rack 4,62,kg
Decaf,rack 4,18,kg
Breakfast blend,rack 1,0,kg
Filter papers,cellar,36,boxes
Jute sacks,cellar,38,pieces
""",
    "lists/vacation-2026.csv": """\
name,from,to,days
Hanne Voss,2026-07-06,2026-07-17,10
Bruno Salis,2026-08-03,2026-08-21,15
Yusuf Demir,2026-05-25,2026-05-29,5
Clem Archer,2026-07-20,2026-07-31,10
""",
    "logs/backup.log": """\
2026-03-13 02:00 start
2026-03-13 02:14 done, 2210 files
2026-03-14 02:00 start
2026-03-14 02:03 failed: disk full
2026-03-15 02:00 start
2026-03-15 02:02 failed: disk full
2026-03-16 02:00 start
2026-03-16 02:15 done, 2236 files
""",
    "logs/door.log": """\
2026-03-16 06:48 front open (Bruno)
2026-03-16 07:55 front open (Hanne)
2026-03-16 08:31 side open (Odile)
2026-03-16 12:10 side open (Clem)
2026-03-16 18:22 front locked (Hanne)
""",
    "logs/import-errors.log": """\
line 12: price missing for 'Cold brew can'
line 40: unknown country 'Brasil'
line 77: quantity is negative (-3)
""",
    "drafts/newsletter-april.md": """\
Subject: Spring in a cup

Dear friends of Fennel & Finch,
our Rwanda bourbon is back from 4 April. Come and taste it, the first cup is free.
PHOTO GOES HERE
Yours, Hanne
""",
    "drafts/offer-brightside.md": """\
Offer for Brightside Gym

Espresso machine on loan, 12 months
Monthly fee: 79 euros
Beans: Espresso Nero at 21.90 euros a kilo
Valid until 30 April 2026
""",
    "drafts/job-ad-barista.md": """\
Barista wanted (20 hours a week)

You like early mornings and people. We pay 15.40 euros an hour.
Write to hanne@fennelfinch.example until 10 April 2026.
""",
    "drafts/press-release.md": """\
Fennel & Finch turns five

On 9 May 2026 the roastery celebrates its fifth birthday with music from 16:00.
""",
    "contracts/lease-main-street.txt": """\
Lease, 27 Main Street
Landlord: Petra Lindqvist
Monthly rent: 1850 EUR
Begins: 2024-06-01
Notice period: 6 months
""",
    "contracts/cleaning-service.txt": """\
Cleaning contract
Company: Sparkle & Sons
Every Tuesday and Friday
Monthly fee: 260 EUR
Notice period: 4 weeks
""",
    "contracts/archive/lease-mill-lane.txt": """\
Lease, 3 Mill Lane
Landlord: Otto Grimm
Monthly rent: 1240 EUR
Begins: 2021-02-01
Ended: 2024-05-31
""",
}

ENTITIES = {
    ("Lena Hoffmann", "person"): ["team lead", "joined in 2017", "speaks German and Polish", "birthday is 14 May"],
    ("Tom Okoro", "person"): ["backend developer", "joined in 2021", "allergic to nuts"],
    ("Priya Nair", "person"): ["designer", "joined in 2019", "works four days a week, off on Wednesdays"],
    ("Marek Zielinski", "person"): ["accountant", "joined in 2017", "prefers phone calls to e-mail"],
    ("Sofia Ruiz", "person"): ["mobile developer", "joined in 2023", "on parental leave until September"],
    ("Jun Tanaka", "person"): ["intern", "joined in 2026", "studies in Delft"],
    ("Lighthouse", "project"): ["booking app for ferries", "budget is 84000 euros", "deadline is 30 June 2026"],
    ("Pelican", "project"): ["patient portal", "budget is 120000 euros", "deadline is 15 October 2026", "on hold"],
    ("Orchard", "project"): ["internal time sheets", "budget is 15000 euros", "written in Kotlin"],
    ("Baltic Ferries", "client"): ["contact is Ingrid Saar", "pays within 14 days"],
    ("Greenleaf Clinics", "client"): ["contact is Dr. Amara Cole", "pays within 60 days"],
    ("Gdansk office", "office"): ["12 desks", "door code is 4471"],
    ("Porto office", "office"): ["5 desks", "dogs are allowed"],
    ("Staging server", "machine"): ["runs Debian 12", "is restarted every Sunday at 04:00"],
    ("Spring offsite", "event"): ["from 21 to 23 April 2026", "takes place in Sopot"],
}

RELATIONS = [
    ("Lena Hoffmann", "manages", "Lighthouse"),
    ("Lena Hoffmann", "manages", "Pelican"),
    ("Priya Nair", "manages", "Orchard"),
    ("Tom Okoro", "works on", "Lighthouse"),
    ("Sofia Ruiz", "works on", "Lighthouse"),
    ("Priya Nair", "works on", "Pelican"),
    ("Tom Okoro", "works on", "Orchard"),
    ("Lighthouse", "is for", "Baltic Ferries"),
    ("Pelican", "is for", "Greenleaf Clinics"),
    ("Lena Hoffmann", "sits in", "Gdansk office"),
    ("Marek Zielinski", "sits in", "Gdansk office"),
    ("Tom Okoro", "sits in", "Gdansk office"),
    ("Priya Nair", "sits in", "Porto office"),
    ("Sofia Ruiz", "sits in", "Porto office"),
    ("Tom Okoro", "mentors", "Jun Tanaka"),
    ("Marek Zielinski", "organizes", "Spring offsite"),
    ("Lighthouse", "runs on", "Staging server"),
]


def make_files(folder: Path) -> None:
    """Write the company's 26 files into `folder`."""
    for path, text in FILES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def make_memory(path: Path) -> None:
    """Write the team's 15 entities and 17 relations as `mcp-server-memory` keeps them."""
    lines: list[dict[str, object]] = []
    for (name, kind), observations in ENTITIES.items():
        lines.append({"type": "entity", "name": name, "entityType": kind, "observations": observations})
    for subject, verb, thing in RELATIONS:
        lines.append({"type": "relation", "from": subject, "to": thing, "relationType": verb})
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
