"""mcp-server-time as it answers hours later: `later_time.py HOURS`."""

import sys
from datetime import UTC, datetime, timedelta, tzinfo

import mcp_server_time
from mcp_server_time import server

LATER = timedelta(hours=float(sys.argv[1]))


class Later(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Later":
        moment = datetime.now(UTC) + LATER
        return cls.fromtimestamp(moment.timestamp(), tz)


server.datetime = Later
sys.argv = ["mcp-server-time", "--local-timezone", "UTC"]
mcp_server_time.main()
