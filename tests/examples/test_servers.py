"""The example servers: their rules, and mcprl on each of them from its tools to a score."""

import json
import random
import runpy
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.paths import ROOT

from mcprl import train_adapter
from mcprl.cli.commands import cli
from mcprl.config import Config, RolloutConfig, ScenarioConfig, ServerConfig, ToolPolicy, TrainingConfig
from mcprl.evaluate import evaluate_pack
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack, load_pack
from mcprl.servers.rewards import require_behind, reward, rewarded
from mcprl.servers.server import connect
from mcprl.types import Call, RewardCheck, Session, Split

pytestmark = pytest.mark.anyio
SERVERS = ROOT / "examples" / "servers"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def of(name: str) -> Any:
    """What a server's script defines; its folder is on the path as it is for `python SCRIPT`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(SERVERS), *sys.path])
        return runpy.run_path(str(SERVERS / f"{name}.py"))


def target(name: str, options: str = "") -> ServerConfig:
    command = f"{sys.executable} {SERVERS / f'{name}.py'} {options}".strip()
    return ServerConfig(target=command, processes=2)  # each takes two seconds of a processor to start


def pack_of(name: str, folder: Path) -> Pack:
    """The pack of an example: the file beside it, or what it writes itself."""
    beside = SERVERS / f"{name}.jsonl"
    if beside.exists():
        return load_pack(beside)
    subprocess.run([sys.executable, SERVERS / f"{name}.py", "--pack", folder], check=True)
    return load_pack(folder)


async def told(session: Session, tool: str, **arguments: Any) -> Any:
    result = await session.call(tool, arguments)
    assert not result.is_error, result.text
    return result.structured if result.structured is not None else result.text


# --- tic-tac-toe ------------------------------------------------------------------------------------------------------


def test_tic_tac_toe_is_lost_by_a_square_that_is_taken_or_none() -> None:
    rules = of("tic_tac_toe")
    for square in ("B2", "Z9", ""):
        game = rules["Game"](seed=1)
        game.board = "xxo" + "oo-" + "x--"
        if square == "B2":
            game.play(square)
            assert game.result == "lost"
        else:
            game.play(square)
            assert (game.result, game.board) == ("lost", "xxooo-x--")


def test_tic_tac_toe_is_won_by_a_line_and_drawn_by_a_full_board() -> None:
    rules = of("tic_tac_toe")
    game = rules["Game"](seed=1)
    game.board = "xx-oo----"
    game.play("A3")
    assert (game.result, game.board) == ("won", "xxxoo----")
    assert "free" not in game.shown()
    game.board = "xoxxoooxx"
    assert game.result == "drawn"
    game.board = "ooo-xx--x"
    assert game.result == "lost"


def test_nobody_wins_against_minimax_and_minimax_wins_most_against_chance() -> None:
    rules = of("tic_tac_toe")
    play, chance = rules["minimax"], rules["at_random"]
    assert rules["value"]("---------", "x") == 0
    assert rules["share_won"](play, 60) > rules["share_won"](chance, 60) + 0.2
    rules["share_won"].__globals__["opponent"] = play
    assert rules["share_won"](play, 30) == rules["share_won"](chance, 30) == 0


# --- 2048 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "made", "points"),
    [
        ([2, 2, 2, 2], [4, 4, 0, 0], 8),
        ([0, 2, 0, 2], [4, 0, 0, 0], 4),
        ([4, 2, 2, 0], [4, 4, 0, 0], 4),
        ([2, 4, 2, 4], [2, 4, 2, 4], 0),
    ],
)
def test_2048_merges_each_tile_once_a_move(row: list[int], made: list[int], points: int) -> None:
    assert of("game_2048")["pushed_row"](row) == (made, points)


def test_2048_has_no_tile_for_a_push_that_moves_nothing_and_counts_it() -> None:
    rules = of("game_2048")
    game = rules["Game"](seed=3)
    game.board = ((2, 0, 0, 0), (4, 0, 0, 0), (2, 0, 0, 0), (4, 0, 0, 0))
    assert rules["legal"](game.board) == ["right"]
    game.move("left")
    assert (game.board[0], game.left, game.points) == ((2, 0, 0, 0), 23, 0.0)
    game.move("right")
    assert sum(tile > 0 for row in game.board for tile in row) == 5


def test_2048_scores_the_target_with_1_and_less_by_what_was_merged() -> None:
    game = of("game_2048")["Game"](seed=3)
    game.board, game.merged = ((32, 0, 0, 0), *((0,) * 4,) * 3), 128
    assert (game.result, game.points) == ("won", 1.0)
    game.board, game.merged = ((16, 8, 0, 0), *((0,) * 4,) * 3), 64
    assert (game.result, game.points) == ("", 0.25)


def test_2048_is_reached_more_often_by_looking_ahead_than_by_chance() -> None:
    rules = of("game_2048")
    shares = [rules["share_won"](rules["PLAYERS"][name], 12) for name in ("random", "expectimax")]
    assert shares[1] > shares[0] + 0.3


# --- inbox ------------------------------------------------------------------------------------------------------------


def test_each_question_of_an_inbox_names_the_message_that_answers_it_or_has_no_answer() -> None:
    rules = of("inbox")
    for owner in (0, 17, 39):
        mails, questions = rules["made_up"](owner)
        by_id = {mail.message_id: mail for mail in mails}
        assert len(by_id) == len(mails) > 450
        assert len({question.text for question in questions}) == len(questions) == 35
        for question in questions:
            if question.answer:
                assert question.answer in by_id[question.source].body
                assert rules["states"](f"It is {question.answer}.", question.answer)
        assert sum(not question.answer for question in questions) == 5


def test_nothing_but_a_search_tells_whether_a_question_has_an_answer() -> None:
    asked = of("inbox")["questions"]()
    unknown = {question.text for question in asked if not question.answer}
    both = unknown & {question.text for question in asked if question.answer}
    assert len(both) > 0.9 * len(unknown)


async def test_an_inbox_scores_value_and_source_and_grades_what_is_unknown_above_what_is_wrong() -> None:
    rules = of("inbox")
    asked = rules["questions"]()
    number = next(n for n, question in enumerate(asked) if question.answer and "hotel" in question.text)
    unknown = next(n for n, question in enumerate(asked) if not question.answer)
    policy = ToolPolicy(setup=("begin",), reward="score:correct")
    found: dict[str, tuple[float, float]] = {}
    right = asked[number]
    answers = {
        "right": (number, f"It is {right.answer}.", [right.source]),
        "no source": (number, f"It is {right.answer}.", []),
        "wrong": (number, "It is ABC1234.", [right.source]),
        "inside": (number, f"It is 9{right.answer}1.", [right.source]),
        "everything": (number, f"It is {right.answer}. " + "I also read this. " * 20, [right.source]),
        "all sources": (number, f"It is {right.answer}.", [f"<0.{n}@example.com>" for n in range(500)]),
        "gave up": (number, "I don't know.", []),
        "unknown": (unknown, "I don't know.", []),
        "made up": (unknown, "It is ABC1234.", []),
    }
    async with connect([target("inbox")], policy) as server:
        for name, (question, answer, sources) in answers.items():
            async with server.session(setup_by("begin", question=question)) as session:
                await told(session, "return_final_answer", answer=answer, sources=sources)
                numbers = [await reward(session, RewardCheck("score", path=path)) for path in ("correct", "points")]
                found[name] = numbers[0], numbers[1]
        async with server.session(setup_by("begin", question=number)) as session:
            hits = await told(session, "search_emails", keywords=[right.text.rstrip("?").split()[-1], "confirmation"])
            body = (await told(session, "read_email", message_id=hits[0]["message_id"]))["body"]
    assert {name for name, (correct, _) in found.items() if correct} == {"right", "unknown"}
    points = {name: graded for name, (_, graded) in found.items()}
    assert points["right"] > points["no source"] > points["gave up"] > points["wrong"] > 0
    assert points["wrong"] == points["inside"] == points["everything"]
    assert points["unknown"] > points["made up"]
    assert right.answer in body


@asynccontextmanager
async def begun(name: str, tool: str, **arguments: Any) -> AsyncGenerator[Session]:
    """A session with a server that scores itself, in which its setup tool was called."""
    async with connect([target(name)], ToolPolicy(setup=(tool,), reward="score")) as server:
        opened = server.session(setup_by(tool, **arguments))
        async with opened as session:
            yield session


def setup_by(tool: str, **arguments: Any) -> Any:
    return (Call(tool, arguments),)


def test_mail_of_others_is_imported_from_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "allen-p" / "inbox").mkdir(parents=True)
    message = "Message-ID: <1@enron>\nDate: Mon, 14 May 2001 16:39:00 -0700\nFrom: a@enron.com\nTo: b@enron.com\n"
    (tmp_path / "allen-p" / "inbox" / "1.").write_text(f"{message}Subject: Forecast\n\nHere is our forecast.\n")
    (mail,) = of("inbox")["from_maildir"](tmp_path)
    assert mail[:5] == ("<1@enron>", "2001-05-14 16:39", "a@enron.com", "b@enron.com", "Forecast")
    assert mail.body.strip() == "Here is our forecast."


def test_the_questions_of_an_owner_stand_in_one_split(tmp_path: Path) -> None:
    pack = pack_of("inbox", tmp_path)
    splits: tuple[Split, ...] = ("train", "val", "test")
    owners = {split: {value for each in pack.split(split) for value in each.values} for split in splits}
    assert [len(owners[split]) for split in splits] == [28, 4, 8]
    assert not owners["train"] & owners["test"]


# --- weather ----------------------------------------------------------------------------------------------------------


async def test_the_weather_of_a_town_is_found_by_its_point_and_by_its_station_alike() -> None:
    async with connect([target("weather")]) as server, server.session() as session:
        place = await told(session, "find_place", name="denver")
        point = await told(session, "get_point", latitude=place["latitude"], longitude=place["longitude"])
        hours = await told(session, "get_hourly_forecast", **point, hours=2)
        stations = await told(session, "list_stations", state=place["state"])
        assert {"station": "KDEN", "name": "Denver Airport"} in stations
        seen = await told(session, "get_observation", station="KDEN")
        assert (seen["time"], seen["temperature"]) == (hours[0]["time"], hours[0]["temperature"])
        periods = await told(session, "get_forecast", **point)
        assert [each["period"] for each in periods[:3]] == ["Today", "Tonight", "Tuesday"]
        away = await session.call("get_point", {"latitude": 0.0, "longitude": 0.0})
        assert away.is_error
        assert "find_place" in away.text


async def test_a_forecast_is_asked_for_by_town_and_found_through_its_coordinates_and_its_point() -> None:
    sizes = ScenarioConfig(train=40, val=8, test=40, test_forms=0, values=str(ROOT / "examples/hints/weather.txt"))
    async with connect([target("weather")]) as server:
        pack = await generate(server, sizes, seed=0)
    way = ["find_place", "get_point", "get_forecast"]
    for split in ("train", "test"):
        tasks = [task for task in pack.scenarios if task.split == split and [c.tool for c in task.plan] == way]
        assert tasks
        for task in tasks:
            town, point, forecast = (call.arguments for call in task.plan)
            assert str(town["name"]) in task.request
            assert not any(str(value) in task.request for value in (*point.values(), forecast["office"]))


def test_a_climate_is_the_same_for_a_seed_and_another_for_another() -> None:
    rules = of("weather")
    denver = next(place for place in rules["PLACES"] if place.name == "Denver")
    assert len({place.office for place in rules["PLACES"]}) == len(rules["PLACES"])
    assert len({(place.office, rules["grid_of"](place)) for place in rules["PLACES"]}) == len(rules["PLACES"])
    first = rules["weather_of"](denver)
    assert first == of("weather")["weather_of"](denver)
    other = of("weather")
    other["weather_of"].__wrapped__.__globals__["seed"] = 1
    assert other["weather_of"](denver) != first


def test_the_real_service_is_not_asked_without_a_contact() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(SERVERS), *sys.path])
        patch.setattr(sys, "argv", ["weather.py", "--live"])
        with pytest.raises(SystemExit, match="2"):
            runpy.run_path(str(SERVERS / "weather.py"), run_name="__main__")


# --- temporal clue ----------------------------------------------------------------------------------------------------


def test_a_case_has_one_solution_and_no_clue_too_many() -> None:
    rules = of("temporal_clue")
    for size, seed in ((2, 0), (3, 1), (4, 2)):
        case = rules["made"](seed, size)
        assert rules["is_proven"](size, case.clues, case.solution)
        for clue in case.clues:
            assert not rules["is_proven"](size, [each for each in case.clues if each is not clue], case.solution)
        possible = rules["Puzzle"](size)
        for clue in case.clues:
            possible.add(clue)
        assert possible.is_possible()  # the clues do not contradict each other
    assert len(rules["made"](1, 5).clues) > len(rules["made"](1, 2).clues)


async def test_an_accusation_counts_once_and_by_its_right_parts() -> None:
    rules = of("temporal_clue")
    people, weapons, rooms, hours = (rules[name] for name in ("PEOPLE", "WEAPONS", "ROOMS", "HOURS"))
    who, what, where, when = rules["made"](7, 3).solution
    right = {"person": people[who], "weapon": weapons[what], "room": rooms[where], "hour": hours[when]}
    async with begun("temporal_clue", "new_case", seed=7, size=3) as session:
        assert await told(session, "test_hypothesis", **right) == "The clues allow it."
        assert len(await told(session, "clues_about")) == len(rules["made"](7, 3).clues)
        unknown = await session.call("accuse", right | {"person": "Nobody"})
        assert "there are Ada, Ben, Carla" in unknown.text
        other = right | {"person": people[(who + 1) % 3]}
        await told(session, "accuse", **other)
        await told(session, "accuse", **right)
        assert await reward(session, RewardCheck("score", path="right")) == 0.75


# --- with mcprl -------------------------------------------------------------------------------------------------------

GAMES = {
    "tic_tac_toe": ("new_game", "score:points"),
    "game_2048": ("new_game", "score:points"),
    "temporal_clue": ("new_case", "score:right"),
    "codenames": ("new_game", "score:points"),
}


@pytest.mark.parametrize("name", GAMES)
async def test_the_pack_of_a_game_fits_its_server(name: str, tmp_path: Path) -> None:
    setup, score = GAMES[name]
    policy = ToolPolicy(setup=(setup,), reward=score)
    pack = pack_of(name, tmp_path)
    assert [len(pack.split(split)) for split in ("train", "val", "test")] == [640, 48, 192]
    async with connect([target(name)], policy) as server:
        require_behind([rewarded(each, server.scoring) for each in pack], server)
        async with server.session(random.Random(0).choice(pack.test).setup) as session:
            assert await reward(session, RewardCheck(score.partition(":")[0], path=score.partition(":")[2])) < 1


@pytest.mark.parametrize("name", ["tic_tac_toe", "game_2048", "inbox", "codenames"])
async def test_a_plan_of_a_pack_can_be_played_to_its_answer(name: str, tmp_path: Path) -> None:
    setup, score = GAMES.get(name, ("begin", "score:correct"))
    check = RewardCheck(score.partition(":")[0], path=score.partition(":")[2])
    pack = pack_of(name, tmp_path)
    async with connect([target(name)], ToolPolicy(setup=(setup,), reward=score)) as server:
        for scenario in pack.train[:12]:
            async with server.session(scenario.setup) as session:
                results = [await session.call(call.tool, call.arguments) for call in scenario.plan]
                assert not any(result.is_error for result in results), scenario
                given = await reward(session, check)
            if name == "inbox":
                assert given == 1
            else:
                assert scenario.answer.endswith(f" is {results[-1].structured['result']}.")


@pytest.mark.parametrize("name", [*GAMES, "inbox", "weather"])
def test_inspect_tells_the_tools_of_an_example_and_which_are_for_mcprl_alone(name: str) -> None:
    setup, score = GAMES.get(name, ("begin", "score:correct"))
    behind = [] if name == "weather" else ["--setup-tool", setup, "--reward-tool", score]
    shown = CliRunner().invoke(cli, ["inspect", target(name).target, *behind, "--json"])
    assert shown.exit_code == 0, shown.output
    tools = {tool["name"]: tool for tool in json.loads(shown.stdout)["tools"]}
    assert {tool for tool, told in tools.items() if told["behind"]} == ({setup, "score"} if behind else set())
    assert all(told["allowed"] or told["behind"] for told in tools.values())


# --- codenames --------------------------------------------------------------------------------------------------------


async def test_codenames_ends_with_the_assassin_and_counts_what_was_found() -> None:
    rules = of("codenames")
    board = rules["Game"](4)
    ours, (assassin,) = board.left("ours"), board.left("assassin")
    async with begun("codenames", "new_game", seed=4, role="guesser") as session:
        seen = await told(session, "see_board")
        assert set(seen["words"].split()) == set(board.words)
        assert seen["clue"].split()[0] in rules["TOPICS"]
        assert (await told(session, "guess", word=ours[0]))["was"] == "ours"
        ended = await told(session, "guess", word=assassin)
        assert ended["result"] == "lost: the assassin"
        assert await reward(session, RewardCheck("score", path="points")) == pytest.approx(1 / 9 / 2, abs=1e-4)
        assert (await session.call("give_clue", {"word": "animal", "number": 2})).is_error


async def test_a_clue_by_topics_finds_words_with_the_partner_by_rules() -> None:
    rules = of("codenames")
    game = rules["Game"](5, "spymaster")
    async with begun("codenames", "new_game", seed=5, role="spymaster") as session:
        assert (await session.call("give_clue", {"word": game.words[0], "number": 1})).is_error
        assert (await session.call("give_clue", {"word": " ".join(game.words[:2]), "number": 2})).is_error
        for _ in range(5):
            word, number = rules["clue_by_rules"](game)
            shown = await told(session, "give_clue", word=word, number=number)
            game.touched = [pair.partition("=")[0] for pair in shown["touched"].split()]
            if "result" in shown:
                break
        assert await reward(session, RewardCheck("score", path="points")) > 0.4


async def test_a_partner_that_is_a_model_is_asked_by_mcp_sampling_and_only_if_it_is_lent() -> None:
    board, heard = of("codenames")["Game"](4), list[str]()

    async def answer(messages: Any, max_tokens: int) -> str:
        heard.append(messages[-1]["content"])
        assert max_tokens == 40
        return "Creatures, 2"

    lent = ToolPolicy(setup=("new_game",), reward="score:points", sampling="base")
    config = target("codenames", "--partner model")
    async with connect([config], lent) as server:
        server.lend(answer)
        async with server.session(setup_by("new_game", seed=4, role="guesser")) as session:
            assert (await told(session, "see_board"))["clue"] == "creatures 2"
    assert all(word in heard[0] for word in board.left("ours"))
    async with connect([config], lent.model_copy(update={"sampling": "none"})) as server:
        server.lend(answer)
        async with server.session(setup_by("new_game", seed=4, role="guesser")) as session:
            refused = await session.call("see_board", {})
    assert refused.is_error
    assert "--sampling base lends it" in refused.text
    assert len(heard) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [*GAMES, "inbox"])
async def test_an_example_is_trained_on_and_evaluated(name: str, tmp_path: Path) -> None:
    setup, score = GAMES.get(name, ("begin", "score:correct"))
    pack = pack_of(name, tmp_path / "whole")
    few = {"train": 4, "val": 2, "test": 2}
    tasks = [each for split, count in few.items() for each in pack.split(split)[:count]]  # pyright: ignore[reportArgumentType]
    Pack(tuple(tasks)).save(tmp_path / "few")
    config = Config(
        name="short",
        runs_dir=str(tmp_path),
        servers=(target(name),),
        tools=ToolPolicy(setup=(setup,), reward=score),
        scenarios=ScenarioConfig(pack=str(tmp_path / "few"), floor=False),
        rollout=RolloutConfig(max_turns=3, max_tokens=32),
        training=TrainingConfig(recipe="rl", steps=2, scenarios_per_step=2, group_size=2),
    )
    report = await train_adapter(config)
    assert (report.lead, report.rewarded, report.test.n) == (pack.test[0].suite, 2, 2)
    evaluation = await evaluate_pack(config.model_copy(update={"name": ""}))
    assert evaluation.overall[0] == 2
    assert all(result.trajectory.reward is not None for result in evaluation.results)
