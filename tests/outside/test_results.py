"""Results that servers really send."""

import json
import sys
from pathlib import Path

from mcprl.config import ServerConfig
from mcprl.servers.server import connect

RAW = Path(__file__).with_name("raw.py")


async def test_a_block_of_an_unknown_type_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    blocks = [{"type": "hologram", "data": "?"}, {"type": "text", "text": '{"floor": 3}'}, {"data": 1}]
    listed = {"name": "room", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    (tmp_path / "tools.json").write_text(json.dumps([listed | {"answers": {"content": blocks}}]))
    async with (
        connect([ServerConfig(target=f"{sys.executable} {RAW} {tmp_path / 'tools.json'}")]) as server,
        server.session() as session,
    ):
        result = await session.call("room", {})
    assert not result.is_error
    assert result.text.splitlines() == [
        "[a block of type 'hologram', 30 bytes, is not read]",
        '{"floor": 3}',
        "[a block of type 'no type', 10 bytes, is not read]",
    ]
