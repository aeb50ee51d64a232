"""The verifier: outcome first, then progress, then economy; no credit for guesses, dumps or claims."""

import json
from dataclasses import replace

import pytest

from mcprl.config import JudgeConfig
from mcprl.errors import ConfigError
from mcprl.judges import open_judge
from mcprl.judges.checks import holds, same_arguments, says_missing
from mcprl.judges.verifier import Verifier
from mcprl.servers.digest import digest
from mcprl.types import (
    AsksBack,
    Call,
    CallMade,
    CallRecord,
    Declines,
    Fact,
    Group,
    SaysMissing,
    Scenario,
    StateHolds,
    StopReason,
    Tool,
    ToolResult,
    Trajectory,
)

LOOKUP = Scenario(
    "s",
    "What is the total of order O-17?",
    (Fact(12.5, "total"),),
    (Call("get_order", {"order_id": "O-17"}),),
    "The total is 12.5.",
)
RESULT = ToolResult('{"order_id":"O-17","total":12.5,"status":"paid"}', {"total": 12.5})


def tried(
    answer: str,
    *calls: CallRecord,
    before: tuple[ToolResult, ...] = (),
    state: tuple[ToolResult, ...] = (),
    name: str = "t",
) -> Trajectory:
    messages = ({"role": "user", "content": "?"}, {"role": "assistant", "content": answer})
    return Trajectory(name, "s", messages, (), calls, state, before=before)


def called(tool: str = "get_order", result: ToolResult = RESULT, **arguments: object) -> CallRecord:
    return CallRecord(0, tool, arguments, result)


def test_the_right_call_and_the_right_answer_score_one() -> None:
    score = Verifier().verify(LOOKUP, tried("It is 12.50 euros.", called(order_id="O-17")))
    assert (score.value, score.success) == (1.0, True)


def test_a_right_answer_that_no_result_held_is_a_guess() -> None:
    score = Verifier().verify(LOOKUP, tried("The total is 12.5."))
    assert (score.value, score.success) == (0.0, False)
    assert "no tool result held it" in score.explanation


def test_what_stands_beyond_the_end_of_a_cut_text_was_not_read() -> None:
    record = {"order_id": "O-17", "status": "paid", "notes": ["fragile"] * 2_000, "total": 12.5}
    score = Verifier().verify(LOOKUP, tried("The total is 12.5.", called(order_id="O-17", result=digest("", record))))
    assert not score.success
    assert "no tool result held it" in score.explanation


def test_a_raw_result_is_no_answer_and_true_values_of_the_same_record_cost_economy_alone() -> None:
    record = {"order_id": "O-17", "total": 12.5, "status": "paid", "city": "Lyon", "items": 3, "clerk": "Ana Novak"}
    text = json.dumps(record)
    call = called(order_id="O-17", result=ToolResult(text, record))
    score = Verifier().verify(LOOKUP, tried(text, call))
    assert not score.success
    assert "in an answer that only repeats what was read" in score.explanation
    whole = "The total is 12.5, the status is paid, the city is Lyon, the items are 3 and the clerk is Ana Novak."
    short, long = (
        Verifier().verify(LOOKUP, tried(each, call)) for each in ("It is 12.50.", f"{whole} {whole} {whole}")
    )
    assert short.success
    assert long.success
    assert 0.97 < long.value < short.value


def test_a_long_answer_costs_style_and_not_the_truth() -> None:
    polite = "Thank you for asking. " * 12 + "The total of that order is 12.5."
    short, long = (Verifier().verify(LOOKUP, tried(a, called(order_id="O-17"))) for a in ("12.5", polite))
    assert short.success
    assert long.success
    assert 0.96 < long.value < short.value == 1.0


def test_naming_what_other_rows_say_is_no_answer() -> None:
    pick = replace(LOOKUP, checks=(Fact(12.5, "total", rivals=(9, 80.0)),))
    rows = called(order_id="O-17", result=ToolResult('[{"total":9},{"total":12.5},{"total":80.0}]'))
    assert Verifier().verify(pick, tried("The total is 12.5.", rows)).success
    hedged = Verifier().verify(pick, tried("The total is 12.5 or 80.", rows))
    assert not hedged.success
    assert "also gives 80.0, as if it were the same" in hedged.explanation


def test_progress_ranks_the_near_misses_below_success_and_above_nothing() -> None:
    verifier = Verifier()
    nothing = verifier.verify(LOOKUP, tried("I do not know.")).value
    wrong_tool = verifier.verify(LOOKUP, tried("?", called("list_orders", ToolResult("[]")))).value
    wrong_argument = verifier.verify(
        LOOKUP, tried("?", called(result=ToolResult("no", is_error=True), order_id="O-71"))
    ).value
    right_call = verifier.verify(LOOKUP, tried("?", called(order_id="O-17"))).value
    assert nothing == wrong_tool == 0.0 < wrong_argument < right_call < 0.5


def test_among_successes_the_shorter_wins_and_equals_tie_exactly() -> None:
    verifier = Verifier()
    short = verifier.verify(LOOKUP, tried("12.5", called(order_id="O-17")))
    longer = verifier.verify(LOOKUP, tried("12.5", called("list_orders"), called(order_id="O-17")))
    again = verifier.verify(LOOKUP, tried("It is 12.5", called(order_id="O-17")))
    assert short.value == again.value > longer.value > 0.9


def test_a_task_about_something_missing_wants_the_failed_call_and_the_word() -> None:
    scenario = Scenario(
        "s",
        "?",
        (CallMade("get_order", {"order_id": "O-9"}, failed=True), SaysMissing()),
        (Call("get_order", {"order_id": "O-9"}),),
    )
    failed = called(result=ToolResult("No order O-9", is_error=True), order_id="O-9")
    assert Verifier().verify(scenario, tried("I could not find order O-9.", failed)).success
    assert not Verifier().verify(scenario, tried("I could not find order O-9.")).success
    assert not Verifier().verify(scenario, tried("Its status is paid.", failed)).success

    def success(tool: str, text: str, is_error: bool = False, **arguments: object) -> bool | None:
        record = called(tool, ToolResult(text, is_error=is_error), **arguments)
        return Verifier().verify(scenario, tried("There is no order O-9.", record)).success

    assert success("get_invoice", "No order O-9", is_error=True, order_id="O-9")
    assert success("list_lines", "[]", order_id="O-9", limit=5)
    assert success("get_order", "No order O-9", is_error=True, order_id="O-9", status="paid")
    assert not success("get_order", "done", order_id="O-9", status="paid")
    assert success("list_orders", '["O-1", "O-2"]')
    assert not success("list_orders", '["O-1", "O-9"]')
    assert not success("list_products", '["S-1"]')
    assert not success("list_lines", '[{"sku": "S-1"}]', order_id="O-9")
    assert not success("get_invoice", "No order O-8", is_error=True, order_id="O-8")
    assert not success("get_customer", "No customer O-9", is_error=True, customer_id="O-9")
    server = Verifier([Tool("get_order", "Get an order.")])
    unknown = called("get_sale", ToolResult("there is no tool 'get_sale'", is_error=True), order_id="O-9")
    assert not server.verify(scenario, tried("There is no order O-9.", unknown)).success, "nothing was looked up"
    assert server.verify(scenario, tried("There is no order O-9.", failed)).success


def test_an_answer_that_announces_a_write_where_none_was_to_be_made_is_wrong() -> None:
    right = tried("I did not change anything: the total is 12.5.", called(order_id="O-17"))
    assert Verifier().verify(LOOKUP, right).success
    for answer in ("Done: the total is now 12.5.", "All done, the total of order O-17 is 12.5."):
        assert not Verifier().verify(LOOKUP, tried(answer, called(order_id="O-17"))).success


def test_a_write_counts_when_the_state_reads_back_not_when_the_answer_says_so() -> None:
    scenario = Scenario(
        "s", "?", (StateHolds("get_order", {"order_id": "O-17"}, ("shipped",)),), (Call("set_status", {}),)
    )
    shipped, refused = ToolResult('{"status":"shipped"}'), ToolResult("shipped not allowed", is_error=True)

    def success(before: ToolResult, after: ToolResult) -> bool | None:
        return Verifier().verify(scenario, tried("Done, it is shipped.", before=(before,), state=(after,))).success

    assert success(RESULT, shipped)
    assert not success(RESULT, RESULT)
    assert not success(RESULT, refused)
    assert not Verifier().verify(scenario, tried("Done.")).success


def test_doing_nothing_where_the_state_held_before_is_no_success() -> None:
    scenario = Scenario("s", "?", (StateHolds("get_order", {}, ("shipped",)),), (Call("set_status", {}),))
    shipped = ToolResult('{"status":"shipped"}')
    score = Verifier().verify(scenario, tried("Done.", before=(shipped,), state=(shipped,)))
    assert not score.success
    assert "showed the change before anything was done" in score.explanation


def test_what_is_removed_must_be_gone_afterwards() -> None:
    scenario = Scenario("s", "?", (StateHolds("list", {}, gone=("milk",)),), (Call("remove", {}),))
    there, empty, error = ToolResult("milk, eggs"), ToolResult("eggs"), ToolResult("no such list", is_error=True)
    outcomes = {
        (before.text, after.text): Verifier().verify(scenario, tried("Gone.", before=(before,), state=(after,))).success
        for before in (there, empty)
        for after in (there, empty, error)
    }
    assert [pair for pair, passed in outcomes.items() if passed] == [
        ("milk, eggs", "eggs"),
        ("milk, eggs", "no such list"),
    ]


@pytest.mark.parametrize("stop", ["max_turns", "max_tokens", "deadline"])
def test_a_rollout_that_never_answers_is_worth_its_progress_and_less_than_any_answer_that_is_right(
    stop: StopReason,
) -> None:
    look = StateHolds("get_order", {}, ("shipped",))
    scenario = Scenario("s", "Ship it.", (look,), (Call("set_status", {"status": "shipped"}),))
    write = CallRecord(0, "set_status", {"status": "shipped"}, ToolResult("ok"))
    done = tried("Done.", *[write] * 9, before=(RESULT,), state=(ToolResult("shipped"),))
    silent = Verifier(TOOLS).verify(scenario, replace(done, stop=stop))
    assert (silent.value, silent.success) == (0.25, False)
    assert "never answered" in silent.explanation
    answered = Verifier(TOOLS).verify(scenario, done)
    assert answered.success
    assert answered.value > 0.9
    nothing = Verifier(TOOLS).verify(scenario, replace(tried("", before=(RESULT,), state=(RESULT,)), stop=stop))
    assert nothing.value == 0.0


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Done.", True),
        ("All set!", True),
        ("Ok, added it", True),
        ("I've created the note", True),
        ("The order O-17 has been cancelled", True),
        ("Cancelled.", True),
        ("got it, that's out of the list now", True),
        ("R-3", True),
        ("La commande O-17 est annulée.", True),
        ("Erledigt.", True),
        ("订单已取消。", True),
        ("O-17 はキャンセルされました", True),
        ("ยกเลิกคำสั่งซื้อแล้ว", True),
        ("تم الإلغاء", True),
        ("", False),
        ("|", False),
        ('{"ok":true,"receipt":"R-3"}', False),
        ('<tool_response>\n{"ok":true,"receipt":"R-3"}\n</tool_response>', False),
        ('```json\n{"receipt":"R-3"}\n```', False),
        ('Cancelled: {"ok":true,"receipt":"R-3"}', True),
        ("Hello!", False),
        ("Sure! What else?", False),
        ("The weather is nice.", False),
        ("One question remains: can you list rail cars that are empty?", False),
        ("Please let me know if you need anything else.", False),
    ],
)
def test_an_answer_to_a_write_says_something_of_it(answer: str, told: bool) -> None:
    call = Call("set_order_status", {"order_id": "O-17", "status": "cancelled"})
    task = Scenario("s", "Please cancel my order O-17.", (CallMade(call.tool, call.arguments),), (call,))
    result = ToolResult('{"ok":true,"receipt":"R-3"}', {"ok": True, "receipt": "R-3"})
    score = Verifier((SHIPPING,)).verify(task, tried(answer, called(call.tool, result, **call.arguments)))
    assert score.success is told, score.explanation


TOOLS = (
    Tool("get_order", read_only=True),
    Tool("set_status"),
    Tool("add_note"),
    Tool("pay", idempotent=True),
)


def test_a_write_that_nobody_asked_for_fails_any_task() -> None:
    right = called(order_id="O-17")
    write = CallRecord(1, "set_status", {"order_id": "O-18"}, ToolResult("ok"))
    failed = CallRecord(1, "set_status", {"order_id": "O-18"}, ToolResult("no", is_error=True))
    verifier = Verifier(TOOLS)
    score = verifier.verify(LOOKUP, tried("12.5", right, write))
    assert not score.success
    assert "changed what nobody asked for" in score.explanation
    assert verifier.verify(LOOKUP, tried("12.5", right, failed)).success


@pytest.mark.parametrize(("tool", "allowed"), [("set_status", True), ("add_note", False), ("pay", True)])
def test_a_write_may_be_repeated_if_that_changes_nothing(tool: str, allowed: bool) -> None:
    scenario = Scenario("s", "?", (CallMade(tool, {"id": 1}),), (Call(tool, {"id": 1}),))
    once = CallRecord(0, tool, {"id": 1}, ToolResult("ok"))
    verifier = Verifier(TOOLS)
    assert verifier.verify(scenario, tried("Done.", once)).success
    assert verifier.verify(scenario, tried("Done.", once, once)).success is allowed


def test_a_write_with_other_arguments_counts_where_the_state_proves_it_and_nobody_s_value_is_in_it() -> None:
    look = StateHolds("get_order", {}, ("Ewa",))
    plan = (Call("add_note", {"text": "Ewa", "about": "a freelancer"}),)
    scenario = Scenario("s", "Note Ewa as a freelancer.", (look,), plan)
    empty, shown = ToolResult("nobody"), ToolResult("Ewa")

    def succeeds(*notes: dict[str, str], after: ToolResult = shown) -> bool | None:
        calls = [CallRecord(n, "add_note", dict(note), ToolResult("ok")) for n, note in enumerate(notes)]
        rollout = tried("Ewa was noted.", *calls, before=(empty,), state=(after,))
        return Verifier(TOOLS).verify(scenario, rollout).success

    noted = {"text": "Ewa", "about": "Freelancer"}
    assert succeeds(noted)
    assert not succeeds(noted, after=empty)
    assert not succeeds(noted, noted), "the plan has one write"
    assert not succeeds({"text": "Ewa", "about": "a plumber"}), "which nobody said"


PAID = "UPDATE invoices SET paid = 1 WHERE id = 11"


@pytest.mark.parametrize(
    ("planned", "made", "allowed"),
    [
        (PAID, "update invoices set paid = TRUE where ID=11;", True),
        (PAID, "UPDATE invoices SET paid = 1 WHERE id = 11 AND paid = 0", True),
        (PAID, "UPDATE invoices SET paid = 1", False),
        (PAID, "UPDATE invoices SET paid = 1 WHERE id = 11 OR id = 12", False),
        (PAID, "UPDATE invoices SET paid = 1, due = '2026-01-01' WHERE id = 11", False),
        (PAID, f"{PAID}; DELETE FROM vets", False),
        ("DELETE FROM vets WHERE id = 1", "DELETE FROM vets", False),
        ("INSERT INTO vets (name) VALUES ('Ewa')", 'insert into "vets" (name) values ("Ewa")', True),
        ("INSERT INTO vets (name) VALUES ('Ewa')", 'INSERT INTO vets (name) VALUES ("Eva")', False),
        ("INSERT INTO vets (name) VALUES ('Ewa')", "INSERT INTO vets (name) VALUES ('Ewa'), ('Ewa')", False),
        ("CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT)", "CREATE TABLE tags (name VARCHAR(9), id INT)", True),
        ("CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT)", "CREATE TABLE tags (id INTEGER PRIMARY KEY)", False),
        ("CREATE INDEX a ON vets (name)", "CREATE INDEX b ON owners (town)", False),
        ("INSERT INTO vets (name) VALUES ('Ewa')", "INSERT OR REPLACE INTO vets (name) VALUES ('Ewa')", False),
        (PAID, "UPDATE invoices SET paid = 1 FROM vets WHERE id = 11", False),
    ],
)
def test_sql_that_changes_no_more_than_the_plans_counts_where_the_state_proves_it(
    planned: str, made: str, allowed: bool
) -> None:
    plan = (Call("add_note", {"query": planned}),)
    scenario = Scenario("s", "Please do it.", (StateHolds("get_order", {}, ("new",)),), plan)
    call = CallRecord(0, "add_note", {"query": made}, ToolResult("ok"))
    rollout = tried("Done.", call, before=(ToolResult("old"),), state=(ToolResult("new"),))
    score = Verifier(TOOLS).verify(scenario, rollout)
    assert score.success is allowed, score.explanation


def test_a_request_that_lacks_a_value_wants_a_question_and_no_guess() -> None:
    scenario = Scenario("s", "Mark my order as paid.", (AsksBack(("order", "order id")),))
    verifier = Verifier(TOOLS)
    listed = CallRecord(0, "get_order", {}, RESULT)
    assert verifier.verify(scenario, tried("Which order do you mean?")).success
    assert verifier.verify(scenario, tried("Which order do you mean?", listed)).success
    assert not verifier.verify(scenario, tried("Done.")).success
    guess = called(order_id="O-9")
    assert "'O-9', which nobody gave" in verifier.verify(scenario, tried("Which order do you mean?", guess)).explanation
    write = CallRecord(0, "set_status", {"status": "paid"}, ToolResult("no", is_error=True))
    assert not verifier.verify(scenario, tried("Which order do you mean?", write)).success


def test_a_request_that_nothing_serves_is_declined_and_nothing_is_written() -> None:
    scenario = Scenario("s", "Book me a flight.", (Declines(),))
    verifier = Verifier(TOOLS)
    assert verifier.verify(scenario, tried("I'm sorry, I can't book flights.")).success
    assert not verifier.verify(scenario, tried("Your flight is booked.")).success
    write = CallRecord(0, "add_note", {"text": "flight"}, ToolResult("ok"))
    assert not verifier.verify(scenario, tried("I can't book flights.", write)).success


def test_a_derived_fact_needs_the_plans_reads_and_no_result_that_holds_it() -> None:
    plan = (Call("list_orders", {"customer": 1}), Call("get_order", {"order_id": "O-17"}))
    scenario = Scenario("s", "How much in all?", (Fact(47.5, "total", "money", derived=True),), plan)
    both = (called("list_orders", customer=1), called(order_id="O-17"))
    assert Verifier().verify(scenario, tried("EUR 47.50", *both)).success
    score = Verifier().verify(scenario, tried("EUR 47.50", both[0]))
    assert "get_order, which it follows from, returned nothing" in score.explanation


def test_who_knows_the_tables_may_ask_at_once() -> None:
    asked = Call("read_query", {"query": "SELECT AVG(weight) FROM animals WHERE breed = 'Lop'"})
    plan = (Call("list_tables"), Call("describe_table", {"table_name": "animals"}), asked)
    task = Scenario("s", "The average weight of Lops?", (Fact(2.27, "weight", "measure", derived=True),), plan)
    read = CallRecord(0, asked.tool, asked.arguments, ToolResult("[{'AVG(weight)': 2.266}]"))
    assert Verifier().verify(task, tried("2.27", read)).success
    assert not Verifier().verify(task, tried("2.27", CallRecord(0, "list_tables", {}, ToolResult("animals")))).success


@pytest.mark.parametrize(
    ("made", "result", "found"),
    [
        ("select id, paid from invoices where id = 312;", "[]", True),
        ("SELECT paid FROM invoices WHERE id = 311", "[]", False),
        ("SELECT paid FROM vets WHERE id = 312", "[]", False),
        ("SELECT paid FROM invoices WHERE id = 312 OR id = 11", "[{'paid': 1}]", False),
    ],
)
def test_a_row_is_missing_where_a_select_for_it_finds_nothing(made: str, result: str, found: bool) -> None:
    wanted = Call("read_query", {"query": "SELECT paid FROM invoices WHERE id = 312"})
    checks = (CallMade(wanted.tool, wanted.arguments, failed=True), SaysMissing())
    task = Scenario("s", "Is invoice 312 paid already?", checks, (wanted,))
    call = CallRecord(0, wanted.tool, {"query": made}, ToolResult(result))
    score = Verifier((Tool("read_query", read_only=True),)).verify(task, tried("There is no invoice 312.", call))
    assert score.success is found, score.explanation


def test_one_list_tells_how_many_there_are_and_that_one_is_missing() -> None:
    tools = (Tool("list_tables", read_only=True), Tool("describe_table", read_only=True))
    wanted, missing = Call("describe_table", {"table_name": "roles"}), Fact(2, "number", "count", derived=True)
    checks = (missing, CallMade(wanted.tool, wanted.arguments, failed=True), SaysMissing())
    task = Scenario("s", "How many tables are there? Do we have table roles?", checks, (Call("list_tables"), wanted))
    listed = CallRecord(0, "list_tables", {}, ToolResult("[{'name': 'vets'}, {'name': 'owners'}]"))
    score = Verifier(tools).verify(task, tried("There are 2 tables. There is no table roles.", listed))
    assert score.success, score.explanation
    assert not Verifier(tools).verify(task, tried("There are 2 tables. There is no table roles.")).success


async def test_scores_carry_ids_and_broken_trajectories_get_none() -> None:
    broken = Trajectory("b", "s", (), (), stop="error", error="the server died")
    good = tried("12.5", called(order_id="O-17"), name="g")
    scores = await open_judge(JudgeConfig(), ()).score(Group(LOOKUP, (broken, good)))
    assert [(score.trajectory_id, score.success) for score in scores] == [("g", True)]


def test_an_unknown_judge_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown judge 'oracle'"):
        open_judge(JudgeConfig(name="oracle"), ())


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("the total is $12.50.", 12.5, True),
        ("1,200 units", 1200, True),
        ("order 129", 12, False),
        ("order O-179", "O-17", False),
        ("ADA  Byron lives here", "Ada Byron", True),
        ("the offset is +9.0h", "+9.0h", True),
        ("Yes, it is", True, True),
        ("it is untrue", True, False),
        ("at 09:30:00+09:00", "09:30:00+09:00", True),
        ('{"datetime": "2026-11-28T04:00:00+03:00"}', "2026-11-28", True),
        ("2026-11-281", "2026-11-28", False),
    ],
)
def test_a_text_holds_a_value_as_whole_words_and_by_number(text: str, value: object, held: bool) -> None:
    assert holds(text, value) is held  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "text", ["I could not find order O-9.", "There is no such file.", "It doesn't exist", "not found"]
)
def test_many_ways_to_say_that_something_is_missing(text: str) -> None:
    assert says_missing(text)


def test_arguments_left_out_count_as_their_default() -> None:
    schema = {"properties": {"limit": {"type": "integer", "default": 5}}}
    assert same_arguments({"city": "Oslo"}, {"city": "Oslo", "limit": 5}, schema)
    assert same_arguments({"city": "Oslo", "status": None}, {"city": "Oslo"})
    assert same_arguments({"a": 1}, {"a": 1.0})
    assert not same_arguments({"a": True}, {"a": 1})
    assert not same_arguments(None, {})


SHIPPING = Tool(
    "set_order_status",
    "",
    {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "status": {"enum": ["paid", "packed", "shipped"]}},
    },
    read_only=False,
)
LOOKING = Tool("get_order", "", {"type": "object", "properties": {"order_id": {"type": "string"}}}, read_only=True)


@pytest.mark.parametrize(
    ("answer", "believed"),
    [
        ("Done.", True),
        ("O-17 is packed now, like O-20.", True),
        ("O-17 (not O-20) has been set to packed.", True),
        ("All of them (O-20, O-71 and O-17) have been set to packed.", False),
        ("I found no order O-17.", False),
        ("O-17 is paid so far; tell me if you want me to mark it as packed.", False),
        ("O-17 is packed. Tell me if you want me to do another one too.", True),
        ("I've set the order O-17 of customer C20 to packed.", True),
        ("All set! I've changed order **O-17** from paid to packed. Anything else?", True),
        ("I've had a look at it. I haven't changed anything.", False),
        ("Sure! Which order do you mean?", False),
        ("O-17 has been marked as shipped.", False),
        ("Order O-71 is packed now.", False),
        ("Done, it leaves on 3 March 2026.", False),
    ],
)
def test_an_answer_that_misreports_a_write_that_was_made_is_no_success(answer: str, believed: bool) -> None:
    plan = (
        Call("get_order", {"order_id": "O-20"}),
        Call("set_order_status", {"order_id": "O-17", "status": "packed"}),
    )
    look = StateHolds("get_order", {"order_id": "O-17"}, ("packed",))
    task = Scenario("w", "Give O-17 the status of O-20.", (look,), plan, "Done.")
    packed = ToolResult('{"order_id":"O-20","status":"packed"}', {"order_id": "O-20", "status": "packed"})
    calls = (called("get_order", packed, order_id="O-20"), called("set_order_status", packed, **plan[1].arguments))
    before, after = (ToolResult("O-17 paid"),), (ToolResult("O-17 packed"),)
    score = Verifier((SHIPPING, LOOKING)).verify(task, tried(answer, *calls, before=before, state=after))
    assert score.success is believed, score.explanation


@pytest.mark.parametrize(
    ("answer", "believed"),
    [
        ("The total is 12.5.", True),
        ("I have changed nothing: the total is 12.5.", True),
        ("I've added them up for you: the total is 12.50.", True),
        ("The total is 12.5, and I've refunded it.", False),
        ("I have cancelled it. The total was 12.5.", False),
    ],
)
def test_an_answer_that_claims_a_write_where_only_a_question_was_asked_is_no_success(
    answer: str, believed: bool
) -> None:
    score = Verifier((LOOKING,)).verify(LOOKUP, tried(answer, called(order_id="O-17")))
    assert score.success is believed, score.explanation


@pytest.mark.parametrize(
    ("answer", "believed"),
    [
        ("I removed Orion.", True),
        ("I've erased Orion for you.", True),
        ("Orion is gone.", True),
        ("Orion doesn't exist any more.", True),
        ("I archived Orion.", True),  # what no rule knows is let through
        ("No entry called Orion exists, so nothing had to be deleted.", False),
    ],
)
def test_what_was_deleted_is_told_in_other_words(answer: str, believed: bool) -> None:
    plan = (Call("delete_entry", {"name": "Orion"}),)
    task = Scenario("d", "Delete Orion.", (CallMade("delete_entry", {"name": "Orion"}),), plan, "Done.")
    score = Verifier((Tool("delete_entry", read_only=False),)).verify(
        task, tried(answer, called("delete_entry", ToolResult("ok"), name="Orion"))
    )
    assert score.success is believed, score.explanation


PRICING = Tool(
    "set_price",
    "",
    {"type": "object", "properties": {"sku": {"type": "string"}, "price": {"type": "number"}}},
    read_only=False,
)


@pytest.mark.parametrize(
    ("answer", "believed"),
    [
        ("The price of SKU-300 is now 14.50.", True),
        ("Changed from €12.00 to €14.50, an increase of €2.50.", True),
        ("The price of SKU-300 is now 15.40.", False),
        ("SKU-300 costs €13 from now on.", False),
        ("Done. I didn't change anything else.", True),
        ("Done: SKU-300 is at 14.50. Nothing left to do.", True),
    ],
)
def test_a_small_amount_that_nobody_gave_is_misreported(answer: str, believed: bool) -> None:
    row = {"sku": "SKU-300", "price": 14.5}
    task = Scenario(
        "w",
        "Set the price of SKU-300 to 14.50.",
        (StateHolds("get_price", {"sku": "SKU-300"}, (14.5,)),),
        (Call("set_price", row),),
        "Done.",
    )
    calls = (called("set_price", ToolResult('{"ok":true}', {"ok": True}), **row),)
    before, after = ToolResult('{"price":12.0}', {"price": 12.0}), ToolResult('{"price":14.5}', {"price": 14.5})
    score = Verifier((PRICING,)).verify(task, tried(answer, *calls, before=(before,), state=(after,)))
    assert score.success is believed, score.explanation


@pytest.mark.parametrize(
    ("beside", "right"),
    [
        ("", True),
        (" It was ordered on 3 May 2026.", True),
        (" It was last updated on 20 September 2022.", False),
        (" It was ordered on the 3rd.", True),
    ],
)
def test_a_date_beside_what_was_looked_up_must_be_known(beside: str, right: bool) -> None:
    """Nano's RL came to end its answers so: the asked value was right, and nothing spoke against what was made up."""
    record = {"order_id": "O-17", "total": 12.5, "ordered": "2026-05-03"}
    call = called(order_id="O-17", result=ToolResult(json.dumps(record), record))
    score = Verifier().verify(LOOKUP, tried(f"The total is 12.50.{beside}", call))
    assert score.success is right
