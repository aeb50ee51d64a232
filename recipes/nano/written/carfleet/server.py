from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("fleetdesk")

# plate: model, category, branch, status, odometer (miles), daily price (GBP), gearbox, seats, fuel, next service at (miles), MOT expiry, colour
CARS = {
    "LK21 RVT": ["Ford Fiesta", "compact", "harbour", "available", 31240, 34.0, "manual", 5, "petrol", 36000, "14 Nov 2026", "blue"],
    "BD70 KXU": ["Vauxhall Corsa", "compact", "airport", "rented", 42811, 32.5, "manual", 5, "petrol", 48000, "02 Sep 2026", "white"],
    "WJ23 FAO": ["Toyota Yaris", "compact", "station", "available", 15302, 38.0, "automatic", 5, "hybrid", 20000, "19 Mar 2027", "red"],
    "HN72 PLE": ["VW Polo", "compact", "northgate", "cleaning", 22078, 36.0, "manual", 5, "petrol", 30000, "27 Jan 2027", "grey"],
    "EA71 MGC": ["Fiat 500", "compact", "university", "available", 18655, 29.0, "manual", 4, "petrol", 20000, "08 Dec 2026", "yellow"],
    "SF22 TTY": ["Skoda Octavia", "estate", "airport", "available", 37490, 52.0, "manual", 5, "diesel", 40000, "30 Jun 2026", "silver"],
    "GX73 WOB": ["VW Passat", "estate", "harbour", "rented", 12984, 58.0, "automatic", 5, "diesel", 20000, "11 Oct 2027", "black"],
    "CN69 HDR": ["Ford Focus", "estate", "station", "in_service", 61377, 45.0, "manual", 5, "petrol", 60000, "05 Aug 2026", "blue"],
    "YT23 LUM": ["Volvo V60", "estate", "northgate", "available", 20145, 64.0, "automatic", 5, "hybrid", 30000, "22 Apr 2027", "white"],
    "RK24 BJN": ["Nissan Qashqai", "suv", "airport", "rented", 9870, 61.0, "automatic", 5, "petrol", 18000, "16 Feb 2028", "grey"],
    "DL22 ZEP": ["Kia Sportage", "suv", "harbour", "available", 28433, 66.5, "automatic", 5, "hybrid", 30000, "09 Jul 2026", "green"],
    "MV71 OSK": ["Skoda Kodiaq", "suv", "northgate", "rented", 40216, 72.0, "automatic", 7, "diesel", 45000, "21 Dec 2026", "black"],
    "FP73 CAW": ["Dacia Duster", "suv", "university", "available", 11540, 47.0, "manual", 5, "petrol", 18000, "03 Nov 2027", "orange"],
    "NU20 GHT": ["Ford Transit", "van", "station", "available", 74902, 79.0, "manual", 3, "diesel", 80000, "28 Aug 2026", "white"],
    "PO22 VRX": ["VW Caravelle", "van", "airport", "cleaning", 35618, 98.0, "automatic", 9, "diesel", 40000, "13 May 2027", "silver"],
    "KS70 DQI": ["Renault Trafic", "van", "harbour", "rented", 58027, 84.0, "manual", 9, "diesel", 60000, "17 Oct 2026", "red"],
    "JB19 YEL": ["Citroen Berlingo", "van", "university", "in_service", 83311, 55.0, "manual", 2, "diesel", 82000, "26 Jun 2026", "white"],
    "OE24 NWA": ["Renault Zoe", "electric", "station", "available", 6722, 44.0, "automatic", 5, "electric", 18000, "07 Mar 2027", "blue"],
    "TC73 SIV": ["MG4", "electric", "harbour", "rented", 14230, 49.5, "automatic", 5, "electric", 20000, "25 Sep 2027", "orange"],
    "VH23 EEK": ["Tesla Model 3", "electric", "airport", "available", 25764, 89.0, "automatic", 5, "electric", 36000, "10 Jan 2027", "white"],
}
# rental no: customer, plate, picked up, due back, pickup branch, return branch, insurance, extra driver, deposit (GBP), phone, state
RENTALS = {
    5012: ["Aled Pritchard", "WJ23 FAO", "11 May 2026", "15 May 2026", "station", "station", "basic", "none", 150, "07700 900118", "closed"],
    5014: ["Bhavna Desai", "VH23 EEK", "14 May 2026", "17 May 2026", "airport", "airport", "full", "Rohan Desai", 400, "07700 900274", "closed"],
    5015: ["Charlotte Munro", "EA71 MGC", "16 May 2026", "18 May 2026", "university", "university", "basic", "none", 150, "07700 900391", "closed"],
    5017: ["Dele Fashola", "BD70 KXU", "18 May 2026", "25 May 2026", "airport", "station", "full", "none", 150, "07700 900402", "open"],
    5018: ["Eleanor Quill", "GX73 WOB", "19 May 2026", "22 May 2026", "harbour", "harbour", "basic", "Simon Quill", 250, "07700 900533", "open"],
    5020: ["Farid Nazari", "RK24 BJN", "19 May 2026", "29 May 2026", "airport", "airport", "full", "none", 300, "07700 900619", "open"],
    5021: ["Gwen Hartley", "MV71 OSK", "20 May 2026", "27 May 2026", "northgate", "airport", "full", "Tom Hartley", 300, "07700 900744", "open"],
    5023: ["Hector Salas", "KS70 DQI", "20 May 2026", "23 May 2026", "harbour", "harbour", "basic", "Lena Fuchs", 350, "07700 900857", "open"],
    5024: ["Isobel Tran", "TC73 SIV", "21 May 2026", "24 May 2026", "harbour", "university", "basic", "none", 250, "07700 900962", "open"],
    5009: ["Dele Fashola", "HN72 PLE", "02 May 2026", "06 May 2026", "northgate", "northgate", "basic", "none", 150, "07700 900402", "closed"],
    5010: ["Joanna Birch", "NU20 GHT", "08 May 2026", "09 May 2026", "station", "station", "full", "none", 350, "07700 900085", "closed"],
    5011: ["Gwen Hartley", "PO22 VRX", "09 May 2026", "12 May 2026", "airport", "airport", "full", "Tom Hartley", 350, "07700 900744", "closed"],
}
BRANCHES = {
    "harbour": ["4 Quayside", "0191 498 0121", "08:00-18:00", "closed", "Nora Blythe", 14],
    "airport": ["Terminal 1, Level 0", "0191 498 0177", "05:30-23:30", "05:30-23:30", "Marcus Obi", 32],
    "station": ["22 Neville Street", "0191 498 0143", "07:00-20:00", "09:00-16:00", "Kirsty Lamb", 9],
    "northgate": ["Unit 7, Northgate Park", "0191 498 0165", "08:00-17:30", "closed", "Piotr Wolski", 20],
    "university": ["61 Claremont Road", "0191 498 0109", "09:00-17:00", "closed", "Sana Iqbal", 6],
}
Branch = Literal["harbour", "airport", "station", "northgate", "university"]


def _lines(**kw) -> str:
    return "\n".join(f"{k.replace('_', ' ')}: {v}" for k, v in kw.items())


@server.tool()
def carInfo(plate: str) -> str:
    "Details of a car. plate: registration in capitals with the space, e.g. AB12 CDE"
    c = CARS.get(plate)
    if not c:
        return f"No car with plate {plate} in the fleet."
    return _lines(Plate=plate, Model=c[0], Colour=c[11], Category=c[1], Branch=c[2], Status=c[3], Odometer=f"{c[4]} mi", Daily_price=f"£{c[5]:.2f}",
                  Gearbox=c[6], Seats=c[7], Fuel=c[8], Next_service_at=f"{c[9]} mi", MOT_expires=c[10])


@server.tool()
def searchCars(category: Literal["compact", "estate", "suv", "van", "electric"] | None = None, branch: Branch | None = None,
               status: Literal["available", "rented", "cleaning", "in_service"] | None = None, model: str | None = None) -> str:
    "Search the fleet; all filters are optional but one is required. model matches part of the make or model."
    if not (category or branch or status or model):
        return "Please give at least one filter."
    hits = [(p, c) for p, c in CARS.items() if category in (None, c[1]) and branch in (None, c[2]) and status in (None, c[3])
            and (not model or model.lower() in c[0].lower())]
    if not hits:
        return "No matching cars."
    return "\n".join(f"{p} | {c[0]} | {c[1]} | {c[2]} | {c[3]} | £{c[5]:.2f}/day | {c[7]} seats" for p, c in hits)


@server.tool()
def rentalLookup(rentalNo: int) -> str:
    "Details of a rental agreement"
    r = RENTALS.get(rentalNo)
    if not r:
        return f"Rental {rentalNo} does not exist."
    return _lines(Rental=rentalNo, Customer=r[0], Phone=r[9], Car=r[1], Picked_up=r[2], Due_back=r[3], Pickup_branch=r[4], Return_branch=r[5],
                  Insurance=r[6], Extra_driver=r[7], Deposit=f"£{r[8]}", State=r[10])


@server.tool()
def findRentals(customer: str | None = None, plate: str | None = None, state: Literal["open", "closed"] | None = None) -> str:
    "Find rentals by customer name (or part of it), by plate, or by state"
    if not (customer or plate or state):
        return "Please give customer, plate or state."
    hits = [(n, r) for n, r in sorted(RENTALS.items()) if (not customer or customer.lower() in r[0].lower()) and plate in (None, r[1]) and state in (None, r[10])]
    if not hits:
        return "No rentals found."
    return "\n".join(f"#{n} {r[0]}, {r[1]}, {r[2]} to {r[3]}, {r[10]}" for n, r in hits)


@server.tool()
def branchDetails(branch: Branch) -> str:
    "Address, phone, opening hours, manager and parking bays of a branch"
    b = BRANCHES[branch]
    return _lines(Branch=branch, Address=b[0], Phone=b[1], Mon_to_Sat=b[2], Sunday=b[3], Manager=b[4], Parking_bays=b[5])


@server.tool()
def returnCar(rentalNo: int, odometer: int | None = None) -> str:
    "Close an open rental because the car is back. The car goes to cleaning at the agreed return branch."
    r = RENTALS.get(rentalNo)
    if not r:
        return f"Rental {rentalNo} does not exist."
    if r[10] == "closed":
        return f"Rental {rentalNo} is already closed."
    c = CARS[r[1]]
    r[10], c[3], c[2] = "closed", "cleaning", r[5]
    if odometer:
        c[4] = odometer
    return f"Rental {rentalNo} closed. {r[1]} ({c[0]}) is now at {c[2]}, status cleaning, odometer {c[4]} mi. Deposit of £{r[8]} to be released."


@server.tool()
def extendRental(rentalNo: int, newDueDate: str) -> str:
    "Give an open rental a later due date. newDueDate like 05 Jun 2026"
    r = RENTALS.get(rentalNo)
    if not r:
        return f"Rental {rentalNo} does not exist."
    if r[10] == "closed":
        return f"Rental {rentalNo} is already closed."
    old, r[3] = r[3], newDueDate
    return f"Rental {rentalNo} ({r[0]}): due back {newDueDate} instead of {old}."


@server.tool()
def setCarStatus(plate: str, status: Literal["available", "cleaning", "in_service"]) -> str:
    "Change what a car that is not rented out is marked as"
    c = CARS.get(plate)
    if not c:
        return f"No car with plate {plate} in the fleet."
    if c[3] == "rented":
        raise ToolError(f"{plate} is on rent; return it first.")
    old, c[3] = c[3], status
    return f"{plate} ({c[0]}): {old} -> {status}"


@server.tool()
def moveCar(plate: str, toBranch: Branch) -> str:
    "Transfer a car to another branch"
    c = CARS.get(plate)
    if not c:
        return f"No car with plate {plate} in the fleet."
    if c[3] == "rented":
        raise ToolError(f"{plate} is on rent; return it first.")
    old, c[2] = c[2], toBranch
    return f"{plate} ({c[0]}) moved from {old} to {toBranch}"


if __name__ == "__main__":
    server.run()
