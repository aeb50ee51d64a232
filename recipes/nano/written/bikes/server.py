from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("spoke-city")

# id: name, district, docks, open, address, lastChecked
STATIONS = {
    1: ["Central Station", "Centre", 30, True, "Station Road 1", "2025-06-02"],
    2: ["Market Square", "Centre", 22, True, "Market Square 14", "2025-05-20"],
    3: ["University", "North", 28, True, "College Lane 3", "2025-06-10"],
    4: ["Botanic Garden", "North", 12, True, "Fern Street 40", "2025-04-28"],
    5: ["Old Harbour", "Harbour", 18, True, "Quay 7", "2025-06-05"],
    6: ["Ferry Terminal", "Harbour", 16, False, "Pier B", "2025-03-30"],
    7: ["City Hospital", "West", 20, True, "Nightingale Way 2", "2025-05-31"],
    8: ["Westpark", "West", 10, True, "Park Gate 5", "2025-05-09"],
    9: ["Stadium", "South", 24, True, "Arena Street 88", "2025-06-12"],
    10: ["Mill Bridge", "South", 14, True, "Mill Bridge 1", "2025-05-17"],
    11: ["Library", "Centre", 15, False, "Bookbinder Row 9", "2025-02-11"],
}

# number: type, status, stationId, km, battery %, lastService
BIKES = {
    1102: ["classic", "available", 1, 4210, None, "2025-04-11"],
    1107: ["classic", "available", 2, 3875, None, "2025-05-03"],
    1113: ["classic", "broken", 1, 6120, None, "2024-12-19"],
    1118: ["classic", "in use", None, 2940, None, "2025-05-22"],
    1124: ["classic", "available", 3, 5033, None, "2025-03-08"],
    1131: ["classic", "available", 5, 1188, None, "2025-06-01"],
    1139: ["classic", "workshop", None, 7302, None, "2025-01-15"],
    1140: ["classic", "available", 9, 2655, None, "2025-04-30"],
    2201: ["electric", "available", 1, 3490, 84, "2025-05-14"],
    2205: ["electric", "in use", None, 2812, 47, "2025-05-27"],
    2208: ["electric", "available", 3, 4106, 61, "2025-04-02"],
    2212: ["electric", "broken", 7, 5527, 0, "2025-02-20"],
    2216: ["electric", "available", 5, 1934, 92, "2025-06-08"],
    2219: ["electric", "available", 9, 2271, 23, "2025-05-19"],
    2224: ["electric", "in use", None, 860, 78, "2025-06-11"],
    2230: ["electric", "available", 2, 3018, 55, "2025-03-26"],
    3301: ["cargo", "available", 2, 1477, None, "2025-05-06"],
    3304: ["cargo", "available", 7, 990, None, "2025-06-03"],
    3309: ["cargo", "workshop", None, 2145, None, "2025-01-28"],
}

# id: bike, rider, from, to, start, minutes, price
TRIPS = {
    "t-7c1e": [1102, "noor.haddad@postbox.example", 3, 1, "2025-06-09 08:05", 17, 1.70],
    "t-81af": [2205, "sam.okoro@postbox.example", 1, 9, "2025-06-09 17:40", 22, 4.40],
    "t-90b2": [3301, "julia.petit@mailhub.example", 7, 2, "2025-06-10 10:15", 48, 9.60],
    "t-93d4": [1124, "noor.haddad@postbox.example", 1, 3, "2025-06-10 16:50", 19, 1.90],
    "t-a00f": [2216, "t.brandvold@mailhub.example", 9, 5, "2025-06-10 19:22", 26, 5.20],
    "t-a5e8": [1131, "julia.petit@mailhub.example", 2, 5, "2025-06-11 12:03", 11, 1.10],
    "t-b219": [2208, "sam.okoro@postbox.example", 9, 3, "2025-06-11 18:11", 31, 6.20],
    "t-b77c": [1140, "kaito.m@postbox.example", 10, 9, "2025-06-11 20:30", 9, 0.90],
    "t-c3d0": [2219, "kaito.m@postbox.example", 5, 9, "2025-06-12 07:45", 24, 4.80],
    "t-c8e1": [1118, "noor.haddad@postbox.example", 3, None, "2025-06-12 16:32", None, None],
    "t-d14b": [2205, "t.brandvold@mailhub.example", 9, None, "2025-06-12 16:58", None, None],
    "t-d6a9": [2224, "anneke.vos@mailhub.example", 7, None, "2025-06-12 17:10", None, None],
}


def _bikes_at(sid):
    return [n for n, b in BIKES.items() if b[2] == sid and b[1] == "available"]


def _station(sid):
    if sid not in STATIONS:
        raise ToolError(f"station {sid} does not exist")
    return STATIONS[sid]


def _bike(no):
    if no not in BIKES:
        raise ToolError(f"bike {no} does not exist")
    return BIKES[no]


def _bike_row(no):
    b = BIKES[no]
    row = {"bikeNo": no, "type": b[0], "status": b[1], "stationId": b[2], "km": b[3], "lastService": b[5]}
    if b[0] == "electric":
        row["battery"] = f"{b[4]}%"
    return row


def _trip_row(t):
    x = TRIPS[t]
    row = {"tripId": t, "bikeNo": x[0], "rider": x[1], "from": STATIONS[x[2]][0], "start": x[4]}
    return row | ({"to": STATIONS[x[3]][0], "minutes": x[5], "price": f"£{x[6]:.2f}"} if x[3] else {"to": None, "state": "riding"})


@server.tool()
def searchStations(name: str = "", district: Literal["Centre", "North", "South", "West", "Harbour"] | None = None) -> list[dict]:
    "Stations whose name contains the text and/or in a district: id, name, bikes ready to ride, docks, open."
    return [{"stationId": k, "name": s[0], "bikesReady": len(_bikes_at(k)), "docks": s[2], "open": s[3]} for k, s in STATIONS.items()
            if name.lower() in s[0].lower() and (not district or s[1] == district)]


@server.tool()
def getStation(stationId: int) -> dict:
    "Details of a station: address, district, docks, when it was last checked."
    s = _station(stationId)
    return {"stationId": stationId, "name": s[0], "district": s[1], "address": s[4], "docks": s[2], "open": s[3], "bikesReady": len(_bikes_at(stationId)), "lastChecked": s[5]}


@server.tool()
def getBike(bikeNo: int) -> dict:
    "One bike: type, status, station, kilometres, battery (electric only), last service."
    _bike(bikeNo)
    return _bike_row(bikeNo)


@server.tool()
def listBikes(stationId: int | None = None, type: Literal["classic", "electric", "cargo"] | None = None,
              status: Literal["available", "in use", "broken", "workshop"] | None = None) -> list[dict]:
    "Bikes by station, type and/or status (give at least one)."
    if stationId is None and not type and not status:
        raise ToolError("give stationId, type or status")
    if stationId is not None:
        _station(stationId)
    return [_bike_row(n) for n, b in BIKES.items() if (stationId is None or b[2] == stationId) and (not type or b[0] == type) and (not status or b[1] == status)]


@server.tool()
def listTrips(rider: str | None = None, bikeNo: int | None = None, ongoing: bool = False) -> list[dict]:
    "Trips of a rider (e-mail) or a bike, oldest first; ongoing=true gives only those not ended yet."
    if not rider and bikeNo is None and not ongoing:
        raise ToolError("give rider, bikeNo or ongoing")
    return [_trip_row(t) for t, x in TRIPS.items() if (not rider or x[1] == rider.lower()) and (bikeNo is None or x[0] == bikeNo) and (not ongoing or x[3] is None)]


@server.tool()
def unlockBike(bikeNo: int, rider: str) -> dict:
    "Unlocks a bike for a rider (e-mail) and starts a trip."
    b = _bike(bikeNo)
    if b[1] != "available":
        raise ToolError(f"bike {bikeNo} is {b[1]}")
    t = f"t-e{bikeNo % 1000:03d}"
    TRIPS[t] = [bikeNo, rider, b[2], None, "2025-06-12 17:30", None, None]
    b[1], b[2] = "in use", None
    return _trip_row(t)


@server.tool()
def endTrip(tripId: str, stationId: int) -> dict:
    "Ends a running trip at a station and charges it."
    if tripId not in TRIPS:
        raise ToolError(f"trip {tripId} does not exist")
    x = TRIPS[tripId]
    if x[3]:
        raise ToolError(f"trip {tripId} has already ended")
    s = _station(stationId)
    if not s[3]:
        raise ToolError(f"{s[0]} is closed")
    minutes = 17 * 60 + 40 - int(x[4][11:13]) * 60 - int(x[4][14:16])
    x[3], x[5], x[6] = stationId, minutes, minutes * (0.10 if BIKES[x[0]][0] == "classic" else 0.20)
    BIKES[x[0]][1], BIKES[x[0]][2] = "available", stationId
    return _trip_row(tripId)


@server.tool()
def updateBike(bikeNo: int, status: Literal["available", "broken", "workshop"] | None = None, stationId: int | None = None,
               battery: int | None = None) -> dict:
    "Sets a bike's status, the station where it stands, or its battery percentage. Bikes in the workshop have no station."
    b = _bike(bikeNo)
    if stationId is not None:
        _station(stationId)
        b[2] = stationId
    if battery is not None:
        b[4] = battery
    if status:
        b[1] = status
        if status == "workshop":
            b[2] = None
    return _bike_row(bikeNo)


@server.tool()
def updateStation(stationId: int, docks: int | None = None, open: bool | None = None) -> dict:
    "Changes the number of docks of a station, or opens / closes it."
    s = _station(stationId)
    if docks is not None:
        s[2] = docks
    if open is not None:
        s[3] = open
    return {"stationId": stationId, "name": s[0], "docks": s[2], "open": s[3]}


if __name__ == "__main__":
    server.run()
