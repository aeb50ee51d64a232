"""What a tool does to its server: whether it only reads, as far as its hints and its name tell."""

from mcprl.text import stems, words
from mcprl.types import Tool

_WRITES = frozenset(
    (
        "add append archive assign book cancel change clear close configure copy create delete disable edit enable "
        "insert invite link lock log mark merge modify move patch place post publish put record "
        "register remove rename replace reserve reset restore save schedule send set start stop store submit tag "
        "toggle trigger unlink update upload upsert write "
    ).split()
)
VERBS = _WRITES | frozenset(
    (
        "browse calc calculate check compare compute convert count describe do estimate explore fetch filter find "
        "format get give inspect list load look lookup measure peek print query read retrieve return run scan "
        "search see show tell view "
    ).split()
)


def is_read(tool: Tool) -> bool:
    """Whether the tool may be called freely while probing.

    The server's hint decides if there is one. Otherwise the tool must not be marked destructive and its name must have
    no writing verb. If the name has no reading verb either, its title and description must not begin with a writing one
    (`open_issue`: "Creates an issue").
    """
    if tool.read_only is not None:
        return tool.read_only
    verbs = {*words(tool.name)}
    if not verbs & (VERBS - _WRITES):
        verbs |= {head for text in (tool.title or "", tool.description) for head in stems(text)[:1]}
    return not tool.destructive and not verbs & _WRITES
