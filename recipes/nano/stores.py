"""Small stateful families without entities: documents under keys, boards of notes, settings, journals, reports."""

from typing import Any

from build import Args, Builder, Effect, Param, Run, State, choice, number, text
from style import Refusal, Row, Text
from words import KINDS, STATUSES, column, moment, path, person, sentence, slug, title, word

Entry = tuple[str, str, list[Param], Run, Effect]
"""A tool to add: name in words, description, parameters, handler, effect."""


def store(b: Builder, tools: int, writes: bool, empty: bool) -> None:
    """Documents under keys or paths: read, list, look into, save, move, delete. Content is plain text."""
    rng, style = b.rng, b.style
    one = b.verb(
        "page",
        "snippet",
        "memo",
        "script",
        "template",
        "draft",
        "blob",
        "letter",
        "wiki page",
        "clip",
        "card",
        "essay",
        "object",
        "prompt",
    )
    if one in b.state:
        return
    many, key_words = f"{one}s", b.verb("key", "path", "name", "slug", "title", f"{one} key")
    root = rng.choice(("", "", "", "/vault/", "/srv/docs/", "s3://bin/", "team/"))
    make_key = {"path": path, "slug": slug, "name": word, "title": title}.get(key_words, rng.choice((path, slug, word)))
    body = b.verb("content", "text", "body", "value", "markdown")
    documents: dict[Any, Any] = {}
    for _ in range(0 if empty else rng.randint(6, 18)):
        documents[root + make_key(rng)] = "\n".join(sentence(rng) for _ in range(rng.choice((1, 1, 2, 3, 4))))
    b.state[one] = documents
    key = text(
        "key", key_words, b.say("{k} of the {one}", "Where the {one} is", "The {one} to use", k=key_words, one=one)
    )

    def at(state: State, name: str) -> str:
        if root and not name.startswith(root):
            raise Refusal(f"Access denied: {name} is outside {root}")
        if name not in state[one]:
            raise style.absent(one, name)
        return state[one][name]

    as_json, diffs = b.chance(0.3), b.chance(0.3)
    mark_shelf, mark_one = rng.choice(
        (("[SHELF]", f"[{one.upper()}]"), ("(dir)", "(doc)"), ("+", "-"), ("folder:", f"{one}:"), ("D", "F"))
    )
    read_verb, save_verb = b.verb("read", "get", "load", "open", "show"), b.verb("save", "write", "put", "store", "set")

    def read(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        lines = content.split("\n")
        content = "\n".join(lines[: a["head"]] if "head" in a else lines)
        return {style.key(key_words): a["key"], style.key(body): content} if as_json else Text(content)

    def save(state: State, a: Args) -> Any:
        if root and not a["key"].startswith(root):
            raise Refusal(f"Access denied: {a['key']} is outside {root}")
        state[one][a["key"]] = a["body"]
        return style.changed(one, "saved", style.key(key_words), a["key"])

    def listing(state: State, a: Args) -> Any:
        keys = [name for name in state[one] if name.startswith(a.get("prefix", ""))][:10]
        if style.many in ("lines", "csv", "table", "blocks", "numbered"):
            return Text("\n".join(keys) or f"No {many} yet.")
        return style.value(many, keys, "named") if style.many != "list" else keys

    def find(state: State, a: Args) -> Any:
        hits = [name for name, content in state[one].items() if a["query"].lower() in (name + content).lower()][:6]
        return hits or Text("No matches found") if style.many == "list" else style.value("matches", hits, "named")

    def info(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        row = {
            style.key("characters"): len(content),
            style.key("lines"): content.count("\n") + 1,
            style.key("words"): len(content.split()),
            style.key("first word"): content.split()[0] if content else "",
        }
        return style.record(one, row)

    def shelf(state: State, a: Args) -> Any:
        """What lies directly under a folder, sub-folders marked."""
        base = a["shelf"].rstrip("/") + "/"
        below = [name.removeprefix(base) for name in state[one] if name.startswith(base)]
        if not below:
            raise style.absent("folder", a["shelf"])
        shown = dict.fromkeys((mark_shelf, name.split("/")[0]) if "/" in name else (mark_one, name) for name in below)
        if style.many in ("list", "result", "data", "named"):
            return [{"name": name, style.key("kind"): "folder" if mark == mark_shelf else one} for mark, name in shown]
        return Text("\n".join(f"{mark} {name}" for mark, name in shown))

    def tree(state: State, a: Args) -> Any:
        """All keys as nested folders."""
        top: list[Row] = []
        for name in list(state[one])[:10]:
            level, parts = top, name.removeprefix(root).split("/")
            for part in parts[:-1]:
                inner = next((node for node in level if node["name"] == part), None)
                if inner is None:
                    level.append(inner := {"name": part, "children": list[Row]()})
                level = inner["children"]
            level.append({"name": parts[-1]})
        return top

    def make_shelf(state: State, a: Args) -> Any:
        state[one][a["shelf"].rstrip("/") + "/.keep"] = ""
        return Text(f"Folder {a['shelf']} is there")

    def read_many(state: State, a: Args) -> Any:
        return Text("\n---\n".join(f"{name}: {state[one].get(name, 'Error - not found')}" for name in a["keys"]))

    def append(state: State, a: Args) -> Any:
        state[one][a["key"]] = at(state, a["key"]) + "\n" + a["body"]
        return style.changed(one, "extended", style.key(key_words), a["key"])

    def replace_text(state: State, a: Args) -> Any:
        before = content = at(state, a["key"])
        edits = a["edits"] if "edits" in a else [{old: a["old"], new: a["new"]}]
        for edit in edits:
            if edit[old] not in content:
                raise Refusal(f"Error: '{edit[old]}' does not occur in {a['key']}")
            content = content.replace(edit[old], edit[new], 1)
        if not a.get("dry run"):
            state[one][a["key"]] = content
        if diffs:
            lines = zip(before.split("\n"), content.split("\n"), strict=False)
            return Text("\n".join(f"-{x}\n+{y}" for x, y in lines if x != y) or "no change")
        return (
            Text(content) if style.done == "record" else style.changed(one, "changed", style.key(key_words), a["key"])
        )

    def move(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        if a["to"] in state[one]:
            raise Refusal(f"Error: {a['to']} already exists")
        del state[one][a["key"]]
        state[one][a["to"]] = content
        return style.changed(one, "moved", style.key("to"), a["to"])

    def drop(state: State, a: Args) -> Any:
        at(state, a["key"])
        del state[one][a["key"]]
        return style.changed(one, "deleted", style.key(key_words), a["key"])

    old, new = (
        style.param(words)
        for words in rng.choice((("old", "new"), ("find", "replace"), ("before", "after"), ("old text", "new text")))
    )
    edit_params = [
        key,
        Param(
            "edits",
            b.verb("edits", "changes", "replacements"),
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {old: {"type": "string"}, new: {"type": "string"}},
                    "required": [old, new],
                },
            },
            "Replacements to make",
        ),
    ]
    if b.chance(0.5):
        edit_params = [key, text("old", old, "Text to replace"), text("new", new, "Text to put there")]
    if b.chance(0.3):
        edit_params.append(
            Param(
                "dry run",
                b.verb("dry run", "preview"),
                {"type": "boolean", "default": False},
                "Only show what would change",
                False,
            )
        )
    source, target = rng.choice((("from", "to"), ("source", "target"), ("old key", "new key"), ("key", "new name")))
    heads = (
        [Param.of("head", b.verb("head", "lines", "first"), "integer", "Only the first lines", False)]
        if b.chance(0.3)
        else []
    )
    prefixes = (
        [text("prefix", b.verb("prefix", "folder", "under"), "Only keys that start so", False)] if b.chance(0.4) else []
    )
    reads: list[Entry] = [
        (f"{read_verb} {one}", f"{read_verb.capitalize()} the {body} of a {one}", [key, *heads], read, "read"),
        (
            f"{b.verb('list', 'all', 'index')} {many}",
            b.say("List the {k}s of all {many}", "Which {many} there are", k=key_words, many=many),
            prefixes,
            listing,
            "read",
        ),
        (
            f"{b.verb('search', 'find', 'grep')} {many}",
            f"Find {many} that contain a text",
            [text("query", b.verb("query", "pattern", "text"), "Text to look for")],
            find,
            "read",
        ),
        (
            f"{one} {b.verb('info', 'stats', 'size', 'metadata')}",
            b.noun_doc(f"Size and shape of a {one}"),
            [key],
            info,
            "read",
        ),
        (
            f"{read_verb} {b.verb('several', 'multiple', 'many')} {many}",
            f"Read several {many} at once",
            [Param.of("keys", f"{key_words}s", "array", f"Which {many}")],
            read_many,
            "read",
        ),
    ]
    edits: list[Entry] = [
        (
            f"{b.verb('append to', 'extend', 'add to')} {one}",
            f"Append a line to a {one}",
            [key, text("body", body, "What to add")],
            append,
            "write",
        ),
        (
            f"{b.verb('edit', 'patch', 'replace in')} {one}",
            f"Replace text in a {one}",
            edit_params,
            replace_text,
            "write",
        ),
        (
            f"{b.verb('move', 'rename')} {one}",
            f"Move a {one} to another {key_words}",
            [text("key", source, "Where it is"), text("to", target, "Where it goes")],
            move,
            "write",
        ),
        (f"{b.verb('delete', 'remove', 'erase')} {one}", f"Delete a {one}", [key], drop, "destroy"),
    ]
    if any("/" in name.removeprefix(root) for name in documents):
        folder = text("shelf", b.verb("folder", "path", "under", "shelf"), "Which folder")
        folder_reads: list[Entry] = [
            (
                f"{b.verb('browse', 'list', 'look in')} {b.verb('folder', 'shelf')}",
                f"What lies in a folder of {many}",
                [folder],
                shelf,
                "read",
            ),
            (f"{one} {b.verb('tree', 'outline', 'hierarchy')}", f"All {many} as a tree of folders", [], tree, "read"),
        ]
        reads += folder_reads
        edits.append(
            (
                f"{b.verb('make', 'new', 'add')} {b.verb('folder', 'shelf')}",
                "Make an empty folder",
                [folder],
                make_shelf,
                "write",
            )
        )
    if root and b.chance(0.7):
        doc = f"Where {many} may be kept"
        b.add(
            f"list {b.verb('roots', 'allowed places', 'buckets', 'shelves')}",
            doc,
            [],
            lambda state, a: Text(f"Allowed places:\n{root}"),
        )
    if writes:
        wording = b.say(
            "Save a {one} under a {k}",
            "Write {body} to a {one}; overwrites",
            "Store a {one}",
            one=one,
            k=key_words,
            body=body,
        )
        b.add(f"{save_verb} {one}", wording, [key, text("body", body, f"The {body}")], save, "write")
    more = reads[2:] + (edits if writes else [])
    for name, doc, params, run, effect in reads[:2] + rng.sample(more, k=min(len(more), max(0, tools - 3))):
        b.add(name, doc, params, run, effect)


def settings(b: Builder, writes: bool) -> None:
    """Named values: read one, read all, set one, flip one."""
    rng, style = b.rng, b.style
    what = b.verb("setting", "option", "preference", "parameter", "threshold", "knob", "variable")
    if what in b.state:
        return
    separator, names = rng.choice("._-/"), dict[Any, Any]()
    for _ in range(rng.randint(4, 9)):
        kind = rng.choice(("small", "bool", "word", "decimal", "time", "color", "path", "measure"))
        names[separator.join(word(rng) for _ in range(rng.choice((1, 2, 2))))] = KINDS[kind][1](rng)
    b.state[what] = names
    key_words = b.verb("key", "name", what)
    enumerated = b.chance(0.3)
    key = (
        choice("key", key_words, list(names), f"Which {what}")
        if enumerated
        else text("key", key_words, f"Name of the {what}")
    )

    def read(state: State, a: Args) -> Any:
        if a["key"] not in state[what]:
            raise style.absent(what, a["key"])
        return style.value(a["key"], state[what][a["key"]], "bare" if style.scalar == "result" else style.scalar)

    def change(state: State, a: Args) -> Any:
        if a["key"] not in state[what]:
            raise style.absent(what, a["key"])
        state[what][a["key"]] = a["value"]
        return style.changed(what, "set", style.key("key"), a["key"], {"key": a["key"], "value": a["value"]})

    def flip(state: State, a: Args) -> Any:
        if not isinstance(state[what].get(a["key"]), bool):
            raise Refusal(f"Error: {a['key']} is not a switch")
        state[what][a["key"]] = not state[what][a["key"]]
        return style.value(a["key"], state[what][a["key"]])

    b.add(f"{b.verb('get', 'read', 'show')} {what}", b.noun_doc(f"Value of one {what}"), [key], read)
    if not enumerated or b.chance(0.4):
        b.add(
            f"{b.verb('list', 'get all', 'show')} {what}s",
            f"All {what}s with their values",
            [],
            lambda state, a: style.record(
                what, dict(state[what]), "lines" if style.one in ("lines", "markdown", "sentence") else "bare"
            ),
        )
    if writes:
        b.add(
            f"{b.verb('set', 'change', 'update')} {what}",
            f"Change one {what}",
            [key, text("value", b.verb("value", "new value", "to"), "The new value")],
            change,
            "write",
        )
        if any(isinstance(value, bool) for value in names.values()) and b.chance(0.4):
            b.add(f"{b.verb('toggle', 'flip', 'switch')} {what}", f"Turn a {what} on or off", [key], flip, "write")


def status(b: Builder) -> None:
    """A zero-argument report about the server itself."""
    rng, style = b.rng, b.style
    what = b.verb(
        "status",
        "health",
        "version",
        "info",
        "summary",
        "uptime",
        "usage",
        "profile",
        "overview",
        "quota",
        "about",
        "state",
        "license",
        "session",
    )
    columns = [
        column(text)
        for text in rng.sample(
            (
                "version:version",
                "uptime:measure",
                "healthy:bool",
                "region:place",
                "started:moment",
                "load:percent",
                "queue:small",
                "owner:person",
                "plan:basic/plus/pro",
                "requests:int",
                "build:hex",
                "contact:email",
                "status:ok/degraded/busy",
                "node:slug",
                "quota:int",
                "mode:manual/auto",
                "host:ip",
                "last_sync:moment",
                "site:title",
                "operator:company",
                "license:code",
                "temperature:degree",
                "utc_offset:offset",
            ),
            rng.choice((1, 2, 3, 3, 4, 5)),
        )
    ]
    row = {style.key(c.words): c.make(rng) for c in columns}
    name = rng.choice(
        (
            f"get {what}",
            what,
            f"server {what}",
            f"{word(rng)} {what}",
            f"check {what}",
            f"system {what}",
            "ping",
            "whoami",
        )
    )
    b.add(
        name,
        b.say(
            "{What} of this server",
            "Get the {what}",
            "Reports {what}",
            "Current {what} of the system",
            what=what,
            What=what.capitalize(),
        ),
        [],
        lambda state, a: style.record(what, row),
    )


def log(b: Builder, writes: bool) -> None:
    """A journal of lines: read the last ones, append, search."""
    rng, style = b.rng, b.style
    what = b.verb("journal", "logbook", "diary", "activity", "audit trail", "inbox", "feed")
    if what in b.state:
        return
    b.state[what] = {
        i: f"{moment(rng)} {rng.choice(('', person(rng) + ': ', rng.choice(STATUSES) + ' '))}{sentence(rng)}"
        for i in range(rng.randint(0 if writes else 5, 20))
    }

    def tail(state: State, a: Args) -> Any:
        lines = list(state[what].values())[-max(1, min(a.get("n", 4), 20)) :]
        return (
            Text("\n".join(lines) or f"The {what} is empty.")
            if style.many not in ("list", "named", "data")
            else style.value("entries", lines, "named")
        )

    def write(state: State, a: Args) -> Any:
        state[what][len(state[what])] = a["line"]
        return style.changed("entry", "added", "entry", len(state[what]))

    n, line = b.verb("n", "count", "lines", "limit"), b.verb("line", "text", "message", "entry", "note")
    b.add(
        f"{b.verb('read', 'show', 'tail', 'get')} {what}",
        b.noun_doc(f"last entries of the {what}"),
        [number("n", n, "How many", b.chance(0.4), "integer")],
        tail,
    )
    if writes:
        b.add(
            f"{b.verb('write to', 'append to', 'add to', 'log to')} {what}",
            f"Add a line to the {what}",
            [text("line", line, "What to write")],
            write,
            "write",
        )


def board(b: Builder, tools: int, empty: bool) -> None:
    """Free items, each with a label, a kind and notes, and ties between them; written several at once."""
    rng, style = b.rng, b.style
    one = b.verb(
        "card",
        "pin",
        "concept",
        "character",
        "clue",
        "idea",
        "landmark",
        "component",
        "topic",
        "suspect",
        "actor",
        "marker",
    )
    if one in b.state:
        return
    many, ties = f"{one}s", f"{one} ties"
    label_words, kind_words = b.verb("label", "title", "name", "key", one), b.verb("kind", "type", "category", "group")
    notes_words, note_words = rng.choice(
        (("notes", "note"), ("remarks", "remark"), ("facts", "fact"), ("details", "detail"), ("lines", "line"))
    )
    tie, (source, target) = (
        b.verb("tie", "link", "thread", "edge", "connection"),
        rng.choice((("from", "to"), ("source", "target"), ("left", "right"))),
    )
    label, kind, notes = (style.key(words) for words in (label_words, kind_words, notes_words))
    p_label, p_kind, p_notes, p_from, p_to, p_how = (
        style.param(words) for words in (label_words, kind_words, notes_words, source, target, "how")
    )
    kinds = [word(rng) for _ in range(4)]
    items: dict[Any, Any] = {}
    for _ in range(0 if empty else rng.randint(5, 12)):
        name = rng.choice((person, title, word))(rng)
        items[name] = {
            label: name,
            kind: rng.choice(kinds),
            notes: [sentence(rng) for _ in range(rng.choice((0, 1, 1, 2)))],
        }
    b.state[one], b.state[ties] = items, {}
    for serial, pair in enumerate(rng.sample(list(items), 2) for _ in range(len(items) // 2)):
        b.state[ties][serial] = {
            source: pair[0],
            target: pair[1],
            "how": rng.choice(("near", "owns", "knows", "part of", "before")),
        }

    def shown(rows: list[Row], style_of: str = "") -> Any:
        return style.rows(many, rows, style_of or ("list" if style.many in ("csv", "table", "keyed") else ""))

    def add_items(state: State, a: Args) -> Any:
        made: list[Row] = []
        for item in a["items"]:
            if item[p_label] not in state[one]:
                row = {label: item[p_label], kind: item.get(p_kind, kinds[0]), notes: item.get(p_notes, [])}
                state[one][item[p_label]] = row
                made.append(row)
        return shown(made) if style.done in ("record", "wrapped") else Text(f"{len(made)} {many} added")

    def add_notes(state: State, a: Args) -> Any:
        for item in a["items"]:
            if item[p_label] not in state[one]:
                raise style.absent(one, item[p_label])
            row = state[one][item[p_label]]
            row[notes] = [*row[notes], *item[p_notes]]
        return Text(f"{notes_words.capitalize()} added to {len(a['items'])} {many}")

    def add_note(state: State, a: Args) -> Any:
        if a["label"] not in state[one]:
            raise style.absent(one, a["label"])
        row = state[one][a["label"]]
        row[notes] = [*row[notes], a["note"]]
        return style.changed(one, "annotated", label, a["label"], row)

    def add_ties(state: State, a: Args) -> Any:
        for item in a["items"]:
            state[ties][len(state[ties])] = {source: item[p_from], target: item[p_to], "how": item.get(p_how, "near")}
        return (
            Text(f"{len(a['items'])} {tie}s drawn")
            if style.done != "record"
            else list(state[ties].values())[-len(a["items"]) :]
        )

    def everything(state: State, a: Args) -> Any:
        return {many: list(state[one].values())[:8], f"{tie}s": list(state[ties].values())[:8]}

    def find(state: State, a: Args) -> Any:
        wanted = a["query"].lower()
        return shown([row for row in state[one].values() if wanted in str(list(row.values())).lower()][:6])

    def pick(state: State, a: Args) -> Any:
        return shown([state[one][name] for name in a["labels"] if name in state[one]])

    def show(state: State, a: Args) -> Any:
        if a["label"] not in state[one]:
            raise style.absent(one, a["label"])
        mine = [row for row in state[ties].values() if a["label"] in (row[source], row[target])]
        return style.record(
            one, {**state[one][a["label"]], **({f"{tie}s": mine} if mine and style.one == "bare" else {})}
        )

    def drop(state: State, a: Args) -> Any:
        gone = [state[one].pop(name) for name in a["labels"] if name in state[one]]
        return Text(f"{len(gone)} {many} removed")

    string, strings = {"type": "string"}, {"type": "array", "items": {"type": "string"}}

    def objects(slot: str, words: str, doc: str, required: list[str], **properties: Any) -> Param:
        return Param(
            slot,
            words,
            {"type": "array", "items": {"type": "object", "properties": properties, "required": required}},
            doc,
        )

    one_label = text("label", label_words, f"{label_words} of the {one}")
    labels = Param("labels", f"{label_words}s", strings, f"Which {many}")
    item_list = objects(
        "items",
        b.verb(many, "items"),
        f"The {many} to add",
        [p_label, p_kind][: rng.randint(1, 2)],
        **{p_label: string, p_kind: string, p_notes: strings},
    )
    note_list = objects(
        "items",
        b.verb("additions", "items", notes_words),
        "What to add where",
        [p_label, p_notes],
        **{p_label: string, p_notes: strings},
    )
    tie_list = objects(
        "items",
        b.verb(f"{tie}s", "pairs"),
        f"The {tie}s to draw",
        [p_from, p_to],
        **{p_from: string, p_to: string, p_how: string},
    )
    b.add(
        f"{b.verb('add', 'put', 'make', 'pin')} {many}",
        b.say("Add several {m} at once", "Put new {m} on the board", m=many),
        [item_list],
        add_items,
        "write",
    )
    family: list[Entry] = [
        (
            f"{b.verb('search', 'find')} {many}",
            f"Find {many} by a word in them",
            [text("query", b.verb("query", "word", "text"), "Word to look for")],
            find,
            "read",
        ),
        (
            f"{b.verb('show', 'get', 'view')} {one}",
            b.noun_doc(f"{one} with its {notes_words}"),
            [one_label],
            show,
            "read",
        ),
        (f"{b.verb('pick', 'get', 'show')} {many}", f"Show {many} by their {label_words}s", [labels], pick, "read"),
        (f"{b.verb('whole', 'read', 'full')} board", f"Show all {many} and {tie}s", [], everything, "read"),
        (
            f"{b.verb('add', 'attach')} {notes_words}",
            f"Add {notes_words} to {many} that exist",
            [note_list],
            add_notes,
            "write",
        ),
        (
            f"{b.verb('add', 'write')} {one} {note_words}",
            f"Add one {note_words} to a {one}",
            [one_label, text("note", note_words, "What to add")],
            add_note,
            "write",
        ),
        (f"{b.verb('draw', 'add', 'join')} {tie}s", f"Draw {tie}s between {many}", [tie_list], add_ties, "write"),
        (
            f"{b.verb('drop', 'remove', 'delete')} {many}",
            f"Remove {many} by their {label_words}s",
            [labels],
            drop,
            "destroy",
        ),
    ]
    first = family[rng.choice((0, 1, 2, 3))]
    chosen = [
        first,
        *rng.sample([entry for entry in family if entry is not first], k=min(len(family) - 1, max(0, tools - 2))),
    ]
    for name, doc, params, run, effect in chosen:
        b.add(name, doc, params, run, effect)
