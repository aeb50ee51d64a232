"""SQL in arguments: two spellings of one statement are the same argument."""

import pytest

from mcprl.servers.arguments import same_arguments
from mcprl.servers.statements import changes_no_more, looks_for

WANTED = "SELECT COUNT(*) FROM animals WHERE species = 'dog' AND owner_id = 3"


@pytest.mark.parametrize(
    ("made", "same"),
    [
        ("select count(*) as n from animals where owner_id=3 and species='dog';", True),
        ('SELECT COUNT(*) FROM "animals" WHERE animals.species = "dog" AND animals.owner_id = \'3\'', True),
        ("SELECT COUNT(*) FROM animals WHERE species = 'Dog' AND owner_id = 3", False),
        ("SELECT COUNT(*) FROM animals WHERE species = 'dog'", False),
        ("SELECT COUNT(*) FROM animals WHERE species = 'dog' OR owner_id = 3", False),
        ("SELECT FROM WHERE", False),
        ("please count the dogs", False),
    ],
)
def test_a_statement_is_known_in_another_spelling(made: str, same: bool) -> None:
    assert same_arguments({"query": made}, {"query": WANTED}) is same


@pytest.mark.parametrize("text", ["update the docs and set a date", "Select one from the list", "create a table"])
def test_a_text_that_only_reads_like_sql_is_itself_and_no_other(text: str) -> None:
    assert same_arguments({"note": f" {text} "}, {"note": text})
    assert not same_arguments({"note": text}, {"note": f"{text}, please"})


@pytest.mark.parametrize(
    "made", ["DELETE FROM a WHERE x'' AND z = 2", "INSERT INTO a (1e) VALUES (2)", "UPDATE a SET x''"]
)
def test_a_policys_broken_sql_is_no_other_statement_and_breaks_nothing(made: str) -> None:
    for planned in ("DELETE FROM a WHERE z = 2", "INSERT INTO a (b) VALUES (2)", "UPDATE a SET x = 1"):
        assert not same_arguments({"query": made}, {"query": planned})
        assert not changes_no_more(made, planned, bool)
        assert not looks_for(made, planned)
