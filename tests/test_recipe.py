"""TOML to Recipe and back, and what is said about a wrong setting."""

import dataclasses
import re
import typing
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.config import Cleaning, Model, Pieces, Recipe, Search, Training
from dragoman.errors import RecipeError
from dragoman.recipe import check, override, parse_recipe, read_recipe, write_recipe

RECIPES = Path(__file__).parent.parent / "recipes"
SECTIONS = {"cleaning": Cleaning, "pieces": Pieces, "model": Model, "training": Training, "search": Search}
shares = st.floats(0, 1, exclude_max=True)
sizes = st.integers(1, 10**6)
languages = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
searches = st.builds(
    Search,
    beam=st.integers(7, 100),
    best=st.integers(1, 7),
    length_penalty=st.floats(0, 5),
    temperature=st.floats(0.01, 5),
    top_k=st.integers(0, 100),
    top_p=st.floats(0.01, 1),
    seed=st.integers(0, 2**31),
    max_length=sizes,
)
recipes = st.builds(
    Recipe,
    source_language=languages,
    target_language=languages,
    cleaning=st.builds(Cleaning, max_characters=sizes, max_ratio=st.floats(1), dev_pairs=sizes),
    pieces=st.builds(
        Pieces, size=st.none() | st.integers(300, 10**6), sampling=st.none() | shares, max_length=st.integers(8, 9999)
    ),
    model=st.builds(
        Model,
        encoder_layers=st.none() | sizes,
        width=st.none() | sizes.map(lambda size: 8 * size),
        heads=st.none() | st.just(8),
        dropout=st.none() | shares,
    ),
    training=st.builds(
        Training,
        seed=st.integers(0, 2**63),
        peak_rate=st.none() | st.floats(0, 9),
        warmup_updates=st.none() | sizes,
        decay_share=st.floats(0, 1, exclude_min=True),
        label_smoothing=shares,
        weight_decay=st.floats(0, 1),
        adam_betas_first=shares,
        adam_betas_second=shares,
        clip_norm=st.floats(0, exclude_min=True),
        average=shares,
        score_pairs=sizes,
        judge_pairs=st.none() | sizes,
        scorings=sizes,
        patience=st.integers(0, 100),
    ),
    search=searches,
)


def refuse(text: str, message: str) -> RecipeError:
    """Check that a recipe is refused with a message; `.` in the message is a full stop."""
    with pytest.raises(RecipeError, match=re.escape(message)) as caught:
        parse_recipe(text, where="my.toml")
    return caught.value


@given(recipe=recipes)
def test_written_and_read_is_the_same(recipe: Recipe) -> None:
    assert parse_recipe(write_recipe(recipe), where="my.toml") == recipe


@given(recipe=recipes)
def test_every_setting_can_be_set_alone(recipe: Recipe) -> None:
    """As many overrides as there are settings make any recipe of the defaults."""
    settings = []
    for name, node in ((f.name, getattr(recipe, f.name)) for f in dataclasses.fields(recipe)):
        lines = write_recipe(Recipe(**{name: node})).split("\n")
        start = lines.index(f"[{name}]") if f"[{name}]" in lines else None
        if start is None:
            settings += [line for line in lines if line.startswith(f"{name} = ")]
        else:
            own = lines[start + 1 :]
            settings += [f"{name}.{line}" for line in own[: own.index("") if "" in own else None]]
    assert override(Recipe(), settings) == recipe


def test_an_empty_file_is_the_defaults() -> None:
    assert parse_recipe("", where="my.toml") == Recipe()


@pytest.mark.parametrize(
    "path", sorted(path for path in RECIPES.glob("*.toml") if path.stem != "lectures"), ids=lambda path: path.stem
)  # `lectures` is a list of them, see test_contest.py
def test_the_recipes_that_ship_are_recipes(path: Path) -> None:
    assert read_recipe(path) != Recipe()


def test_whole_numbers_may_stand_for_fractions() -> None:
    recipe = parse_recipe("[training]\nweight_decay = 0\n[model]\ndropout = 0", where="my.toml")
    assert (recipe.training.weight_decay, recipe.model.dropout) == (0.0, 0.0)
    assert isinstance(recipe.training.weight_decay, float)


def test_no_clipping_is_an_infinite_norm() -> None:
    recipe = override(Recipe(), ["training.clip_norm=inf"])
    assert recipe.training.clip_norm == float("inf")
    assert parse_recipe(write_recipe(recipe), where="my.toml") == recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training]\nwarmpu_updates = 5", "training has no setting 'warmpu_updates'; did you mean 'warmup_updates'?"),
        ("[model]\nwidht = 5", "model has no setting 'widht'; did you mean 'width'?"),
        ("[modle]\nwidth = 5", "the recipe has no setting 'modle'; did you mean 'model'?"),
        ("surce_language = 'en'", "the recipe has no setting 'surce_language'; did you mean 'source_language'?"),
        ("[pieces]\nxyzzy = 5", "pieces has no setting 'xyzzy'"),
    ],
)
def test_an_unknown_setting_is_answered_with_the_nearest(text: str, message: str) -> None:
    error = refuse(text, message)
    assert error.message == message
    assert error.hint.startswith("it has: ")


@given(section=st.sampled_from(sorted(SECTIONS)), data=st.data())
def test_a_slip_of_the_finger_is_understood(section: str, data: st.DataObject) -> None:
    """A doubled letter: the setting that was meant is named."""
    names = [f.name for f in dataclasses.fields(SECTIONS[section])]
    name = data.draw(st.sampled_from(names))
    place = data.draw(st.integers(0, len(name) - 1))
    slip = name[:place] + name[place] + name[place:]
    assume(slip not in names)
    with pytest.raises(RecipeError, match=f"{section} has no setting '{slip}'; did you mean '{name}'"):
        override(Recipe(), [f"{section}.{slip}=1"])


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[model]\nwidth = 1.5", "model.width is 1.5", "it must be a whole number"),
        ("[model]\nwidth = true", "model.width is True", "it must be a whole number"),
        ("[model]\nwidth = '5'", "model.width is '5'", "it must be a whole number"),
        ("[model]\ndropout = '5'", "model.dropout is '5'", "it must be a number"),
        ("[model]\ndropout = true", "model.dropout is True", "it must be a number"),
        ("[model]\ntied = 1", "model.tied is 1", "it must be true or false"),
        ("[model]\nnorm = 'both'", "model.norm is 'both'", "it can be 'pre' or 'post' or 'none'"),
        ("[model]\nnorm = []", "model.norm is []", "it can be 'pre' or 'post' or 'none'"),
        ("[model]\nkind = 'rnn'", "model.kind is 'rnn'", "it can be 'transformer' or 'recurrent'"),
        ("source_language = 5", "source_language is 5", "it must be text"),
        ("[training]\nseed = 2026-01-01", "training.seed is datetime.date(2026, 1, 1)", "it must be a whole number"),
        ("model = 5", "model is a section, not a setting", "write [model] and its settings below it"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(text: str, message: str, hint: str) -> None:
    assert refuse(text, message).hint == hint


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.dropout=1.0", "model.dropout must be at least 0 and below 1"),
        ("model.dropout=-0.1", "model.dropout must be at least 0 and below 1"),
        ("model.dropout=nan", "model.dropout must be at least 0 and below 1"),
        ("training.label_smoothing=1", "training.label_smoothing must be at least 0 and below 1"),
        ("training.average=1", "training.average must be at least 0 and below 1"),
        ("training.adam_betas_first=1", "training.adam_betas_first must be at least 0 and below 1"),
        ("training.adam_betas_second=-1", "training.adam_betas_second must be at least 0 and below 1"),
        ("training.decay_share=0", "training.decay_share must be above 0 and at most 1"),
        ("training.decay_share=1.1", "training.decay_share must be above 0 and at most 1"),
        ("training.peak_rate=-1", "training.peak_rate must be at least 0 and below 10"),
        ("training.processes=-1", "training.processes is -1, but must be at least 1"),
        ("training.peak_rate=10", "training.peak_rate must be at least 0 and below 10"),
        ("training.weight_decay=-1", "training.weight_decay must be at least 0 and below 10"),
        ("training.weight_decay=inf", "training.weight_decay must be at least 0 and below 10"),
        ("training.clip_norm=0", "training.clip_norm must be above 0"),
        ("training.clip_norm=nan", "training.clip_norm must be above 0"),
        ("training.save_seconds=-1", "training.save_seconds must be at least 0"),
        ("training.warmup_updates=-1", "training.warmup_updates is -1, but must be at least 0"),
        ("training.patience=-1", "training.patience is -1, but must be at least 0"),
        ("training.seed=-1", "a seed must be at least 0"),
        ("search.seed=-1", "a seed must be at least 0"),
        ("pieces.sampling=10", "pieces.sampling must be at least 0 and below 10"),
        ("pieces.size=299", "pieces.size must be at least 300: the bytes need 260"),
        ("pieces.max_length=0", "pieces.max_length is 0, but must be at least 8"),
        ("pieces.max_length=65536", "pieces.max_length may be at most 65535"),
        ("search.temperature=0", "search.temperature must be above 0"),
        ("search.temperature=nan", "search.temperature must be above 0"),
        ("search.top_p=0", "search.top_p must be above 0 and at most 1"),
        ("search.top_p=1.5", "search.top_p must be above 0 and at most 1"),
        ("search.top_k=-1", "search.top_k is -1, but must be at least 0"),
        ("search.length_penalty=inf", "search.length_penalty must be at least -10 and below 10"),
        ("search.length_penalty=nan", "search.length_penalty must be at least -10 and below 10"),
        ("search.beam=101", "search.beam and search.best may be at most 100"),
        ("search.best=6", "search.best is greater than search.beam: a beam returns at most as many as it holds"),
        ("cleaning.max_ratio=0.5", "cleaning.max_ratio must be at least 1"),
        ("cleaning.max_ratio=nan", "cleaning.max_ratio must be at least 1"),
        ("cleaning.max_characters=0", "cleaning.max_characters is 0, but must be at least 1"),
        ("cleaning.dev_pairs=0", "cleaning.dev_pairs is 0, but must be at least 1"),
        ("model.width=0", "model.width is 0, but must be at least 1"),
        ("model.heads=-2", "model.heads is -2, but must be at least 1"),
        ("model.feed_forward=0", "model.feed_forward is 0, but must be at least 1"),
        ("model.encoder_layers=0", "model.encoder_layers is 0, but must be at least 1"),
        ("model.decoder_layers=0", "model.decoder_layers is 0, but must be at least 1"),
        ("training.batch_pieces=0", "training.batch_pieces is 0, but must be at least 1"),
        ("training.score_pairs=0", "training.score_pairs is 0, but must be at least 1"),
        ("training.judge_pairs=0", "training.judge_pairs is 0, but must be at least 1"),
        ("training.scorings=0", "training.scorings is 0, but must be at least 1"),
        ("search.beam=0", "search.beam is 0, but must be at least 1"),
        ("search.best=0", "search.best is 0, but must be at least 1"),
        ("search.max_length=0", "search.max_length is 0, but must be at least 1"),
    ],
)
def test_a_value_that_cannot_be_is_refused(setting: str, message: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(message)) as caught:
        override(Recipe(), [setting])
    assert "docs/recipes.md" in caught.value.hint


@given(setting=st.data())
def test_no_number_is_without_a_rule(setting: st.DataObject) -> None:
    """A number that is not one is refused everywhere."""
    section = setting.draw(st.sampled_from(sorted(SECTIONS)))
    hints = typing.get_type_hints(SECTIONS[section])
    fractions = [name for name, hint in hints.items() if hint is float or float in typing.get_args(hint)]
    assume(fractions)
    name = setting.draw(st.sampled_from(fractions))
    with pytest.raises(RecipeError, match=rf"{section}\.{name}"):
        override(Recipe(), [f"{section}.{name}=nan"])


def test_heads_must_divide_the_width() -> None:
    refuse("[model]\nwidth = 35\nheads = 3", "model.width is 35, which model.heads = 3 does not divide")


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(RecipeError, match=r"model\.dropout must .*; model\.width is 0, .*; search\.max_length is -1"):
        check(Recipe(model=Model(dropout=2.0, width=0), search=Search(max_length=-1)))


def test_more_hypotheses_than_the_beam_holds_may_be_sampled() -> None:
    assert override(Recipe(), ["search.top_k=10", "search.best=7"]).search.best == 7


def test_overrides_come_in_order() -> None:
    recipe = override(Recipe(), ["model.width=64", " model.norm = post ", 'target_language="pt-BR"', "model.width=128"])
    assert (recipe.model.width, recipe.model.norm, recipe.target_language) == (128, "post", "pt-BR")
    assert override(Recipe(), ["source_language=en"]).source_language == "en"
    assert override(recipe, []) == recipe


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.width", "--set model.width: there is no value"),
        ("model.width=", "model.width is ''"),
        ("model.width=wide", "model.width is 'wide'"),
        ("width=5", "the recipe has no setting 'width'"),
        ("model=5", "model is a section, not a setting"),
        ("model.norm.x=5", "the recipe has no setting 'model.norm'"),
        ("task.x=5", "task is "),
        ("=5", "the recipe has no setting ''"),
    ],
)
def test_an_override_that_says_nothing_is_refused(setting: str, message: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(message)):
        override(Recipe(), [setting])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"model = ", "my.toml: not TOML: Invalid value"),
        (b"[model]\nwidth = 5\nwidth = 6\n", "my.toml: not TOML: Cannot overwrite a value (at line 3"),
        (b"\xff", "my.toml: cannot be read ('utf-8' codec"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "my.toml").write_bytes(content)
    with pytest.raises(RecipeError, match=re.escape(message)):
        read_recipe(tmp_path / "my.toml")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "gone.toml", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(RecipeError, match=rf"cannot be read \(.*{message}") as caught:
            read_recipe(path)
        assert "recipes/*.toml" in caught.value.hint


def test_open_settings_are_left_out() -> None:
    text = write_recipe(Recipe())
    assert "\nwidth" not in text
    assert 'norm = "pre"' in text
