"""Parking permits of the town of Wexcombe: permits, vehicles, zones."""
from typing import Annotated, Literal, Optional

from pydantic import Field
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("wexcombe-parking")
ZoneName = Annotated[str, Field(description="zone slug, e.g. old-town")]
Plate = Annotated[str, Field(description="number plate in capitals with the space, e.g. KX19 LTM")]

# slug: label, hours, resident per year, business per year, visitor per day, spaces, warden
ZONES = {
    "harbour": ("Harbour", "Mon-Sun 08:00-20:00", 96.00, 340.00, 7.50, 140, "D. Pask"),
    "old-town": ("Old Town", "Mon-Sat 07:00-19:00", 120.00, 420.00, 9.00, 85, "R. Imani"),
    "station": ("Station", "Mon-Fri 06:00-18:00", 84.00, 310.00, 6.00, 210, "D. Pask"),
    "mill-lane": ("Mill Lane", "Mon-Fri 09:00-17:00", 60.00, 240.00, 4.50, 64, "S. Lovell"),
    "castle-hill": ("Castle Hill", "Mon-Sat 10:00-16:00", 72.00, 280.00, 5.00, 48, "S. Lovell"),
    "market": ("Market", "Mon-Sun 24 hours", 150.00, 510.00, 11.00, 37, "R. Imani"),
}
# plate: make, model, colour, fuel
VEHICLES = {
    "KX19 LTM": ("Ford", "Fiesta", "blue", "petrol"),
    "WR70 DPO": ("Nissan", "Leaf", "white", "electric"),
    "HV15 ZKE": ("Volkswagen", "Golf", "grey", "diesel"),
    "LB22 NNA": ("Kia", "Niro", "green", "hybrid"),
    "EA68 YTF": ("Ford", "Transit", "white", "diesel"),
    "MJ13 QCS": ("Toyota", "Yaris", "red", "petrol"),
    "SN21 GVB": ("Tesla", "Model 3", "black", "electric"),
    "DK17 RHL": ("Skoda", "Octavia", "silver", "diesel"),
    "YC66 BWE": ("Vauxhall", "Corsa", "yellow", "petrol"),
    "PO23 XUM": ("Renault", "Zoe", "blue", "electric"),
    "GF18 AJD": ("Mercedes", "Sprinter", "white", "diesel"),
    "RT20 KLI": ("Hyundai", "i10", "orange", "petrol"),
    "BN64 VSO": ("Honda", "Jazz", "silver", "petrol"),
    "AV71 EMC": ("Peugeot", "Partner", "grey", "diesel"),
    "CW16 TFR": ("Fiat", "500", "mint", "petrol"),
    "NH69 PLZ": ("Mini", "Cooper", "red", "petrol"),
    "OU24 SDY": ("Volvo", "EX30", "grey", "electric"),
    "FE14 HGN": ("Citroen", "Berlingo", "beige", "diesel"),
}
# number: holder, kind, zone, plate, from, until, status
PERMITS = {
    20411: ["Harold Tench", "resident", "harbour", "KX19 LTM", "2024-09-01", "2025-08-31", "active"],
    20412: ["Imogen Sayle", "resident", "old-town", "WR70 DPO", "2024-11-15", "2025-11-14", "active"],
    20413: ["Derek Unwin", "resident", "station", "HV15 ZKE", "2024-03-01", "2025-02-28", "expired"],
    20414: ["Rosa Quill", "resident", "castle-hill", "LB22 NNA", "2025-01-10", "2026-01-09", "active"],
    20415: ["Bright & Sons Plumbing", "business", "old-town", "EA68 YTF", "2024-07-01", "2025-06-30", "active"],
    20416: ["Edna Farrow", "carer", "mill-lane", "MJ13 QCS", "2025-02-01", "2026-01-31", "active"],
    20417: ["Kwame Mensah", "resident", "market", "SN21 GVB", "2024-12-01", "2025-11-30", "suspended"],
    20418: ["Derek Unwin", "resident", "station", "DK17 RHL", "2025-03-01", "2026-02-28", "active"],
    20419: ["Tansy Bellamy", "resident", "mill-lane", "YC66 BWE", "2024-05-20", "2025-05-19", "active"],
    20420: ["Owain Price", "resident", "harbour", "PO23 XUM", "2024-10-05", "2025-10-04", "active"],
    20421: ["Gull Bakery", "business", "harbour", "GF18 AJD", "2024-08-12", "2025-08-11", "active"],
    20422: ["Nadia Petrov", "carer", "old-town", "RT20 KLI", "2025-01-01", "2025-12-31", "active"],
    20423: ["Cyril Tench", "resident", "harbour", "BN64 VSO", "2024-01-15", "2025-01-14", "expired"],
    20424: ["Marlow Electrics", "business", "station", "AV71 EMC", "2025-02-20", "2026-02-19", "suspended"],
    20425: ["Philippa Grange", "resident", "castle-hill", "CW16 TFR", "2024-06-30", "2025-06-29", "active"],
    20426: ["Anton Weir", "resident", "market", "NH69 PLZ", "2025-03-05", "2026-03-04", "active"],
    20427: ["Sunita Rao", "resident", "old-town", "OU24 SDY", "2024-09-22", "2025-09-21", "active"],
    20428: ["Low Farm Flowers", "business", "market", "FE14 HGN", "2024-02-10", "2025-02-09", "expired"],
}


def _zone(zone):
    if zone not in ZONES:
        raise ToolError(f"unknown zone '{zone}'; zones are: " + ", ".join(ZONES))
    return ZONES[zone]


def _permit(number):
    if number not in PERMITS:
        raise ToolError(f"no permit {number}")
    return PERMITS[number]


def _row(n):
    holder, kind, zone, plate, start, until, status = PERMITS[n]
    return f"{n} | {holder} | {kind} | {zone} | {plate} | {until} | {status}"


HEAD = "permit | holder | kind | zone | plate | valid until | status\n"


@server.tool(name="permit-details")
def permit_details(number: int) -> dict:
    "Full record of a permit with its fee."
    holder, kind, zone, plate, start, until, status = _permit(number)
    fee = {"resident": ZONES[zone][2], "business": ZONES[zone][3], "carer": 0.0}[kind]
    return {"number": number, "holder": holder, "kind": kind, "zone": zone, "plate": plate, "validFrom": start, "validUntil": until,
            "status": status, "yearlyFee": f"£{fee:.2f}"}


@server.tool(name="search-permits")
def search_permits(holder: Optional[str] = None, zone: Optional[ZoneName] = None, kind: Optional[Literal["resident", "business", "carer"]] = None,
                   status: Optional[Literal["active", "expired", "suspended"]] = None) -> str:
    "Table of permits, filtered by any part of the holder's name, zone, kind or status. At least one filter."
    if not any((holder, zone, kind, status)):
        return "Please give at least one filter."
    if zone:
        _zone(zone)
    rows = [_row(n) for n, p in PERMITS.items() if (not holder or holder.lower() in p[0].lower()) and (not zone or p[2] == zone)
            and (not kind or p[1] == kind) and (not status or p[6] == status)]
    return HEAD + "\n".join(rows) if rows else "No permits match."


@server.tool(name="check-plate")
def check_plate(plate: Plate) -> str:
    "What vehicle has this plate and which permit covers it?"
    if plate not in VEHICLES:
        return f"{plate} is not registered."
    make, model, colour, fuel = VEHICLES[plate]
    held = [f"{n} ({PERMITS[n][2]}, {PERMITS[n][6]})" for n in PERMITS if PERMITS[n][3] == plate]
    return f"{plate}: {colour} {make} {model}, {fuel}. Permit: {', '.join(held) or 'none'}."


@server.tool(name="zone-info")
def zone_info(zone: ZoneName) -> str:
    "Hours, prices, spaces and warden of a zone."
    label, hours, res, bus, vis, spaces, warden = _zone(zone)
    used = sum(p[2] == zone and p[6] == "active" for p in PERMITS.values())
    return (f"Zone: {label}\nHours: {hours}\nResident permit: £{res:.2f} a year\nBusiness permit: £{bus:.2f} a year\n"
            f"Visitor ticket: £{vis:.2f} a day\nSpaces: {spaces}\nActive permits: {used}\nWarden: {warden}")


@server.tool(name="list-zones")
def list_zones() -> str:
    "All zones with their resident price and number of spaces."
    return "zone | resident price | spaces\n" + "\n".join(f"{z} | £{v[2]:.2f} | {v[5]}" for z, v in ZONES.items())


@server.tool(name="issue-permit")
def issue_permit(holder: str, plate: Plate, zone: ZoneName, kind: Literal["resident", "business", "carer"] = "resident") -> str:
    "Issue a new permit for a year from 2025-04-01."
    _zone(zone)
    number = max(PERMITS) + 1
    PERMITS[number] = [holder, kind, zone, plate, "2025-04-01", "2026-03-31", "active"]
    return "Issued.\n" + HEAD + _row(number)


@server.tool(name="renew-permit")
def renew_permit(number: int, months: Literal[6, 12] = 12) -> str:
    "Extend a permit by 12 (or 6) months; an expired one becomes active again."
    p = _permit(number)
    if p[6] == "suspended":
        raise ToolError(f"permit {number} is suspended and cannot be renewed")
    y, m, d = (int(x) for x in p[5].split("-"))
    y, m = y + (m - 1 + months) // 12, (m - 1 + months) % 12 + 1
    last = 28 if m == 2 else 30 if m in (4, 6, 9, 11) else 31
    p[5], p[6] = f"{y}-{m:02}-{min(d, last):02}", "active"
    return f"Permit {number} ({p[0]}) now valid until {p[5]}."


@server.tool(name="set-permit-status")
def set_permit_status(number: int, status: Literal["active", "suspended", "expired"]) -> str:
    "Suspend, reactivate or end a permit."
    p = _permit(number)
    old, p[6] = p[6], status
    return f"Permit {number} ({p[0]}): {old} -> {status}"


@server.tool(name="change-vehicle")
def change_vehicle(number: int, plate: Plate) -> str:
    "Move a permit to another number plate."
    p = _permit(number)
    old, p[3] = p[3], plate
    return f"Permit {number} ({p[0]}): plate {old} -> {plate}"


if __name__ == "__main__":
    server.run()
