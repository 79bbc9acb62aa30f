"""Sizes from the corpus, the plan from the time, and the paper's base model."""

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.config import Model, Pieces, Recipe, Training
from dragoman.data.batches import make_batch
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine
from dragoman.errors import RecipeError
from dragoman.machine import multiplies_bfloat16
from dragoman.nn.models import build
from dragoman.recipe import check, read_recipe
from dragoman.training.forecast import Effort, count_parameters, forecast_speed
from dragoman.training.learner import Learner
from dragoman.training.plan import Speed, end_otherwise, margin, plan_minutes, plan_updates
from dragoman.training.sizes import CorpusSize, default_precision, default_processes, fill, suit, suit_dropout
from random_weights import SHAPES, TINY, random_pieces

BASE = Path(__file__).parent.parent / "recipes" / "attention-is-all-you-need.toml"
corpora = st.builds(CorpusSize, pairs=st.integers(1, 10**8), words=st.integers(1, 10**7), characters=st.just(70))
sizes = st.none() | st.integers(1, 600)
partial_recipes = st.builds(
    Recipe,
    pieces=st.builds(Pieces, size=st.none() | st.integers(300, 50_000), sampling=st.none() | st.floats(0, 0.9)),
    model=st.builds(
        Model,
        encoder_layers=sizes,
        decoder_layers=sizes,
        width=sizes,
        heads=sizes,
        feed_forward=sizes,
        dropout=st.none() | st.floats(0, 0.9),
        norm=st.sampled_from(["pre", "post"]),
        tied=st.booleans(),
    ),
    training=st.builds(
        Training,
        batch_pieces=sizes,
        peak_rate=st.none() | st.floats(1e-5, 1e-2),
        warmup_updates=st.none() | st.integers(0, 9000),
    ),
)
speeds = st.builds(Speed, update=st.floats(0.001, 10), scoring=st.floats(0.01, 100), finishing=st.floats(0, 100))


def leaves(recipe: Recipe) -> dict[str, object]:
    """All settings, each under its full name."""
    return {
        f"{section}.{name}": value
        for section, node in dataclasses.asdict(recipe).items()
        if isinstance(node, dict)
        for name, value in node.items()
    }


@given(recipe=partial_recipes, corpus=corpora)
def test_filling_leaves_nothing_open_and_overrides_nothing(recipe: Recipe, corpus: CorpusSize) -> None:
    width, heads = recipe.model.width, recipe.model.heads
    assume(width is None or heads is None or width % heads == 0)
    filled = fill(recipe, corpus)
    given_settings, all_settings = leaves(recipe), leaves(filled)
    assert None not in all_settings.values()
    assert {name: all_settings[name] for name, value in given_settings.items() if value is not None} == {
        name: value for name, value in given_settings.items() if value is not None
    }
    assert check(filled) == filled
    assert fill(filled, CorpusSize(1, 1)) == filled


@given(corpus=corpora)
def test_a_recurrent_model_is_filled_with_what_it_has(corpus: CorpusSize) -> None:
    filled = fill(Recipe(model=Model(kind="recurrent")), corpus)
    open_settings = {name for name, value in leaves(filled).items() if value is None}
    assert open_settings == {"model.heads", "model.feed_forward"}  # which are a Transformer's
    assert check(filled) == filled


@pytest.mark.parametrize(
    "model",
    [
        Model(positions="rotary", heads=3),
        Model(positions="rotary", width=100),
        Model(kind="recurrent", look="dot", decoder_width=100),
    ],
)
def test_what_is_chosen_fits_what_was_given(model: Model) -> None:
    filled = fill(Recipe(model=model), CorpusSize(20_000, 20_000))
    assert check(filled) == filled


def test_what_cannot_be_filled_is_refused_at_once() -> None:
    with pytest.raises(RecipeError, match=r"model.width is 101, but model.two_way halves it"):
        fill(Recipe(model=Model(kind="recurrent", look="dot", decoder_width=101)), CorpusSize(20_000, 20_000))


@given(most=st.floats(0.0, 0.5), epochs=st.lists(st.floats(0.001, 1e5), min_size=2, max_size=2))
def test_more_epochs_need_no_less_dropout(most: float, epochs: list[float]) -> None:
    few, many = (suit_dropout(most, number) for number in sorted(epochs))
    assert few <= many <= most + 0.005
    assert suit_dropout(most, 1) == round(min(most, 0.1), 2)
    assert suit_dropout(most, 1000) == round(most, 2)


@pytest.mark.parametrize(("epochs", "sampled"), [(1, False), (11.9, False), (12, True), (500, True)])
def test_a_corpus_that_is_seen_often_is_cut_at_random(epochs: float, *, sampled: bool) -> None:
    filled = fill(Recipe(), CorpusSize(29_000, 20_000))
    assert (suit(Recipe(), filled, epochs).pieces.sampling == 0.0) is not sampled
    for asked in (0.0, 0.1):
        recipe = Recipe(pieces=Pieces(sampling=asked))
        assert suit(recipe, fill(recipe, CorpusSize(29_000, 20_000)), epochs).pieces.sampling == asked


@pytest.mark.parametrize(("minutes", "judged"), [(None, 1000), (60, 1000), (5, 500), (0.5, 300)])
def test_a_short_promise_leaves_less_to_judge_by(minutes: float | None, judged: int) -> None:
    corpus = CorpusSize(29_000, 20_000)
    assert suit(Recipe(), fill(Recipe(), corpus), 3, minutes).training.judge_pairs == judged
    asked = Recipe(training=Training(judge_pairs=7))
    assert suit(asked, fill(asked, corpus), 3, minutes).training.judge_pairs == 7


def test_effort_is_turned_into_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.training.forecast.forecast_speed", lambda *_: 4000.0)
    recipe = fill(Recipe(), CorpusSize(29_000, 20_000))
    assert Effort(updates=200).epochs(recipe, 6000, 2048 * 100) == 2.0
    short, long = (Effort(minutes=minutes).epochs(recipe, 6000, 400_000) for minutes in (1, 100))
    assert long == pytest.approx(100 * short) == pytest.approx(100 * 60 * 4000 / 400_000)


@given(one=corpora, other=corpora)
def test_more_text_makes_no_smaller_network_and_no_rougher_training(one: CorpusSize, other: CorpusSize) -> None:
    small, large = sorted([one, other], key=lambda corpus: corpus.pairs)
    less, more = fill(Recipe(), small), fill(Recipe(), large._replace(words=max(small.words, large.words)))
    for name in ("encoder_layers", "decoder_layers", "width", "feed_forward"):
        assert getattr(less.model, name) <= getattr(more.model, name)
    assert (less.pieces.size or 0) <= (more.pieces.size or 0)
    assert (less.training.batch_pieces or 0) <= (more.training.batch_pieces or 0)
    assert (less.model.dropout or 0) >= (more.model.dropout or 0)
    assert (less.training.peak_rate or 0) >= (more.training.peak_rate or 0)
    assert count_parameters(less.model, less.pieces.size or 0) <= count_parameters(more.model, more.pieces.size or 0)


@given(corpus=corpora)
def test_no_more_pieces_than_words_could_need(corpus: CorpusSize) -> None:
    assert (fill(Recipe(), corpus).pieces.size or 0) <= max(400, corpus.words + 260)


@pytest.mark.parametrize("heads", [3, 5, 7, 11])
def test_a_width_is_chosen_that_the_given_heads_divide(heads: int) -> None:
    for pairs in (1_000, 10_000, 100_000, 10**6):
        model = fill(Recipe(model=Model(heads=heads)), CorpusSize(pairs, pairs)).model
        assert model.heads == heads
        build(replace(model, encoder_layers=1, decoder_layers=1), vocabulary=5, max_length=7)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda m: f"{m.norm}-{m.positions}-{'tied' if m.tied else 'untied'}")
@pytest.mark.parametrize("layers", [(1, 1), (2, 3)])
def test_parameters_are_counted_as_they_are_built(shape: Model, layers: tuple[int, int]) -> None:
    model = replace(shape, encoder_layers=layers[0], decoder_layers=layers[1])
    network = build(model, vocabulary=31, max_length=41)
    assert count_parameters(model, 31, max_length=41) == sum(p.numel() for p in network.parameters())


def test_a_forecast_is_a_speed() -> None:
    assert 0 < forecast_speed(Recipe(model=TINY), 31) < np.inf


@given(minutes=st.floats(0.1, 2000), elapsed=st.floats(0, 600), speed=speeds)
def test_a_plan_fits_the_time_and_fills_it(minutes: float, elapsed: float, speed: Speed) -> None:
    training = Training(peak_rate=0.003, warmup_updates=400)
    plan = plan_minutes(training, minutes, elapsed, speed)
    updates = plan.schedule.updates
    assert (plan.minutes, plan.finishing) == (minutes, speed.finishing)
    assert 1 <= plan.scorings <= min(training.scorings, updates)
    assume(updates > plan.scorings)
    needed = elapsed + updates * speed.update + plan.scorings * speed.scoring + speed.finishing
    room = minutes * 60 - margin(minutes)
    assert room - speed.update - 1e-6 <= needed <= room + 1e-6
    if plan.scorings > 1:
        assert plan.scorings * speed.scoring <= (room - elapsed - speed.finishing) / 16 + 1e-6


def test_a_plan_without_time_is_one_update_and_one_scoring() -> None:
    plan = plan_minutes(Training(peak_rate=0.003, warmup_updates=400), 0.1, 100.0, Speed(1.0, 1.0, 1.0))
    assert (plan.schedule.updates, plan.scorings) == (1, 1)


@given(updates=st.integers(1, 700), scorings=st.integers(1, 31))
def test_scorings_are_as_many_as_planned_and_the_last_update_is_one(updates: int, scorings: int) -> None:
    plan = plan_updates(Training(peak_rate=0.003, warmup_updates=11, scorings=scorings), updates)
    assert plan.minutes is None
    assert plan.schedule.updates == updates
    scored = [update for update in range(1, updates + 1) if plan.is_scoring(update)]
    assert len(scored) == plan.scorings == min(scorings, updates)
    assert scored[-1] == updates
    gaps = {after - before for before, after in zip([0, *scored], scored, strict=False)}
    assert max(gaps) - min(gaps) <= 1


@given(minutes=st.floats(0.01, 10_000))
def test_the_margin_is_small(minutes: float) -> None:
    assert 0 < margin(minutes) <= min(20, 60 * minutes / 30)


def test_the_papers_base_model_is_the_papers() -> None:
    recipe = read_recipe(BASE)
    filled = fill(recipe, CorpusSize(4_500_000, 10**6))
    own = replace(recipe.training, processes=default_processes("cpu"), precision=default_precision("cpu"))
    own = replace(own, judge_pairs=filled.training.judge_pairs)
    assert replace(recipe, training=own) == filled
    model, training, search = recipe.model, recipe.training, recipe.search
    assert (model.encoder_layers, model.decoder_layers) == (6, 6)
    assert (model.width, model.heads, model.feed_forward, model.dropout) == (512, 8, 2048, 0.1)
    assert (model.norm, model.positions, model.tied) == ("post", "sinusoidal", True)
    assert training.peak_rate == pytest.approx(512**-0.5 * 4000**-0.5, rel=1e-12)
    assert (training.schedule, training.warmup_updates, training.batch_pieces) == ("inverse-root", 4000, 25_000)
    assert (training.adam_betas_first, training.adam_betas_second, training.weight_decay) == (0.9, 0.98, 0)
    assert (recipe.pieces.size, recipe.pieces.sampling, training.label_smoothing) == (37_000, 0, 0.1)
    assert (search.beam, search.length_penalty) == (4, 0.6)
    schedule = plan_updates(training, 100_000).schedule
    for update in (1, 100, 4000, 4001, 100_000):
        assert schedule.rate(update) == pytest.approx(512**-0.5 * min(update**-0.5, update * 4000**-1.5))


@pytest.mark.parametrize("name", ["multi30k-en-de", "en-es-box"])
def test_a_recipe_whose_scores_are_told_leaves_nothing_to_the_corpus(name: str) -> None:
    recipe = read_recipe(BASE.with_name(f"{name}.toml"))
    few, many = (fill(recipe, CorpusSize(pairs, 90_000, 300)) for pairs in (5_000, 5_000_000))
    assert few == many
    assert suit(recipe, few, epochs=1000) == few


def test_the_papers_base_model_has_its_size() -> None:
    recipe = read_recipe(BASE)
    assert recipe.pieces.size is not None
    count = count_parameters(recipe.model, recipe.pieces.size)
    d, f, attention = 512, 2048, 4 * (512 * 512 + 512)
    encoder_layer = attention + (d * f + f) + (f * d + d) + 2 * 2 * d
    decoder_layer = 2 * attention + (d * f + f) + (f * d + d) + 3 * 2 * d
    assert count == 6 * (encoder_layer + decoder_layer) + 37_000 * d + 37_000
    assert f"{count / 1e6:.1f} million" in BASE.read_text(encoding="utf-8")
    assert count == pytest.approx(65e6, rel=0.03)


def test_the_papers_base_model_learns_and_is_exported(tmp_path: Path) -> None:
    """Every layer in its real size; only the vocabulary is a small one."""
    recipe, vocabulary = read_recipe(BASE), 31
    learner = Learner(recipe, vocabulary)
    assert sum(p.numel() for p in learner.network.parameters()) == count_parameters(recipe.model, vocabulary)
    before = learner.averaged()
    loss = learner.update(make_batch([[5, 7, 11], [13]], [[17, 19], [23, 29, 5, 7]]), 1, 0.0007)
    assert 0 < loss < 2 * np.log(vocabulary)
    weights = learner.averaged()
    # A key's bias moves all scores of a query alike, so it has nothing to learn.
    still = [name for name in weights if np.array_equal(weights[name], before[name])]
    assert all(name.endswith("key.bias") for name in still)
    del learner, before
    export(recipe.model, weights, random_pieces(vocabulary), tmp_path / "fast", quantization="float32")
    engine = FastEngine(tmp_path / "fast", threads=1)
    ((found,),) = engine.translate([[5, 7, 11]], replace(recipe.search, max_length=3))
    assert len(found.pieces) <= 3


@pytest.mark.parametrize(("updates", "rate"), [(2000, 1.0), (1200, 0.5), (900, 0.2)])
def test_a_later_end_brings_the_flat_part_back_and_a_sooner_one_decays_at_once(updates: int, rate: float) -> None:
    settings = Training(peak_rate=1.0, warmup_updates=10, decay_share=0.5)
    plan = plan_updates(settings, 1000)
    made = 900 if updates > 900 else 800
    ended = end_otherwise(plan, settings, made, updates)
    assert ended.schedule.updates == updates
    assert ended.schedule.rate(made + 1) == pytest.approx(rate if updates > 900 else plan.schedule.rate(801), abs=0.01)
    assert ended.schedule.rate(updates) < 0.02


def test_more_minutes_are_more_updates_at_the_same_pace() -> None:
    plan = plan_updates(Training(peak_rate=1.0, warmup_updates=10), 1000)._replace(minutes=10.0, finishing=30.0)
    used: dict[str, Any] = {"elapsed": 300.0, "made": 500}
    left = 1200 - margin(20.0) - 30 - 300
    assert plan.updates_in(20.0, **used, learning=300.0) == 500 + int(left * 500 / 300)
    assert plan.updates_in(20.0, **used, learning=100.0) == 500 + int(left * 5), "preparing is no pace to go on at"
    assert plan.updates_in(5.0, **used, learning=300.0) < 500


def test_a_later_end_has_room_for_more_scorings() -> None:
    settings = Training(peak_rate=1.0, warmup_updates=10, scorings=12)
    short = plan_updates(settings, 3)
    assert short.scorings == 3
    assert end_otherwise(short, settings, 3, 20_000).scorings == 12
    promised = short._replace(minutes=2.0)
    assert end_otherwise(promised, settings, 3, 20_000).scorings == 3, "as many as there is time for"


@pytest.mark.parametrize(
    ("device", "able", "expected"),
    [("cpu", True, "bfloat16"), ("cpu", False, "float32"), ("cuda", False, "bfloat16")],
)
def test_rough_products_are_taken_where_they_are_faster(
    device: Any, able: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.training.sizes.multiplies_bfloat16", lambda: able)
    recipe = Recipe(training=Training(device=device))
    assert fill(recipe, CorpusSize(1000, 1000)).training.precision == expected
    exact = replace(recipe, training=replace(recipe.training, precision="float32"))
    assert fill(exact, CorpusSize(1000, 1000)).training.precision == "float32"


def test_the_processor_is_known_as_pytorch_knows_it() -> None:
    theirs = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    assert multiplies_bfloat16() == theirs
