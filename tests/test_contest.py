"""What is to be compared, read from TOML."""

from pathlib import Path

import pytest

from dragoman.errors import RecipeError
from dragoman.jobs.compare import plan_runs
from dragoman.jobs.comparison.contest import Contest, read_contest

ROOT = Path(__file__).parent.parent
GOOD = """
title = "Two"
baseline = "b"
minutes = 2
settings = ["pieces.size=500"]

[builtin]
all = ["model.dropout=0.0"]
recurrent = ["model.width=32"]

[[recipe]]
name = "a"
label = "A"
settings = ["model.kind=recurrent", "model.look=last"]

[[recipe]]
name = "b"
label = "B"
headline = true
seeds = [1, 5]

[[question]]
title = "Which?"
measure = "quality"
recipes = ["a", "b"]
expected = ["b > a", "a <= 0"]
"""


def read(tmp_path: Path, text: str) -> Contest:
    path = tmp_path / "set.toml"
    path.write_text(text, encoding="utf-8")
    return read_contest(path)


def test_settings_of_the_built_in_corpus_come_first_and_only_there(tmp_path: Path) -> None:
    contest = read(tmp_path, GOOD)
    first, second = contest.entries
    common, own = ["pieces.size=500"], ["model.kind=recurrent", "model.look=last"]
    assert contest.settings(first, builtin=True) == [*common, "model.dropout=0.0", "model.width=32", *own]
    assert contest.settings(first, builtin=False) == [*common, *own]
    assert contest.settings(second, builtin=True) == [*common, "model.dropout=0.0"]
    assert contest.questions[0].expectations() == [("b", ">", "a"), ("a", "<=", "0")]


def test_every_recipe_is_run_once_before_any_is_run_again(tmp_path: Path) -> None:
    contest = read(tmp_path, GOOD)
    assert [run.name for run in plan_runs(contest)] == ["b-1", "a-1", "b-5"]
    assert [run.name for run in plan_runs(contest, headline=True)] == ["b-1", "b-5"]
    assert [run.name for run in plan_runs(contest, [7, 2])] == ["b-7", "a-7", "b-2", "a-2"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "[recipe", "not TOML"),
        ('name = "b"', 'name = "a"', "two recipes with the name a"),
        ('name = "b"', 'name = "../b"', r"letters, digits and hyphens, not '\.\./b'"),
        ("headline = true", 'headline = "yes"', "headline is 'yes', but must be true or false"),
        ("seeds = [1, 5]", "seeds = []", "b: seeds must be numbers from 0 on"),
        ("seeds = [1, 5]", 'seeds = ["one"]', "seeds must be a list of numbers"),
        ("model.look=last", "model.look=lats", "a: model.look is 'lats'"),
        ('label = "A"', 'labl = "A"', "there is no labl in a recipe"),
        ('measure = "quality"', 'measure = "beauty"', "there is no measure 'beauty'; there are length, distance"),
        ('"b > a"', '"b over a"', 'is written "this > that" or "this <= 0", not \'b over a\''),
        ('"b > a"', '"0 > a"', 'is written "this > that" or "this <= 0", not'),
        ('"b > a"', '"b > c"', "there is no recipe with the name c"),
        ('name = "b"', 'name = "0"', "letters, digits and hyphens, not '0'"),
        ('baseline = "b"', 'baseline = "c"', "there is no recipe with the name c"),
        ('["pieces.size=500"]', "5", "settings must be a list of texts, not 5"),
        ('["pieces.size=500"]', '["pieces.sise=500"]', "a: pieces has no setting 'sise'"),
        ("minutes = 2", "minutes = 0", "minutes must be above 0"),
        ("minutes = 2", "minits = 2", "there is no minits in a comparison"),
        ("[[recipe]]", "[[recipes]]", r"there is no recipes in a comparison"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read(tmp_path, GOOD.replace(old, new) if old else new)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        read_contest(tmp_path / "nothing.toml")


def test_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"there is no \[\[recipe\]\]"):
        read(tmp_path, 'title = "Nothing"')


def test_the_set_of_the_lectures_is_sound() -> None:
    contest = read_contest(ROOT / "recipes" / "lectures.toml")
    headline = [entry for entry in contest.entries if entry.headline]
    assert len(headline) == 6
    assert all(len(entry.seeds) == 3 for entry in headline)
    assert all(entry.seeds == (1,) for entry in contest.entries if not entry.headline)
    assert contest.minutes == 4
    assert contest.baseline == "transformer"
