from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("featureflags")

_F = ("description", "kind", "ownerTeamId", "created", "removeBy", "status", "dependsOn")
FLAGS = {row[0]: dict(zip(_F, row[1:])) for row in [
    ("checkout.new-cart", "Redesigned cart page", "release", 1, "2025-01-14", "2025-09-30", "live", None),
    ("checkout.express-pay", "One-tap payment", "release", 2, "2025-02-03", "2025-10-15", "live", "checkout.new-cart"),
    ("checkout.gift-wrap", "Gift wrapping option", "experiment", 1, "2025-03-20", "2025-07-31", "live", "checkout.new-cart"),
    ("checkout.guest-mode", "Buying without an account", "permission", 1, "2023-11-08", None, "live", None),
    ("payments.retry-cards", "Try declined cards a second time", "ops", 2, "2024-06-11", None, "live", None),
    ("payments.split-invoice", "Split an invoice over two cards", "release", 2, "2025-05-06", "2025-12-01", "draft", None),
    ("payments.fraud-score-v2", "New fraud scoring", "experiment", 5, "2025-04-02", "2025-08-15", "live", "payments.retry-cards"),
    ("search.typo-tolerance", "Search forgives typing errors", "release", 3, "2024-10-21", "2025-06-30", "live", None),
    ("search.vector-ranking", "Ranking by embeddings", "experiment", 3, "2025-04-28", "2025-08-31", "live", "search.typo-tolerance"),
    ("search.voice-input", "Voice search in the app", "experiment", 6, "2025-05-19", "2025-11-15", "draft", "search.typo-tolerance"),
    ("profile.dark-mode", "Dark colours", "release", 4, "2024-08-05", "2025-07-15", "live", None),
    ("profile.avatar-upload", "Own profile pictures", "release", 4, "2025-02-17", "2025-09-01", "live", None),
    ("profile.two-factor", "Second factor at sign-in", "permission", 5, "2024-01-30", None, "live", None),
    ("home.recommendations", "Recommended products on the home page", "experiment", 3, "2025-03-03", "2025-08-01", "live", "search.vector-ranking"),
    ("home.holiday-banner", "Banner for the holiday season", "release", 4, "2024-11-12", "2025-01-10", "archived", None),
    ("mobile.offline-basket", "Basket works without network", "release", 6, "2025-04-14", "2025-10-31", "live", "checkout.new-cart"),
    ("mobile.push-digest", "One push message a day", "experiment", 6, "2025-05-27", "2025-09-15", "draft", None),
    ("ops.read-only-mode", "Site takes no orders", "ops", 5, "2023-05-02", None, "live", None),
    ("ops.slow-query-log", "Log slow database queries", "ops", 5, "2024-03-18", None, "live", None),
]}

# (flag, environment): enabled, percent, segment, since, changedBy, usersReached
ROLLOUTS = {(r[0], r[1]): list(r[2:]) for r in [
    ("checkout.new-cart", "prod-eu", True, 25, "beta-testers", "2025-06-02", "amara@shop.example", 460),
    ("checkout.new-cart", "prod-us", True, 10, "new-customers", "2025-06-09", "gwen@shop.example", 965),
    ("checkout.new-cart", "staging", True, 100, "staff", "2025-01-20", "amara@shop.example", 312),
    ("checkout.express-pay", "prod-eu", True, 5, "repeat-buyers", "2025-06-11", "lars@shop.example", 1730),
    ("checkout.express-pay", "staging", True, 100, "staff", "2025-03-04", "lars@shop.example", 312),
    ("checkout.gift-wrap", "prod-eu", True, 50, "new-customers", "2025-04-01", "oskar@shop.example", 4825),
    ("checkout.gift-wrap", "prod-us", False, 0, "new-customers", "2025-05-12", "gwen@shop.example", 0),
    ("checkout.guest-mode", "prod-us", True, 100, "everyone", "2023-12-01", "amara@shop.example", 214000),
    ("payments.retry-cards", "prod-eu", True, 100, "everyone", "2024-07-01", "lars@shop.example", 186500),
    ("payments.retry-cards", "prod-us", True, 60, "everyone", "2025-02-26", "lars@shop.example", 128400),
    ("payments.fraud-score-v2", "prod-us", True, 15, "repeat-buyers", "2025-05-22", "salma@shop.example", 5190),
    ("payments.fraud-score-v2", "staging", True, 90, "staff", "2025-04-09", "salma@shop.example", 281),
    ("search.typo-tolerance", "prod-eu", True, 100, "everyone", "2025-01-08", "mei@shop.example", 186500),
    ("search.typo-tolerance", "prod-us", True, 100, "everyone", "2025-01-15", "mei@shop.example", 214000),
    ("search.vector-ranking", "prod-eu", True, 20, "german-shoppers", "2025-06-05", "mei@shop.example", 9640),
    ("search.vector-ranking", "staging", True, 80, "staff", "2025-05-02", "mei@shop.example", 250),
    ("search.voice-input", "qa", True, 100, "android-users", "2025-06-10", "dario@shop.example", 14),
    ("profile.dark-mode", "prod-eu", True, 100, "everyone", "2024-12-03", "jonas@shop.example", 186500),
    ("profile.dark-mode", "prod-us", True, 75, "everyone", "2025-03-17", "jonas@shop.example", 160500),
    ("profile.avatar-upload", "prod-us", True, 30, "android-users", "2025-05-05", "priya@shop.example", 6390),
    ("profile.two-factor", "prod-eu", True, 100, "everyone", "2024-02-19", "salma@shop.example", 186500),
    ("home.recommendations", "prod-eu", True, 40, "repeat-buyers", "2025-05-28", "mei@shop.example", 13840),
    ("mobile.offline-basket", "qa", True, 100, "staff", "2025-04-22", "dario@shop.example", 22),
    ("mobile.offline-basket", "prod-us", False, 0, "android-users", "2025-06-12", "dario@shop.example", 0),
    ("ops.read-only-mode", "prod-eu", False, 100, "everyone", "2025-02-08", "gwen@shop.example", 0),
    ("ops.read-only-mode", "prod-us", False, 100, "everyone", "2025-02-08", "gwen@shop.example", 0),
]}

TEAMS = {
    1: ("Cart", "Amara Nwosu", "#cart-crew", "555-0171", "cart@shop.example"),
    2: ("Payments", "Lars Eide", "#pay-eng", "555-0172", "payments@shop.example"),
    3: ("Discovery", "Mei Tan", "#discovery", "555-0173", "discovery@shop.example"),
    4: ("Storefront", "Jonas Keller", "#storefront", "555-0174", "storefront@shop.example"),
    5: ("Trust and Safety", "Salma Haddad", "#trust-eng", "555-0175", "trust@shop.example"),
    6: ("Mobile", "Dario Conti", "#mobile-devs", "555-0176", "mobile@shop.example"),
    7: ("Release Desk", "Gwen Pryce", "#release-desk", "555-0177", "release@shop.example"),
    8: ("Customer Insight", "Tove Brandt", "#insight", "555-0178", "insight@shop.example"),
}

ENVIRONMENTS = {
    "prod-eu": ("Frankfurt", 7, "2025-07-04", "4.18.2"),
    "prod-us": ("Ohio", 5, "2025-07-01", "4.18.1"),
    "staging": ("Dublin", 7, None, "4.19.0"),
    "qa": ("Dublin", 6, None, "4.20.0"),
}

_S = ("rule", "users", "maintainerTeamId", "refreshed")
SEGMENTS = {row[0]: dict(zip(_S, row[1:])) for row in [
    ("beta-testers", "joined the beta programme", 1840, 7, "2025-06-13"),
    ("staff", "e-mail ends in @shop.example", 312, 7, "2025-06-14"),
    ("new-customers", "first order less than 30 days ago", 9650, 8, "2025-06-15"),
    ("repeat-buyers", "five or more orders", 34600, 8, "2025-06-15"),
    ("german-shoppers", "delivery country is DE", 48200, 3, "2025-06-11"),
    ("android-users", "app on Android 14 or later", 21300, 6, "2025-06-08"),
    ("everyone", "no condition", 400500, 7, "2025-06-15"),
]}


def _flag(key):
    if key not in FLAGS:
        raise ToolError(f"FLAG_NOT_FOUND: {key}")
    return FLAGS[key]


def _env(name):
    if name not in ENVIRONMENTS:
        raise ToolError(f"ENVIRONMENT_NOT_FOUND: {name}")
    return ENVIRONMENTS[name]


Environment = Literal["prod-eu", "prod-us", "staging", "qa"]


@server.tool()
def getFlag(flagKey: str) -> dict:
    "Read a flag: what it does, kind, owning team, creation date, planned removal, status and the flag it depends on."
    return {"key": flagKey, **_flag(flagKey)}


@server.tool()
def listFlags(search: Optional[str] = None, ownerTeamId: Optional[int] = None, status: Optional[Literal["draft", "live", "archived"]] = None) -> str:
    "List flags by a word in key or description, by owning team and/or by status. At least one filter is required."
    if search is None and ownerTeamId is None and status is None:
        raise ToolError("FILTER_REQUIRED")
    rows = [(k, f) for k, f in FLAGS.items() if (search is None or search.lower() in f"{k} {f['description']}".lower())
            and (ownerTeamId is None or f["ownerTeamId"] == ownerTeamId) and (status is None or f["status"] == status)]
    return "\n".join(f"- {k}: {f['description']} [{f['status']}], remove by {f['removeBy'] or 'never'}" for k, f in rows[:15]) or "no flags"


@server.tool()
def getRollout(flagKey: str, environment: Environment) -> str:
    "State of a flag in one environment: on/off, percentage, user segment, since when, who changed it last."
    _flag(flagKey)
    if (flagKey, environment) not in ROLLOUTS:
        return f"{flagKey} has no rollout in {environment}"
    enabled, percent, segment, since, by, reached = ROLLOUTS[flagKey, environment]
    return f"{flagKey} @ {environment}\nenabled={str(enabled).lower()}\npercent={percent}\nsegment={segment}\nsince={since}\nchangedBy={by}"


@server.tool()
def listRollouts(flagKey: Optional[str] = None, environment: Optional[Environment] = None) -> list[dict]:
    "Rollouts of one flag (all environments) or of one environment (all flags), with the number of users reached."
    if (flagKey is None) == (environment is None):
        raise ToolError("Pass either flagKey or environment.")
    if flagKey is not None:
        _flag(flagKey)
    return [{"flag": f, "environment": e, "enabled": r[0], "percent": r[1], "usersReached": r[5]} for (f, e), r in ROLLOUTS.items() if f == flagKey or e == environment]


@server.tool()
def getTeam(teamId: int) -> str:
    "Name, lead, channel, on-call phone and e-mail of a team."
    if teamId not in TEAMS:
        return f"There is no team {teamId}."
    return "\n".join(f"{k}: {v}" for k, v in zip(("name", "lead", "channel", "on-call", "e-mail"), TEAMS[teamId]))


@server.tool()
def getSegment(segment: str) -> dict:
    "Definition and size of a user segment."
    if segment not in SEGMENTS:
        raise ToolError(f"SEGMENT_NOT_FOUND: {segment}")
    return {"segment": segment, **SEGMENTS[segment]}


@server.tool()
def getEnvironment(name: Environment) -> str:
    "Where an environment runs, its version, who approves changes, and a coming change freeze."
    region, approver, freeze, version = _env(name)
    return f"{name} runs version {version} in {region}. Changes are approved by team {approver}. " + (f"Frozen from {freeze}." if freeze else "No freeze planned.")


@server.tool()
def setRollout(flagKey: str, environment: Environment, enabled: Optional[bool] = None, percent: Optional[int] = None) -> dict:
    "Turn a flag on or off in an environment and/or change its percentage (0-100)."
    _flag(flagKey)
    if (flagKey, environment) not in ROLLOUTS:
        raise ToolError(f"ROLLOUT_NOT_FOUND: {flagKey} in {environment}")
    if enabled is None and percent is None:
        raise ToolError("NOTHING_TO_CHANGE")
    row = ROLLOUTS[flagKey, environment]
    if enabled is not None:
        row[0] = enabled
    if percent is not None:
        if not 0 <= percent <= 100:
            raise ToolError("PERCENT_OUT_OF_RANGE")
        row[1] = percent
    return {"flag": flagKey, "environment": environment, "enabled": row[0], "percent": row[1]}


@server.tool()
def updateFlag(flagKey: str, status: Optional[Literal["draft", "live", "archived"]] = None, ownerTeamId: Optional[int] = None, removeBy: Optional[str] = None) -> str:
    "Change status, owning team or removal date (YYYY-MM-DD) of a flag."
    flag = _flag(flagKey)
    if ownerTeamId is not None and ownerTeamId not in TEAMS:
        raise ToolError(f"TEAM_NOT_FOUND: {ownerTeamId}")
    changes = {k: v for k, v in (("status", status), ("ownerTeamId", ownerTeamId), ("removeBy", removeBy)) if v is not None}
    if not changes:
        raise ToolError("NOTHING_TO_CHANGE")
    flag.update(changes)
    return f"Saved {flagKey}: " + ", ".join(f"{k} = {v}" for k, v in changes.items())


if __name__ == "__main__":
    server.run()
