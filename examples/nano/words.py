"""The raw material of procedural worlds: word pools, value generators and domains, all as data.

To widen the worlds add a line to `DOMAINS` (one entity type each), a word to a pool, or a kind of value to `KINDS`.
Nothing here may name the servers the trained policy is tested on (see `tests/test_worlds.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

# --- words ------------------------------------------------------------------------------------------------------------

FIRST = """Ada Amir Anneke Aroha Bao Bela Bruno Carmen Chidi Dalia Devi Dmitri Eira Elif Emeka Esra Farid Fern Gita Goran Hana
Hugo Ines Ivo Jalil Joana Jun Kaito Keira Lena Leif Lucia Mads Maeve Marek Mei Mila Nadia Nils Noor Olu Omar Otto Paula Petra
Priya Quinn Rafa Rosa Ruben Sade Sana Soren Tala Tariq Tess Tomas Uma Vera Viktor Wanda Wei Xenia Yara Yusuf Zane Zoe José Łukasz Zoë Chloé Jürgen Åsa Günter Séan""".split()
LAST = """Abara Adler Almeida Arslan Baptiste Becker Bianchi Bose Castro Chen Cohen Costa Dahl Diaz Dubois Eklund Farouk Fischer
Garcia Grant Haddad Hall Horvat Ibsen Ito Jansen Jones Kaya Khan Kim Kowal Lang Larsen Lopez Mbeki Mendez Moreau Nakamura Ndiaye
Novak Okafor Oliveira Park Patel Petrov Quist Rao Reyes Rossi Sato Schmidt Silva Singh Sorensen Takeda Torres Ueda Vance Varga
Weber Wolf Yamada Yilmaz Zhou Zima Müller Nuñez Šimek O'Brien de-Vries""".split()
PLACES = """Aalborg Accra Arequipa Bergen Bilbao Bristol Cadiz Cardiff Colombo Cork Dakar Darwin Dresden Durban Fez Galway Genoa
Ghent Graz Haifa Halifax Izmir Jaipur Kigali Kobe Kyoto Leiden Lima Lodz Lyon Malmo Mombasa Nagoya Nantes Odense Osaka Perth
Porto Quito Riga Salta Seville Split Tampere Tartu Trieste Tunis Turin Utrecht Valdivia Varna Vigo Málaga Köln Łódź Reykjavík Wexford York Zadar""".split()
COUNTRIES = """Angola Austria Belize Bhutan Chile Croatia Cyprus Denmark Ecuador Estonia Fiji Finland Gabon Ghana Iceland Ireland
Jordan Kenya Latvia Malta Mexico Nepal Norway Oman Panama Peru Qatar Rwanda Samoa Senegal Serbia Spain Togo Tunisia Uruguay
Vietnam Zambia""".split()
ADJECTIVES = """amber ancient arctic blue bold brass brief bright broken calm central clear coastal cold copper crimson daily dark
deep distant double dry early eastern empty faint final first flat frozen gentle giant golden grand green grey hidden high hollow
inner iron late light little long lost lower lunar major minor modern narrow new noble north old open outer pale plain quick quiet
rapid rare red rough round royal rusty second secret sharp short silent silver slow small smooth soft solar southern spare steady
still stone summer sunny tall thin third tidal twin upper urban velvet warm western white wide wild winter wooden young""".split()
NOUNS = """anchor arch atlas badge bank barn basin bay beacon bell bird bridge brook cabin cable camp canal candle canyon cedar
chain chapel circle clock cloud coast comet compass copper corner cove crane creek crown dawn delta desert door draft dragon dune
eagle echo edge ember engine falcon farm fern field fire flame forest forge fort fountain fox garden gate glacier grove gull harbor
hawk heath hill hollow horizon island ivy jetty key kite ladder lagoon lake lantern leaf ledge light lily lion maple marsh meadow
mill mirror moon moss mountain needle oak oasis ocean orchard owl palace path peak pearl pebble pine pier plain plateau pond prairie
quarry raven reef ridge river road rope rose sail sand shadow shell shore signal sky snow spark spring spruce star stone storm
stream summit swan temple thorn thunder tide timber torch tower trail tree tunnel valley vine violet wagon wall wave well wharf
wheel willow wind window wing winter wolf wood yard""".split()
VERBS = """adjust arrives asks avoid begins blocks breaks brings call carries change check clean close covers cut drains dries drops
fails fill fits fix follows grows holds keep leaks leave lift lock looks meets move needs open order paint pass plan press prints
pull push reach read repair replace reports rest return ring rotate runs scan seals send shakes shift shows signs slow sort spins
starts stays stop store swap takes test tighten turn update use visit wait wash watch weigh works""".split()
GLUE = """a after again all also and are as at away back be before behind both but by can each every for from has if in into is it its
just more most near never no not of off often on once one only or out over per same since so some soon than that the their then this
to too two under until up very was when while will with without""".split()
STATUSES = """active archived approved arrived assigned blocked booked cancelled checked closed completed confirmed delayed denied
dispatched done draft due expired failed faulty finished flagged free full held idle inactive lapsed late live locked lost new
offline online on_hold open overdue paid partial passed paused pending planned processing published queued ready refused rejected
released reserved resolved retired reviewed running scheduled sealed signed stalled started stopped submitted suspended taken tested
unread unpaid upcoming verified void waiting withdrawn""".split()
LEVELS = (
    ("low", "medium", "high"), ("minor", "major", "critical"), ("bronze", "silver", "gold"), ("A", "B", "C", "D"),
    ("small", "medium", "large"), ("P1", "P2", "P3", "P4"), ("basic", "plus", "pro"), ("easy", "moderate", "hard"),
    ("north", "south", "east", "west"), ("red", "amber", "green"), ("daily", "weekly", "monthly"), ("junior", "senior", "lead"),
    ("none", "partial", "full"), ("indoor", "outdoor"), ("XS", "S", "M", "L", "XL"), ("spring", "summer", "autumn", "winter"),
    ("cold", "mild", "warm", "hot"), ("manual", "auto"), ("public", "private", "internal"), ("urgent", "normal", "low"),
)  # fmt: skip
UNITS = """kg g mm cm m km l ml bar hpa volts amps watts rpm kbps pts hours minutes days pages seats crates litres tons knots lux""".split()
MADE_UNITS = (
    "zorn kessel brint dram ullo fathom grain pood stadia vek rhun span ell cubit toise quint perch barleycorn".split()
)
SUFFIXES = "com org net io example dev co.uk info app".split()
EXTENSIONS = "md txt csv json yaml log html ini svg tex rst sql toml".split()
FOLDERS = """archive assets backup briefs config data drafts final guides inbox lists logs manual misc notes old plans public raw
reports shared specs src staging team tests tmp work""".split()

ONSETS = "b b bl br c ch cl cr d d dr f f fl g g gr h j k k kr l l m m n n p p pr qu r r s s sh sk sp st t t th tr v w x y z".split()
VOWELS = "a a a e e e i i i o o o u u u ai ea ia io oo ou y".split()
CODAS = "        b ck d g k l ld m n nd p r rk s st t x".split(" ")
SYLLABLES = [onset + vowel + coda for onset in ONSETS for vowel in VOWELS for coda in CODAS]


def pseudo(rng: Random) -> str:
    """A word nobody has seen: two syllables, seldom one or three, lower case."""
    roll = rng.random()
    if roll < 0.1:
        return rng.choice(SYLLABLES) + rng.choice("aeiou")
    return rng.choice(SYLLABLES) + rng.choice(SYLLABLES) + (rng.choice(SYLLABLES) if roll > 0.9 else "")


def word(rng: Random) -> str:
    roll = rng.random()
    return rng.choice(NOUNS) if roll < 0.4 else rng.choice(ADJECTIVES) if roll < 0.6 else pseudo(rng)


# --- values -----------------------------------------------------------------------------------------------------------


def person(rng: Random) -> str:
    last = rng.choice(LAST) if rng.random() < 0.7 else pseudo(rng).capitalize()
    return f"{rng.choice(FIRST)} {last}"


def title(rng: Random) -> str:
    """A multi-word name: 'The Amber Canal', 'Varno Reef', 'Blue 7'."""
    roll = rng.random()
    if roll < 0.4:
        return f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}".title()
    if roll < 0.6:
        return f"{pseudo(rng)} {rng.choice(NOUNS)}".title()
    if roll < 0.75:
        return f"{rng.choice(NOUNS)} of {pseudo(rng).capitalize()}".capitalize()
    if roll < 0.9:
        return f"The {rng.choice(ADJECTIVES).capitalize()} {pseudo(rng).capitalize()} {rng.choice(NOUNS).capitalize()}"
    return f"{pseudo(rng).capitalize()} {rng.randint(1, 99)}"


def phrase(rng: Random) -> str:
    return " ".join(rng.choice((NOUNS, ADJECTIVES, VERBS))[rng.randrange(60)] for _ in range(rng.randint(2, 4)))


def sentence(rng: Random) -> str:
    pools = (GLUE, NOUNS, VERBS, ADJECTIVES, NOUNS)
    words = [rng.choice(rng.choice(pools)) for _ in range(rng.randint(3, 9))]
    if rng.random() < 0.3:
        words[-1] = rng.choice((pseudo(rng), str(rng.randint(2, 900)), rng.choice(PLACES)))
    text = " ".join(words)
    return text.capitalize() + "." if rng.random() < 0.7 else text


def digits(rng: Random) -> int:
    """A whole number whose length, not its size, is uniform: 1 to 6 digits."""
    return rng.randrange(10 ** rng.randint(1, 6))


def code(rng: Random) -> str:
    """'KX-204', 'b7f-Q', '88/ZU': what departments print on labels."""
    letters = "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=rng.randint(1, 3)))
    number = rng.randrange(10 ** rng.randint(1, 4))
    return rng.choice((f"{letters}{number}", f"{letters}-{number}", f"{number}{letters}", f"{letters.lower()}{number}-{letters[0]}",
                       f"{number}/{letters}", f"{letters}.{number}"))  # fmt: skip


def date(rng: Random) -> str:
    return f"{rng.randint(2019, 2028)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def clock(rng: Random) -> str:
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}"


def moment(rng: Random) -> str:
    return f"{date(rng)}T{clock(rng)}" + rng.choice(
        ("", ":00", ":00Z", "Z", f":{rng.randrange(60):02}+0{rng.randrange(10)}:00")
    )


def email(rng: Random) -> str:
    return f"{rng.choice(FIRST)}.{rng.choice(LAST)}@{word(rng)}.{rng.choice(SUFFIXES)}".lower()


def url(rng: Random) -> str:
    return f"https://{word(rng)}.{rng.choice(SUFFIXES)}/{word(rng)}" + rng.choice(
        ("", f"/{digits(rng)}", f"?id={rng.randint(1, 999)}")
    )


def path(rng: Random) -> str:
    folders = [rng.choice(FOLDERS) for _ in range(rng.randint(1, 2))]
    return "/".join(
        [
            *folders,
            f"{word(rng)}{rng.choice(('', '', '-' + word(rng), f'_{rng.randint(1, 99)}'))}.{rng.choice(EXTENSIONS)}",
        ]
    )


def slug(rng: Random) -> str:
    return "-".join(word(rng) for _ in range(rng.randint(2, 3)))


def phone(rng: Random) -> str:
    return f"+{rng.randint(1, 98)} {rng.randint(20, 999)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}"


def tags(rng: Random) -> list[str]:
    return list(dict.fromkeys(word(rng) for _ in range(rng.randint(1, 4))))


def measure(rng: Random) -> str:
    return f"{rng.choice((rng.randint(1, 900), round(rng.random() * 90, 1)))} {rng.choice(UNITS)}"


Maker = Callable[[Random], Any]

KINDS: dict[str, tuple[str, Maker]] = {
    "person": ("string", person),
    "title": ("string", title),
    "word": ("string", lambda rng: pseudo(rng).capitalize() if rng.random() < 0.5 else word(rng)),
    "phrase": ("string", phrase),
    "sentence": ("string", sentence),
    "place": ("string", lambda rng: rng.choice(PLACES) if rng.random() < 0.6 else pseudo(rng).capitalize()),
    "country": ("string", lambda rng: rng.choice(COUNTRIES)),
    "company": ("string", lambda rng: f"{pseudo(rng).capitalize()} {rng.choice(('Ltd', 'GmbH', 'Labs', 'Group', 'Works', '& Co', 'SA'))}"),
    "email": ("string", email),
    "url": ("string", url),
    "phone": ("string", phone),
    "code": ("string", code),
    "hex": ("string", lambda rng: f"{rng.getrandbits(32):08x}"),
    "version": ("string", lambda rng: f"{rng.randrange(12)}.{rng.randrange(30)}.{rng.randrange(20)}"),
    "color": ("string", lambda rng: f"#{rng.getrandbits(24):06x}"),
    "path": ("string", path),
    "slug": ("string", slug),
    "date": ("string", date),
    "time": ("string", clock),
    "moment": ("string", moment),
    "offset": ("string", lambda rng: f"{rng.choice('+-')}{rng.randrange(12):02}:{rng.choice(('00', '30', '45'))}"),
    "measure": ("string", measure),
    "ip": ("string", lambda rng: ".".join(str(rng.randint(1, 254)) for _ in range(4))),
    "isbn": ("string", lambda rng: f"97{rng.randrange(10)}-{rng.randrange(10**6):06}-{rng.randrange(10)}"),
    "grade": ("string", lambda rng: rng.choice("ABCDE") + rng.choice(("", "+", "-"))),
    "int": ("integer", digits),
    "small": ("integer", lambda rng: rng.randint(0, 60)),
    "year": ("integer", lambda rng: rng.randint(1890, 2027)),
    "signed": ("integer", lambda rng: rng.randint(-500, 500)),
    "money": ("number", lambda rng: round(rng.random() * 10 ** rng.randint(1, 4), 2)),
    "decimal": ("number", lambda rng: round(rng.random() * 10 ** rng.randint(0, 3), rng.randint(1, 3))),
    "percent": ("number", lambda rng: round(rng.random() * 100, 1)),
    "degree": ("number", lambda rng: round(rng.uniform(-90, 90), rng.randint(1, 4))),
    "rating": ("number", lambda rng: rng.randint(2, 10) / 2),
    "bool": ("boolean", lambda rng: rng.random() < 0.5),
    "tags": ("array", tags),
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A typed field of an entity: its name in words, the kind of value, and the choices where it is an enumeration."""

    words: str
    kind: str
    choices: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        return "string" if self.choices else KINDS[self.kind][0]

    def make(self, rng: Random) -> Any:
        return rng.choice(self.choices) if self.choices else KINDS[self.kind][1](rng)


# --- domains ----------------------------------------------------------------------------------------------------------

DOMAINS = """
loan/loans: borrower:person book_title:title due_date:date renewals:small status:on_time/overdue/returned fine:money branch:place
patient/patients: name:person ward:code blood_type:A/B/AB/O admitted:date allergies:tags doctor:person room:int stable:bool
flight/flights: carrier:company origin:place destination:place departs:time gate:code status:boarding/delayed/landed seats_free:small
sensor/sensors: location:place reading:decimal unit:word battery:percent status:online/offline/faulty last_seen:moment interval:small
ticket/tickets: subject:phrase reporter:email priority:low/normal/urgent state:open/closed/waiting opened:date assignee:person
recipe/recipes: title:title cuisine:country minutes:small servings:small ingredients:tags difficulty:easy/medium/hard author:person
exhibit/exhibits: title:title artist:person hall:code year:year on_loan:bool insured_value:money period:word
vehicle/vehicles: model:title plate:code mileage:int fuel:diesel/petrol/electric driver:person last_service:date available:bool
course/courses: title:title teacher:person credits:small room:code term:spring/autumn enrolled:small online:bool syllabus:url
invoice/invoices: payer:company amount:money issued:date due:date status:paid/unpaid/void currency:EUR/USD/JPY/GBP contact:email
parcel/parcels: sender:person recipient:person weight:decimal destination:place status:in_transit/delivered/held eta:date zone:code
vessel/vessels: name:title flag:country tonnage:int port:place captain:person status:docked/at_sea/in_repair length:decimal
plant/plants: name:word species:phrase height:decimal watering:daily/weekly/monthly bed:code planted:date toxic:bool
device/devices: hostname:slug ip:ip firmware:version owner:person kind:router/switch/camera/printer online:bool rack:code
repo/repos: name:slug language:word stars:int default_branch:word license:MIT/Apache-2.0/GPL-3.0 archived:bool pushed:moment
song/songs: title:title artist:person album:title seconds:int genre:word bpm:small explicit:bool
meeting/meetings: topic:phrase organizer:person room:code starts:moment minutes:small attendees:tags recurring:bool
contract/contracts: party:company value:money signed:date expires:date status:draft/active/expired lawyer:person clause_count:small
room/rooms: name:title floor:small capacity:small projector:bool building:word rate:money phone:phone
employee/employees: name:person email:email team:word level:junior/senior/lead hired:date salary:int remote:bool
hotel/hotels: name:title city:place stars:rating price_from:money pool:bool phone:phone website:url
trail/trails: name:title region:place length:decimal climb:int difficulty:easy/moderate/hard open:bool season:spring/summer/winter
star/stars: name:word constellation:word magnitude:degree distance:decimal spectral_class:O/B/A/F/G/K/M discovered:year
mineral/minerals: name:word hardness:decimal formula:code color:color origin:place radioactive:bool sample_count:small
bird/birds: species:phrase ring:code weight:int sex:male/female site:place ringed:date observer:person
train/trains: line:code origin:place terminus:place departs:time platform:small status:on_time/delayed/cancelled carriages:small
bus stop/bus stops: name:title routes:tags shelter:bool zone:A/B/C latitude:degree longitude:degree
concert/concerts: headliner:word venue:title date:date doors:time price:money sold_out:bool promoter:company
film/films: title:title director:person year:year runtime:int rating:rating studio:company genre:word
podcast/podcasts: title:title host:person episodes:int feed:url language:word weekly:bool
game/games: title:title publisher:company players:small released:date score:percent platform:word
match/matches: home:place away:place home_goals:small away_goals:small referee:person played:date stadium:title
athlete/athletes: name:person country:country sport:word rank:int height:int injured:bool club:title
donation/donations: donor:person amount:money campaign:title date:date anonymous:bool receipt:code
grant/grants: title:title agency:company amount:int investigator:person deadline:date status:open/awarded/closed
experiment/experiments: title:phrase lab:code scientist:person temperature:degree trials:small outcome:positive/negative/unclear
sample/samples: label:code origin:place volume:decimal ph:decimal collected:moment contaminated:bool freezer:code
chemical/chemicals: name:word formula:code hazard:none/toxic/flammable/corrosive shelf:code grams:int supplier:company
telescope/telescopes: name:title aperture:decimal site:place operator:company active:bool elevation:int
satellite/satellites: name:title orbit:LEO/MEO/GEO launched:date mass:int operator:company altitude:int healthy:bool
turbine/turbines: site:place output:decimal blades:small status:spinning/stopped/feathered wind:decimal inspected:date
pipeline/pipelines: name:slug branch:word status:passed/failed/running seconds:int commit:hex triggered_by:person
deployment/deployments: service:slug version:version environment:staging/production/qa replicas:small owner:email healthy:bool
incident/incidents: summary:sentence severity:minor/major/critical service:slug opened:moment lead:person resolved:bool
alert/alerts: message:sentence source:slug level:info/warning/critical raised:moment muted:bool count:int
server rack/server racks: label:code room:code height:small power:int temperature:decimal locked:bool vendor:company
certificate/certificates: domain:slug issuer:company expires:date bits:int fingerprint:hex revoked:bool
backup/backups: host:slug size:int taken:moment status:complete/partial/failed path:path checksum:hex
bug/bugs: summary:phrase component:word severity:minor/major/critical reporter:person state:new/open/fixed version:version
release/releases: tag:version codename:word date:date notes:sentence stable:bool downloads:int
feature flag/feature flags: name:slug enabled:bool rollout:percent owner:email description:sentence updated:date
house/houses: address:title city:place rooms:small price:int agent:person sold:bool area:decimal
tenant/tenants: name:person unit:code rent:money since:date balance:signed phone:phone pets:bool
permit/permits: holder:person kind:building/fishing/parking issued:date expires:date fee:money status:valid/revoked/expired
case/cases: title:phrase court:place judge:person filed:date status:open/appealed/closed docket:code
law/laws: title:phrase article:code adopted:date ministry:word repealed:bool pages:small
voter/voters: name:person district:code registered:date party:word active:bool
farm/farms: name:title hectares:decimal crop:word owner:person organic:bool county:place yield:int
cow/cows: name:word tag:code milk:decimal born:date breed:word vaccinated:bool pen:code
hive/hives: label:code queen_year:year frames:small honey:decimal mood:calm/restless/aggressive inspected:date
wine/wines: name:title grape:word vintage:year region:place alcohol:percent bottles:int score:small
beer/beers: name:title style:word abv:percent ibu:small brewery:company seasonal:bool
cafe/cafes: name:title street:word opens:time closes:time rating:rating wifi:bool phone:phone
dish/dishes: name:title course:starter/main/dessert calories:int price:money vegan:bool spice:none/mild/hot
reservation/reservations: guest:person table:code guests:small time:time date:date status:booked/seated/cancelled notes:sentence
shift/shifts: worker:person starts:time ends:time day:date role:word approved:bool
task/tasks: title:phrase assignee:person due:date priority:P1/P2/P3 done:bool estimate:decimal labels:tags
milestone/milestones: title:title due:date progress:percent owner:person state:open/closed
project/projects: name:title lead:person budget:int status:planned/active/finished started:date client:company
expense/expenses: employee:person amount:money category:travel/meals/office date:date approved:bool memo:sentence
account/accounts: holder:person balance:money currency:EUR/USD/CHF opened:date frozen:bool branch:place
transfer/transfers: sender:person receiver:person amount:money date:moment status:settled/pending/failed reference:code
policy/policies: holder:person kind:home/car/travel premium:money renews:date agent:email active:bool
claim/claims: claimant:person amount:money filed:date status:open/approved/denied adjuster:person cause:phrase
asset/assets: name:title serial:code bought:date cost:money location:place condition:new/good/worn/broken
tool kit/tool kits: name:title drawer:code pieces:small borrowed_by:person calibrated:date complete:bool
machine/machines: name:title line:code rpm:int temperature:decimal status:running/idle/stopped serviced:date operator:person
mould/moulds: label:code cavities:small material:word cycles:int due_service:date
pallet/pallets: label:code bay:code boxes:small weight:decimal loaded:bool destination:place
container/containers: number:code vessel:title seal:code weight:int status:loaded/empty/customs port:place
truck/trucks: plate:code driver:person load:int route:code departs:time refrigerated:bool
bridge/bridges: name:title span:decimal built:year river:word lanes:small inspected:date rating:grade
volcano/volcanoes: name:word height:int country:country last_eruption:year alert:green/yellow/red
lake/lakes: name:word depth:decimal area:decimal country:country frozen:bool ph:decimal
glacier/glaciers: name:word length:decimal retreat:decimal surveyed:date country:country
station/stations: name:title elevation:int temperature:degree humidity:percent wind:decimal updated:moment
earthquake/earthquakes: place:place magnitude:decimal depth:decimal time:moment felt:small tsunami:bool
poem/poems: title:title poet:person lines:small year:year form:sonnet/haiku/ode language:word
painting/paintings: title:title painter:person year:year medium:oil/ink/acrylic width:int height:int gallery:place
photo/photos: caption:phrase camera:word taken:moment album:word width:int height:int path:path
font/fonts: family:word foundry:company weights:small license:free/trial/paid version:version
palette/palettes: name:title primary:color accent:color background:color author:person likes:int
dataset/datasets: name:slug rows:int columns:small owner:email license:word updated:date path:path
model run/model runs: name:slug accuracy:percent loss:decimal epochs:small status:queued/running/done seed:int started:moment
survey/surveys: title:phrase responses:int opened:date closes:date owner:email anonymous:bool
student/students: name:person grade:grade class:code guardian:person absences:small email:email
exam/exams: subject:word date:date room:code examiner:person max_points:small retake:bool
thesis/theses: title:phrase author:person supervisor:person year:year pages:int grade:grade
apartment/apartments: number:code floor:small tenant:person rent:money heating:gas/electric/district vacant:bool
elevator/elevators: building:title capacity:int inspected:date status:running/stuck/maintenance floors:small
locker/lockers: number:code holder:person pin:int size:S/M/L paid_until:date
bike/bikes: frame:code station:place battery:percent status:free/rented/repair gears:small
scooter/scooters: code:code charge:percent zone:A/B/C rider:person km:decimal
drone/drones: name:word model:code pilot:person flight_minutes:int max_altitude:int grounded:bool
robot/robots: name:word task:phrase firmware:version battery:percent zone:code mode:manual/auto
spell/spells: name:title school:word mana:small range:int incantation:phrase forbidden:bool
creature/creatures: name:word habitat:word hit_points:int size:tiny/small/large/huge hostile:bool loot:word
quest/quests: title:title giver:person reward:int level:small status:open/taken/done region:place
planet/planets: name:word moons:small radius:int day_length:decimal habitable:bool star:word
colony/colonies: name:title population:int governor:person founded:year power:percent rationing:bool
medication/medications: name:word dose:measure form:tablet/syrup/injection maker:company expires:date prescription:bool
appointment/appointments: patient:person clinic:title date:date time:time reason:phrase confirmed:bool
blood bag/blood bags: code:code type:A/B/AB/O volume:int drawn:date screened:bool fridge:code
pet/pets: name:word species:cat/dog/rabbit/parrot owner:person weight:decimal chip:code born:date
shelter/shelters: name:title city:place beds:small occupied:small phone:phone accepts_dogs:bool
volunteer/volunteers: name:person skills:tags hours:small phone:phone available:bool joined:date
event/events: title:title venue:place starts:moment capacity:int organizer:email free:bool
speaker/speakers: name:person talk:phrase track:word slot:time bio:sentence confirmed:bool
message/messages: sender:email subject:phrase sent:moment unread:bool folder:inbox/sent/spam body:sentence
contact/contacts: name:person phone:phone email:email company:company birthday:date favorite:bool
bookmark/bookmarks: title:phrase url:url tags:tags saved:date visits:small
channel/channels: name:slug topic:phrase members:int created:date muted:bool owner:person
comment/comments: author:person text:sentence posted:moment likes:small hidden:bool
article/articles: headline:phrase author:person words:int published:date section:word paywalled:bool url:url
translation/translations: source:phrase target:phrase language:word translator:person status:draft/reviewed/final
dialect/dialects: name:word speakers:int region:place tonal:bool endangered:bool
manuscript/manuscripts: title:title century:small folios:small library:place language:word digitized:bool
artifact/artifacts: name:phrase site:place depth:decimal found:date material:word curator:person
tomb/tombs: label:code dynasty:word depth:decimal opened:year occupant:person
coin/coins: denomination:word mint:place year:year weight:decimal metal:gold/silver/copper condition:grade
stamp/stamps: title:title country:country year:year value:money mint:bool
auction/auctions: lot:code item:phrase estimate:int bid:int closes:moment reserve_met:bool
ride/rides: name:title min_height:int thrill:mild/medium/extreme queue:small open:bool
pass/passes: holder:person resort:place valid_from:date valid_to:date price:money kind:day/week/season
lift/lifts: name:title seats:small vertical:int status:running/stopped/wind_hold opened:year
beach/beaches: name:title water_temp:decimal flag:green/yellow/red lifeguard:bool length:int
buoy/buoys: code:code wave_height:decimal wind:decimal water_temp:decimal latitude:degree longitude:degree reported:moment
dive/dives: site:title depth:decimal minutes:small buddy:person date:date gas:air/nitrox/trimix
tide table/tide tables: port:place high:time low:time range:decimal date:date
antenna/antennas: site:place band:code gain:decimal azimuth:small vendor:company live:bool
circuit/circuits: label:code volts:int amps:decimal tripped:bool panel:code tested:date
thermostat/thermostats: room:word target:decimal current:decimal mode:heat/cool/off schedule:word
light/lights: name:title brightness:percent color:color on:bool group:word
playlist/playlists: name:title owner:person tracks:small minutes:int public:bool cover:url
instrument/instruments: name:word maker:company year:year section:strings/brass/woodwind player:person
puzzle/puzzles: title:title pieces:int author:person difficulty:easy/medium/hard solved:bool
ballot/ballots: question:sentence yes:int no:int abstained:int closes:date district:code
budget line/budget lines: name:phrase planned:money spent:money department:word year:year frozen:bool
supplier/suppliers: name:company country:country lead_days:small contact:email rating:rating certified:bool
job/jobs: title:phrase company:company city:place salary:int posted:date remote:bool
candidate/candidates: name:person role:phrase stage:applied/interview/offer/rejected score:percent email:email
badge/badges: number:code holder:person zone:A/B/C issued:date lost:bool
visitor/visitors: name:person host:person arrived:time left:time company:company purpose:phrase
""".strip().splitlines()

EXTRA_COLUMNS = """
created:date updated:moment notes:sentence owner:person tags:tags version:version color:color reference:code contact:email
website:url phone:phone region:place score:percent rating:rating count:int weight:decimal cost:money active:bool verified:bool
level:word remark:phrase position:small offset:offset address:ip revision:hex manager:person size:measure year:year delta:signed
latitude:degree hours:decimal shelf:code path:path alias:slug country:country supplier:company quota:int last_check:date
next_review:date start:time locked:bool archived:bool priority:low/medium/high tier:basic/plus/pro stage:new/open/done
""".split()

SUBRECORDS = (
    ("history", "entry", ("date:date", "event:phrase", "by:person")),
    ("notes", "note", ("author:person", "text:sentence")),
    ("events", "event", ("time:moment", "kind:word", "detail:phrase")),
    ("measurements", "measurement", ("time:time", "value:decimal")),
    ("schedule", "slot", ("start:time", "end:time", "activity:phrase")),
    ("comments", "comment", ("author:person", "text:sentence", "likes:small")),
    ("parts", "part", ("part:phrase", "quantity:small", "code:code")),
    ("payments", "payment", ("date:date", "amount:money", "method:cash/card/wire")),
    ("attachments", "attachment", ("name:path", "bytes:int")),
    ("inspections", "inspection", ("date:date", "inspector:person", "passed:bool")),
    ("contacts", "contact", ("name:person", "phone:phone")),
    ("ratings", "rating", ("by:person", "stars:rating")),
    ("locations", "location", ("place:place", "since:date")),
    ("changes", "change", ("field:word", "old:word", "new:word")),
    ("members", "member", ("name:person", "role:word")),
    ("alarms", "alarm", ("code:code", "level:minor/major/critical", "raised:moment")),
)

NESTS = {
    "details": None, "meta": None, "attributes": None, "info": None, "stats": ("small", "int", "decimal", "percent", "money"),
    "contact": ("email", "phone", "person", "url"), "location": ("place", "degree", "code", "country"),
    "dates": ("date", "moment", "time", "year"), "metrics": ("decimal", "percent", "int", "small", "rating"),
}  # fmt: skip


def column(text: str) -> Column:
    """`due_date:date` or `status:open/closed` as a `Column`."""
    name, kind = text.split(":")
    words = name.replace("_", " ")
    if "/" in kind:
        return Column(words, "enum", tuple(kind.split("/")))
    return Column(words, kind)


def domain(rng: Random) -> tuple[str, str, list[Column]]:
    """A noun, its plural and columns: three times in four one of `DOMAINS`, else a thing that does not exist."""
    if rng.random() < 0.75:
        names, columns = rng.choice(DOMAINS).split(": ")
        one, many = names.split("/")
        return one, many, [column(text) for text in columns.split()]
    one = pseudo(rng) if rng.random() < 0.7 else f"{pseudo(rng)} {rng.choice(NOUNS)}"
    columns: list[Column] = []
    for _ in range(rng.randint(4, 7)):
        kind = rng.choice((*KINDS, "enum", "enum"))
        choices = (
            () if kind != "enum" else rng.choice((rng.choice(LEVELS), tuple(rng.sample(STATUSES, rng.randint(2, 4)))))
        )
        columns.append(Column(word(rng) if rng.random() < 0.7 else pseudo(rng), kind, choices))
    return one, one + ("es" if one.endswith(("s", "x", "z", "ch", "sh")) else "s"), columns
