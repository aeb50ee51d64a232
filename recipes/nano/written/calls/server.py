from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("contact-desk")
Queue = Literal["billing", "returns", "tech-l1", "tech-l2", "sales", "retention"]

# ext: name, queue, state, since, languages, desk, shift, mobile
AGENTS = {
    201: ["Ruth Calloway", "billing", "available", "2025-03-12 08:02", "en,fr", "A1", "08:00-16:30", "555-0171"],
    202: ["Dev Acharya", "billing", "available", "2025-03-12 11:40", "en,hi", "A2", "09:00-17:30", "555-0172"],
    203: ["Lena Voss", "billing", "break", "2025-03-12 11:55", "en,de", "A4", "08:00-16:30", "555-0173"],
    204: ["Tomasz Wilk", "returns", "on-call", "2025-03-12 11:52", "en,pl", "B3", "10:00-18:30", "555-0174"],
    205: ["Ngozi Eze", "returns", "available", "2025-03-12 09:30", "en", "B1", "08:00-16:30", "555-0175"],
    206: ["Sam Pettifer", "tech-l1", "break", "2025-03-12 11:47", "en", "C2", "07:00-15:30", "555-0176"],
    207: ["Marta Ruiz", "tech-l1", "wrap-up", "2025-03-12 11:58", "en,es,pt", "C5", "09:00-17:30", "555-0177"],
    208: ["Owen Flack", "tech-l2", "on-call", "2025-03-12 11:21", "en,cy", "C1", "08:30-17:00", "555-0178"],
    209: ["Ida Solberg", "sales", "offline", "2025-03-11 17:31", "en,no,sv", "D6", "09:00-17:30", "555-0179"],
    211: ["Jonas Reiter", "retention", "available", "2025-03-12 10:14", "en,de", "D1", "09:00-17:30", "555-0181"],
    212: ["Yuki Tanabe", "tech-l2", "break", "2025-03-12 11:50", "en,ja", "C7", "11:00-19:30", "555-0182"],
    213: ["Fay Delacroix", "sales", "available", "2025-03-12 08:58", "en,fr", "D3", "08:30-17:00", "555-0183"],
}

# queue: waiting, longest wait, lead ext, overflow, opening hours, service target
QUEUES = {
    "billing": [4, "03:25", 201, "returns", "08:00-18:00", "80% in 30 s"],
    "returns": [1, "00:40", 205, "billing", "08:00-18:30", "75% in 45 s"],
    "tech-l1": [7, "06:12", 208, "tech-l2", "07:00-22:00", "70% in 60 s"],
    "tech-l2": [2, "02:18", 208, "voicemail", "08:30-19:30", "60% in 120 s"],
    "sales": [0, "00:00", 213, "retention", "08:30-17:30", "90% in 20 s"],
    "retention": [3, "01:55", 211, "sales", "09:00-17:30", "85% in 30 s"],
}

# id: name, phone, e-mail, plan, language, account manager ext, since
CALLERS = {
    "K-3381": ["Harriet Osei", "555-0121", "h.osei@post.example", "Home 100", "en", 202, "2019-06-04"],
    "K-3402": ["Lars Bekker", "555-0122", "lars@bekker.example", "Business Duo", "de", 203, "2021-11-19"],
    "K-3415": ["Paloma Nieto", "555-0123", "paloma.n@mail.example", "Home 50", "es", 207, "2023-02-08"],
    "K-3427": ["Bakery Zwolle", "555-0124", "orders@bakeryzwolle.example", "Business Solo", "en", 213, "2018-09-30"],
    "K-3440": ["Emrys Vaughan", "555-0125", "emrys@vaughan.example", "Home 250", "cy", 208, "2020-04-15"],
    "K-3456": ["Noor Haddad", "555-0126", "noor.haddad@mail.example", "Home 100", "fr", 201, "2024-01-22"],
    "K-3463": ["Greta Holm", "555-0128", "gholm@post.example", "Home 50", "sv", 209, "2022-07-11"],
    "K-3478": ["Ashdown Garage", "555-0129", "desk@ashdown.example", "Business Duo", "en", 211, "2017-03-27"],
}

# call: start, queue, ext, caller, wait, talk, outcome, topic, rating, follow-up callback
CALLS = {
    70411: ["2025-03-11 09:14:20", "billing", 202, "K-3381", "01:10", "06:42", "resolved", "charged twice in February", 5, None],
    70415: ["2025-03-11 10:02:51", "tech-l1", 206, "K-3427", "04:33", "12:05", "escalated", "router restarts every hour", 2, "CB-19"],
    70418: ["2025-03-11 10:47:09", "returns", 204, "K-3463", "00:25", "03:58", "resolved", "return label for old modem", 4, None],
    70422: ["2025-03-11 13:30:44", "sales", 209, "K-3402", "00:12", "15:21", "callback", "quote for six extra lines", None, "CB-20"],
    70426: ["2025-03-11 15:05:17", "retention", 211, "K-3478", "02:02", "09:36", "callback", "wants to leave, price too high", 3, "CB-21"],
    70431: ["2025-03-11 16:18:02", "tech-l2", 208, "K-3440", "03:47", "24:50", "resolved", "fixed IP not reachable", 5, None],
    70440: ["2025-03-12 08:09:33", "billing", 203, "K-3402", "00:51", "05:14", "resolved", "invoice to new address", 4, None],
    70443: ["2025-03-12 08:55:40", "tech-l1", 207, "K-3415", "05:20", "07:48", "callback", "no signal after storm", None, "CB-22"],
    70447: ["2025-03-12 09:27:12", "billing", 201, "K-3456", "02:36", "04:03", "escalated", "refund still missing", 1, "CB-23"],
    70450: ["2025-03-12 10:11:58", "tech-l1", 206, "K-3381", "06:04", "00:00", "abandoned", "unknown", None, None],
    70452: ["2025-03-12 10:39:26", "returns", 204, "K-3415", "00:38", "02:47", "resolved", "wrong router delivered", 5, None],
    70458: ["2025-03-12 11:21:03", "tech-l2", 208, "K-3427", "01:44", "31:15", "escalated", "line drops under load", 3, "CB-24"],
}

# callback: due, state, caller, ext, reason
CALLBACKS = {
    "CB-19": ["2025-03-12 14:00", "open", "K-3427", 212, "line test result"],
    "CB-20": ["2025-03-12 15:30", "open", "K-3402", 209, "send quote for six lines"],
    "CB-21": ["2025-03-13 10:00", "open", "K-3478", 211, "new offer"],
    "CB-22": ["2025-03-12 13:15", "open", "K-3415", 207, "engineer slot"],
    "CB-23": ["2025-03-12 16:45", "open", "K-3456", 201, "refund date"],
    "CB-24": ["2025-03-13 09:30", "open", "K-3427", 208, "swap of line card"],
    "CB-17": ["2025-03-10 11:00", "done", "K-3440", 208, "fixed IP order"],
    "CB-18": ["2025-03-11 12:00", "missed", "K-3463", 204, "collection of modem"],
}


def _cb(i: str) -> str:
    due, state, caller, ext, reason = CALLBACKS[i]
    return f"{i} due {due} | {state} | caller {caller} | ext {ext} | {reason}"


@server.tool(name="agent-info")
def agent_info(who: str) -> str:
    "State, queue, desk, shift, languages and mobile of one agent. `who` is the extension (e.g. \"204\") or the agent's full name."
    for ext, a in AGENTS.items():
        if who.strip() == str(ext) or who.strip().lower() == a[0].lower():
            return (f"[{a[3]}] {a[0]} (ext {ext}) is {a[2]}\nqueue: {a[1]}\nlanguages: {a[4]}\ndesk: {a[5]}\nshift: {a[6]}\nmobile: {a[7]}")
    return f"No agent '{who}'."


@server.tool(name="queue-status")
def queue_status(queue: Queue) -> str:
    "Live figures of a queue, its lead, its agents and where it overflows to."
    w, longest, lead, over, hours, target = QUEUES[queue]
    agents = ", ".join(f"{e} {a[2]}" for e, a in AGENTS.items() if a[1] == queue)
    return f"[2025-03-12 12:00] {queue}: {w} waiting, longest {longest}\nlead: ext {lead}\nagents: {agents}\noverflow to: {over}\nopen: {hours}\ntarget: {target}"


@server.tool(name="call-details")
def call_details(call_no: int) -> str:
    "Log entry of one call."
    if call_no not in CALLS:
        return f"call {call_no} not in log"
    t, q, ext, k, wait, talk, out, topic, rating, cb = CALLS[call_no]
    return (f"[{t}] call {call_no} queue={q} ext={ext} caller={k} wait={wait} talk={talk} outcome={out}\n"
            f"topic: {topic}\nrating: {rating if rating else 'none'}\nfollow-up: {cb or 'none'}")


@server.tool(name="find-calls")
def find_calls(queue: Queue | None = None, ext: int | None = None, caller_id: str | None = None,
               outcome: Literal["resolved", "escalated", "callback", "abandoned"] | None = None, day: str | None = None) -> str:
    "Search the call log. All filters optional and combined; day is YYYY-MM-DD. One line per call, oldest first."
    rows = [f"[{c[0][:16]}] {n} {c[1]} ext {ext_} {c[3]} talk {c[5]} {c[6]}" for n, c in CALLS.items() for ext_ in [c[2]]
            if (not queue or c[1] == queue) and (not ext or c[2] == ext) and (not caller_id or c[3] == caller_id)
            and (not outcome or c[6] == outcome) and (not day or c[0].startswith(day))]
    return "\n".join(rows) or "no calls match"


@server.tool(name="caller-card")
def caller_card(caller: str) -> str:
    "Customer card, by customer id (K-3381) or full name."
    for k, c in CALLERS.items():
        if caller.strip().lower() in (k.lower(), c[0].lower()):
            return f"{k} {c[0]}\nphone: {c[1]}\ne-mail: {c[2]}\nplan: {c[3]}\nlanguage: {c[4]}\naccount manager: ext {c[5]}\ncustomer since: {c[6]}"
    raise ToolError(f"no customer matches \"{caller}\"")


@server.tool(name="callbacks")
def callbacks(callback_id: str | None = None, state: Literal["open", "done", "missed", "cancelled"] | None = None,
              ext: int | None = None, caller_id: str | None = None) -> str:
    "Show one callback (CB-nn) or list callbacks by state, agent extension or customer id, earliest due first."
    if callback_id and callback_id not in CALLBACKS:
        return f"no callback {callback_id}"
    hits = [i for i, c in CALLBACKS.items() if (not callback_id or i == callback_id) and (not state or c[1] == state)
            and (not ext or c[3] == ext) and (not caller_id or c[2] == caller_id)]
    return "\n".join(_cb(i) for i in sorted(hits, key=lambda i: CALLBACKS[i][0])) or "no callbacks match"


@server.tool(name="add-callback")
def add_callback(caller_id: str, due: str, ext: int, reason: str = "") -> str:
    "Book a callback: customer id, due as 'YYYY-MM-DD HH:MM', extension of the agent who calls, optional reason."
    if caller_id not in CALLERS: raise ToolError(f"no customer matches \"{caller_id}\"")
    if ext not in AGENTS: raise ToolError(f"no extension {ext}")
    CALLBACKS["CB-25"] = [due, "open", caller_id, ext, reason or "-"]
    return "booked: " + _cb("CB-25")


@server.tool(name="update-callback")
def update_callback(callback_id: str, state: Literal["open", "done", "missed", "cancelled"] | None = None,
                    due: str | None = None, ext: int | None = None) -> str:
    "Change state, due time ('YYYY-MM-DD HH:MM') or agent of a callback."
    if callback_id not in CALLBACKS: raise ToolError(f"no callback {callback_id}")
    if ext and ext not in AGENTS: raise ToolError(f"no extension {ext}")
    c = CALLBACKS[callback_id]
    if due: c[0] = due
    if state: c[1] = state
    if ext: c[3] = ext
    return "updated: " + _cb(callback_id)


@server.tool(name="set-agent-state")
def set_agent_state(ext: int, state: Literal["available", "break", "wrap-up", "training", "offline"]) -> str:
    "Set the phone state of an agent, by extension."
    if ext not in AGENTS: raise ToolError(f"no extension {ext}")
    old = AGENTS[ext][2]; AGENTS[ext][2] = state
    return f"[2025-03-12 12:00] ext {ext} {AGENTS[ext][0]}: {old} -> {state}"


if __name__ == "__main__":
    server.run()
