"""The National Weather Service's tools over a climate made from a seed, with a clock that stands still.

    python examples/servers/weather.py                # stdio; mcprl makes tasks for it by itself
    python examples/servers/weather.py --http 8000    # streamable HTTP at http://127.0.0.1:8000/mcp
    python examples/servers/weather.py --live --contact you@example.com    # api.weather.gov, whose data change

As with the real service, people say towns and the tools take coordinates, a forecast is found by way of a grid point,
and observations by way of a station. All tools read.
"""

import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from sessions import command_line, serve

NOW = datetime(2026, 6, 15, 9)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
Row = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A town of the gazetteer. Its forecast office and its station are the real ones' codes."""

    name: str
    state: str
    latitude: float
    longitude: float
    office: str
    station: str


PLACES = [
    Place(*row)
    for row in (
        ("Albany", "NY", 42.65, -73.76, "ALY", "KALB"),
        ("Albuquerque", "NM", 35.08, -106.65, "ABQ", "KABQ"),
        ("Amarillo", "TX", 35.22, -101.83, "AMA", "KAMA"),
        ("Atlanta", "GA", 33.75, -84.39, "FFC", "KATL"),
        ("Baltimore", "MD", 39.29, -76.61, "LWX", "KBWI"),
        ("Billings", "MT", 45.78, -108.5, "BYZ", "KBIL"),
        ("Birmingham", "AL", 33.52, -86.81, "BMX", "KBHM"),
        ("Bismarck", "ND", 46.81, -100.78, "BIS", "KBIS"),
        ("Boise", "ID", 43.62, -116.2, "BOI", "KBOI"),
        ("Boston", "MA", 42.36, -71.06, "BOX", "KBOS"),
        ("Buffalo", "NY", 42.89, -78.88, "BUF", "KBUF"),
        ("Burlington", "VT", 44.48, -73.21, "BTV", "KBTV"),
        ("Caribou", "ME", 46.86, -68.01, "CAR", "KCAR"),
        ("Charleston", "SC", 32.78, -79.93, "CHS", "KCHS"),
        ("Cheyenne", "WY", 41.14, -104.82, "CYS", "KCYS"),
        ("Chicago", "IL", 41.88, -87.63, "LOT", "KORD"),
        ("Columbia", "SC", 34.0, -81.03, "CAE", "KCAE"),
        ("Corpus Christi", "TX", 27.8, -97.4, "CRP", "KCRP"),
        ("Dallas", "TX", 32.78, -96.8, "FWD", "KDFW"),
        ("Denver", "CO", 39.74, -104.99, "BOU", "KDEN"),
        ("Des Moines", "IA", 41.59, -93.62, "DMX", "KDSM"),
        ("Detroit", "MI", 42.33, -83.05, "DTX", "KDTW"),
        ("Dodge City", "KS", 37.75, -100.02, "DDC", "KDDC"),
        ("Duluth", "MN", 46.79, -92.1, "DLH", "KDLH"),
        ("El Paso", "TX", 31.76, -106.49, "EPZ", "KELP"),
        ("Elko", "NV", 40.83, -115.76, "LKN", "KEKO"),
        ("Eureka", "CA", 40.8, -124.16, "EKA", "KACV"),
        ("Flagstaff", "AZ", 35.2, -111.65, "FGZ", "KFLG"),
        ("Fresno", "CA", 36.74, -119.79, "HNX", "KFAT"),
        ("Glasgow", "MT", 48.2, -106.64, "GGW", "KGGW"),
        ("Grand Junction", "CO", 39.06, -108.55, "GJT", "KGJT"),
        ("Great Falls", "MT", 47.5, -111.3, "TFX", "KGTF"),
        ("Green Bay", "WI", 44.51, -88.01, "GRB", "KGRB"),
        ("Houston", "TX", 29.76, -95.37, "HGX", "KIAH"),
        ("Indianapolis", "IN", 39.77, -86.16, "IND", "KIND"),
        ("Jackson", "MS", 32.3, -90.18, "JAN", "KJAN"),
        ("Key West", "FL", 24.56, -81.78, "KEY", "KEYW"),
        ("Lake Charles", "LA", 30.23, -93.22, "LCH", "KLCH"),
        ("Las Vegas", "NV", 36.17, -115.14, "VEF", "KLAS"),
        ("Little Rock", "AR", 34.75, -92.29, "LZK", "KLIT"),
        ("Los Angeles", "CA", 34.05, -118.24, "LOX", "KLAX"),
        ("Louisville", "KY", 38.25, -85.76, "LMK", "KSDF"),
        ("Marquette", "MI", 46.54, -87.4, "MQT", "KSAW"),
        ("Medford", "OR", 42.33, -122.87, "MFR", "KMFR"),
        ("Memphis", "TN", 35.15, -90.05, "MEG", "KMEM"),
        ("Miami", "FL", 25.76, -80.19, "MFL", "KMIA"),
        ("Milwaukee", "WI", 43.04, -87.91, "MKX", "KMKE"),
        ("Missoula", "MT", 46.87, -113.99, "MSO", "KMSO"),
        ("Nashville", "TN", 36.16, -86.78, "OHX", "KBNA"),
        ("New Orleans", "LA", 29.95, -90.07, "LIX", "KMSY"),
        ("Norman", "OK", 35.22, -97.44, "OUN", "KOUN"),
        ("Omaha", "NE", 41.26, -95.94, "OAX", "KOMA"),
        ("Pendleton", "OR", 45.67, -118.79, "PDT", "KPDT"),
        ("Phoenix", "AZ", 33.45, -112.07, "PSR", "KPHX"),
        ("Pittsburgh", "PA", 40.44, -79.99, "PBZ", "KPIT"),
        ("Portland", "OR", 45.52, -122.68, "PQR", "KPDX"),
        ("Raleigh", "NC", 35.78, -78.64, "RAH", "KRDU"),
        ("Reno", "NV", 39.53, -119.81, "REV", "KRNO"),
        ("Sacramento", "CA", 38.58, -121.49, "STO", "KSAC"),
        ("Salt Lake City", "UT", 40.76, -111.89, "SLC", "KSLC"),
        ("San Diego", "CA", 32.72, -117.16, "SGX", "KSAN"),
        ("Seattle", "WA", 47.61, -122.33, "SEW", "KSEA"),
        ("Shreveport", "LA", 32.53, -93.75, "SHV", "KSHV"),
        ("Spokane", "WA", 47.66, -117.43, "OTX", "KGEG"),
        ("Tallahassee", "FL", 30.44, -84.28, "TAE", "KTLH"),
        ("Tampa", "FL", 27.95, -82.46, "TBW", "KTPA"),
        ("Topeka", "KS", 39.05, -95.68, "TOP", "KTOP"),
        ("Tucson", "AZ", 32.22, -110.97, "TWC", "KTUS"),
        ("Tulsa", "OK", 36.15, -95.99, "TSA", "KTUL"),
        ("Wichita", "KS", 37.69, -97.34, "ICT", "KICT"),
    )
]
SKIES = ["Sunny", "Mostly Sunny", "Partly Cloudy", "Cloudy", "Chance of Showers", "Showers", "Thunderstorms", "Fog"]
WINDS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
EVENTS = {
    "Heat Advisory": "Moderate",
    "Flood Warning": "Severe",
    "Severe Thunderstorm Watch": "Severe",
    "Red Flag Warning": "Severe",
    "Wind Advisory": "Moderate",
    "Dense Fog Advisory": "Minor",
    "Tornado Watch": "Extreme",
}
seed, live, contact = 0, False, ""


# --- the made-up climate ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def weather_of(place: Place) -> list[Row]:
    """A hundred hours from now on: temperatures follow latitude and the time of day, rain comes in spells."""
    rng = random.Random(f"climate {seed} {place.name}")
    mean = 104 - 0.9 * (place.latitude - 10) + rng.uniform(-6, 6)
    sky, wind, rows = rng.randrange(len(SKIES)), rng.randrange(8), list[Row]()
    for hour in range(100):
        at = NOW + timedelta(hours=hour)
        if rng.random() < 0.25:
            sky = max(0, min(len(SKIES) - 1, sky + rng.choice([-2, -1, 1, 2])))
            wind = (wind + rng.choice([-1, 1])) % 8
        warmth = 9 * (1 - abs((at.hour - 15 + 12) % 24 - 12) / 6)
        rows.append(
            {
                "time": f"{at:%Y-%m-%dT%H:%M}",
                "temperature": round(mean + warmth + rng.uniform(-2, 2)),
                "wind_speed": f"{rng.randint(2, 9) + 2 * (sky > 4)} mph",
                "wind_direction": WINDS[wind],
                "chance_of_rain": max(0, min(95, 13 * (sky - 2) + rng.randint(-5, 5))),
                "forecast": SKIES[sky],
            }
        )
    return rows


@lru_cache(maxsize=64)
def alerts_of(state: str) -> list[Row]:
    rng = random.Random(f"alerts {seed} {state}")
    towns = [place.name for place in PLACES if place.state == state]
    found: list[Row] = []
    for number in range(rng.choice([0, 1, 1, 2, 3]) if towns else 0):
        event = rng.choice(list(EVENTS))
        ends = NOW + timedelta(hours=rng.randint(3, 40))
        area = f"{rng.choice(towns)} area"
        found.append(
            {
                "alert_id": f"{state}-{100 + number}",
                "event": event,
                "severity": EVENTS[event],
                "area": area,
                "ends": f"{ends:%Y-%m-%dT%H:%M}",
                "headline": f"{event} for the {area} until {ends:%A %H:%M}",
            }
        )
    return found


def grid_of(place: Place) -> tuple[int, int]:
    rng = random.Random(f"grid {place.office}")
    return rng.randint(20, 140), rng.randint(20, 140)


def nearest(latitude: float, longitude: float) -> Place:
    """The town within a degree or so. Raises `ToolError` if there is none."""
    near = min(PLACES, key=lambda place: abs(place.latitude - latitude) + abs(place.longitude - longitude))
    if abs(near.latitude - latitude) + abs(near.longitude - longitude) > 1:
        raise ToolError(f"No data for the point {latitude},{longitude}; find_place gives a town's coordinates")
    return near


def on_grid(office: str, grid_x: int, grid_y: int) -> Place:
    for place in PLACES:
        if place.office == office.upper() and grid_of(place) == (grid_x, grid_y):
            return place
    raise ToolError(f"No grid point {office}/{grid_x},{grid_y}; get_point gives the grid point of coordinates")


# --- the real service -------------------------------------------------------------------------------------------------


def fetched(path: str) -> Any:
    """What api.weather.gov answers. It asks every program to name itself and a contact."""
    request = Request(f"https://api.weather.gov/{path}", headers={"User-Agent": f"mcprl-example ({contact})"})
    try:
        with urlopen(request, timeout=20) as reply:
            return json.load(reply)
    except (HTTPError, URLError) as error:
        raise ToolError(f"api.weather.gov: {error}") from None


def as_periods(periods: list[Row]) -> list[Row]:
    """Periods of the real service in this server's fields."""
    return [
        {
            "time": each["startTime"][:16],
            "temperature": each["temperature"],
            "wind_speed": each["windSpeed"],
            "wind_direction": each["windDirection"],
            "chance_of_rain": (each.get("probabilityOfPrecipitation") or {}).get("value") or 0,
            "forecast": each["shortForecast"],
        }
        for each in periods
    ]


# --- the tools --------------------------------------------------------------------------------------------------------

server = MCPServer("weather", version="1.0.0", log_level="WARNING")
Latitude = Annotated[float, Field(description="Degrees north, such as 39.74", ge=-90, le=90)]
Longitude = Annotated[float, Field(description="Degrees east, negative in America, such as -104.99", ge=-180, le=180)]
State = Annotated[str, Field(description="Two-letter code of a state, such as CO", pattern="^[A-Z]{2}$")]
Office = Annotated[str, Field(description="Code of a forecast office, such as BOU")]
GridX = Annotated[int, Field(description="Column of the grid point")]
GridY = Annotated[int, Field(description="Row of the grid point")]
Station = Annotated[str, Field(description="Code of a station, such as KDEN")]


@server.tool(title="Find place", annotations=READS)
def find_place(name: Annotated[str, Field(description="Name of a town, such as Denver")]) -> Row:
    """Look a town up in the gazetteer: its state and its coordinates."""
    for place in PLACES:
        if place.name.casefold() == name.strip().casefold():
            return {"name": place.name, "state": place.state, "latitude": place.latitude, "longitude": place.longitude}
    raise ToolError(f"No place {name}")


@server.tool(title="Get alerts", annotations=READS)
def get_alerts(state: State) -> list[Row]:
    """List the weather alerts that are in force in a state."""
    if not live:
        return alerts_of(state)
    features = fetched(f"alerts/active?area={state}")["features"][:10]
    properties = [each["properties"] for each in features]
    return [
        {
            "alert_id": each["id"],
            "event": each["event"],
            "severity": each["severity"],
            "area": each["areaDesc"],
            "ends": str(each["ends"] or each["expires"])[:16],
            "headline": each["headline"],
        }
        for each in properties
    ]


@server.tool(title="Get point", annotations=READS)
def get_point(latitude: Latitude, longitude: Longitude) -> Row:
    """Find the forecast office and the grid point that coordinates belong to."""
    if live:
        point = fetched(f"points/{latitude:.4f},{longitude:.4f}")["properties"]
        return {"office": point["gridId"], "grid_x": point["gridX"], "grid_y": point["gridY"]}
    place = nearest(latitude, longitude)
    column, row = grid_of(place)
    return {"office": place.office, "grid_x": column, "grid_y": row}


@server.tool(title="Get forecast", annotations=READS)
def get_forecast(office: Office, grid_x: GridX, grid_y: GridY) -> list[Row]:
    """Give the forecast of a grid point for today, tonight and the next three days and nights."""
    if live:
        return as_periods(fetched(f"gridpoints/{office}/{grid_x},{grid_y}/forecast")["properties"]["periods"][:8])
    hours, periods = weather_of(on_grid(office, grid_x, grid_y)), list[Row]()
    bounds = [0, *range(18 - NOW.hour, len(hours), 12)]
    for start, end in pairwise(bounds):
        span, at = hours[start:end], NOW + timedelta(hours=start)
        is_day = 6 <= at.hour < 18
        name = ("Today" if is_day else "Tonight") if at.date() == NOW.date() else f"{at:%A}{'' if is_day else ' Night'}"
        extreme = (max if is_day else min)(row["temperature"] for row in span)
        rain = max(row["chance_of_rain"] for row in span)
        sky = max((row["forecast"] for row in span), key=SKIES.index)
        wind = {"wind_speed": span[0]["wind_speed"], "wind_direction": span[0]["wind_direction"]}
        periods.append({"period": name, "temperature": extreme, **wind, "chance_of_rain": rain, "forecast": sky})
    return periods


@server.tool(title="Get hourly forecast", annotations=READS)
def get_hourly_forecast(
    office: Office,
    grid_x: GridX,
    grid_y: GridY,
    hours: Annotated[int, Field(description="How many hours", ge=1, le=12)] = 6,
) -> list[Row]:
    """Give the forecast of a grid point hour by hour, from now on."""
    if live:
        periods = fetched(f"gridpoints/{office}/{grid_x},{grid_y}/forecast/hourly")["properties"]["periods"]
        return as_periods(periods[:hours])
    return weather_of(on_grid(office, grid_x, grid_y))[:hours]


@server.tool(title="List stations", annotations=READS)
def list_stations(state: State) -> list[Row]:
    """List the observation stations of a state."""
    if live:
        features = fetched(f"stations?state={state}&limit=10")["features"]
        found = [each["properties"] for each in features]
        return [{"station": each["stationIdentifier"], "name": each["name"]} for each in found]
    return [{"station": place.station, "name": f"{place.name} Airport"} for place in PLACES if place.state == state]


@server.tool(title="Get observation", annotations=READS)
def get_observation(station: Station) -> Row:
    """Give the latest observation of a station: temperature in Fahrenheit, humidity in percent, wind and sky."""
    if live:
        seen = fetched(f"stations/{station}/observations/latest")["properties"]
        celsius, humidity = seen["temperature"]["value"], seen["relativeHumidity"]["value"]
        fahrenheit = None if celsius is None else round(celsius * 9 / 5 + 32)
        told = {"temperature": fahrenheit, "humidity": humidity and round(humidity), "sky": seen["textDescription"]}
        return {"station": station, "time": seen["timestamp"][:16], **told}
    for place in PLACES:
        if place.station == station.strip().upper():
            row = weather_of(place)[0]
            rng = random.Random(f"observation {seed} {station}")
            told = {"temperature": row["temperature"], "humidity": rng.randint(18, 94), "sky": row["forecast"]}
            wind = {"wind_speed": row["wind_speed"], "wind_direction": row["wind_direction"]}
            return {"station": place.station, "time": row["time"], **told, **wind}
    raise ToolError(f"No station {station}")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="which climate to make")
    parser.add_argument("--live", action="store_true", help="ask api.weather.gov")
    parser.add_argument("--contact", default="", help="your address, which api.weather.gov asks for")
    options = parser.parse_args()
    seed, live, contact = options.seed, options.live, options.contact
    if live and not contact:
        parser.error("--live needs --contact: api.weather.gov asks every program for one")
    serve(server, options.http)
