"""Invented sentences: what somebody may note, find out or hand over."""

import random
from collections.abc import Sequence

FIRST = (
    "Ada Amir Bea Carlo Dana Elif Farid Greta Hugo Ines Jonas Kira Leon Mara Nils Nora Omar Petra Quinn Rosa Sami "
    "Tara Uma Viktor Wanda Yusuf Zoe "
).split()
LAST = (
    "Abbas Berg Castro Dietz Egan Feld Grant Haas Iqbal Jansen Kovac Lund Moreau Novak Okoye Perez Quist Rossi Sato "
    "Toth Ueda Vance Weber Young Zeman "
).split()
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SENTENCES = (
    "Call {first} {last} back on {day}",
    "{first} is away until {day}",
    "Meeting with {first} {last} moved to {day}",
    "Order {n} more boxes before {day}",
    "{first} {last} prefers to be called in the morning",
    "Invoice {n} was sent to {last} on {day}",
    "Room {n} is closed on {day}",
    "Ask {first} about the contract by {day}",
    "The delivery for {last} arrives on {day}",
    "{last} asked for a discount on {n} pieces",
    "Send the report to {first} on {day}",
    "Parking for {n} guests is booked for {day}",
)

_NOTES = (
    "{first} {last} has the details",
    "ask {first} {last} for details",
    "see the email from {first} {last}",
    "to be discussed with {first} on {day}",
    "{first} will send details on {day}",
    "{first} {last} is the one to ask",
    "waiting for an answer from {first} {last}",
    "{first} {last} keeps the paper file",
    "{first} {last} will know more on {day}",
    "{first} {last} follows up on {day}",
    "{first} asked about this on {day}",
    "discussed with {first} {last} on {day}",
    "{first} sent the papers on {day}",
    "call {first} {last} about this on {day}",
    "more to follow on {day}",
    "talk to {first} {last} before {day}",
    "{first} has a question, answer by {day}",
)
"""What may be noted about anything."""
_FINDINGS = (
    "Most cancellations come on {day}s",
    "{day} is the busiest day of the week",
    "Calls take longer on {day}s than on other days",
    "{n} percent of the bookings come by phone",
    "Income on {day}s is {n} percent above average",
    "{n} percent of the invoices are paid late",
    "{n} customers come back every month",
    "New customers cancel twice as often on {day}s",
    "Hardly anybody comes on {day}s before ten",
)
_HANDOVERS = (
    "{first} {last} has a complaint and wants to talk to somebody",
    "{first} {last} would like a call back on {day}",
    "{first} {last} is not happy with the answer",
    "{first} {last} was told two different things",
    "{first} {last} has waited for an answer since {day}",
)


def sentence(rng: random.Random) -> str:
    """A sentence that somebody may note down."""
    return _told(_SENTENCES, rng)


def note(rng: random.Random) -> str:
    """A note that fits anything."""
    return _told(_NOTES, rng)


def finding(rng: random.Random) -> str:
    """What somebody may have found out about a business."""
    return _told(_FINDINGS, rng)


def handover(rng: random.Random) -> str:
    """What the next person has to know."""
    return _told(_HANDOVERS, rng)


def _told(sentences: Sequence[str], rng: random.Random) -> str:
    return rng.choice(sentences).format(
        first=rng.choice(FIRST),
        last=rng.choice(LAST),
        day=rng.choice(_DAYS),
        n=rng.randint(2, 40),
    )
