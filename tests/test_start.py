"""Training that starts from a model: what is kept, what is refused, and what it says of before and after."""

import dataclasses
import itertools
import os
import re
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.checkpoint import ATTRIBUTION, ModelDirectory, hash_file, write_json
from dragoman.config import Model, Recipe, Training
from dragoman.data.grammar import generate
from dragoman.errors import DataError, InterruptedByUserError, ModelError, TrainingError
from dragoman.jobs.change import FORGOTTEN, change_caveats, change_rows
from dragoman.jobs.events import Noted, Planned
from dragoman.jobs.judge import Judge
from dragoman.jobs.start import PASSES, WARMUP_UPDATES, start_recipe
from dragoman.jobs.train import train
from dragoman.training.events import Updated
from dragoman.training.loop import Judged
from run_command import Cli
from tiny_model import MAX_PIECES, RECIPE, TINY, make_tiny_model, tiny_tokenizer

SMALL = ["training.batch_pieces=512", "training.scorings=2", "training.score_pairs=3", "training.judge_pairs=5"]
SMALL += ["training.processes=1"]
OLD_RATE = 0.01
KEPT = "Nothing that was learned scored better on dev: the model is the one that it began from, old-model."
CREDIT = "Sentences by Tatoeba's people, CC BY 2.0 FR.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recipe = dataclasses.replace(RECIPE, training=Training(peak_rate=OLD_RATE, momentum=0.9, warmup_updates=4000))
    return credited(make_tiny_model(tmp_path_factory.mktemp("start") / "old-model", recipe=recipe))


def credited(model: Path) -> Path:
    """Let a model say from whose text it has learned."""
    (model / ATTRIBUTION).write_text(CREDIT, encoding="utf-8")
    card = ModelDirectory(model).card
    write_json(model / "card.json", {**card, "sha256": {**card["sha256"], ATTRIBUTION: hash_file(model / ATTRIBUTION)}})
    return model


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = tmp_path_factory.mktemp("texts")
    for name, count, seed in (("new", 120, 11), ("old", 300, 12), ("old-test", 7, 13)):
        write(room / f"{name}.tsv", [(e.source, e.target) for e in generate(count, seed=seed)])
    return room


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return write(tmp_path / "few.tsv", [(e.source, e.target) for e in generate(70, seed=11)])


def write(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(model: Path, texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        become_better(patch)
        return start(model, texts, tmp_path_factory.mktemp("whole") / "model")


def become_better(patch: pytest.MonkeyPatch) -> None:
    """Let every scoring find better weights than the one before."""
    scores = itertools.count(1.0)
    patch.setattr(Judge, "score", lambda *_: Judged(next(scores), ("", "", "")))


def start(model: Path, texts: Path, out: Path, **more: Any) -> Path:
    return train(
        [texts / "new.tsv"],
        out=out,
        start=model,
        mix=[texts / "old.tsv"],
        old_test=[texts / "old-test.tsv"],
        steps=12,
        settings=SMALL,
        **more,
    )


def test_vocabulary_and_network_are_kept_and_the_weights_move(model: Path, whole: Path) -> None:
    before, after = ModelDirectory(model), ModelDirectory(whole)
    assert after.tokenizer() == before.tokenizer()
    assert dataclasses.replace(after.recipe.model, dropout=0.0) == before.recipe.model
    old, new = before.weights(), after.weights()
    assert [name for name in old if np.array_equal(old[name], new[name])] == []


def test_rate_and_warm_up_suit_a_model_that_has_learned(whole: Path) -> None:
    recipe = ModelDirectory(whole).recipe
    assert recipe.training.peak_rate == OLD_RATE
    assert recipe.training.warmup_updates == WARMUP_UPDATES
    assert recipe.training.momentum == 0.9, "how the weights are moved is the model's own"


def test_a_model_that_had_a_start_keeps_its_rate(whole: Path) -> None:
    recipe = start_recipe(ModelDirectory(whole), None, [], ("", ""))
    assert recipe.training.peak_rate == OLD_RATE


def test_sentences_are_joined_as_before(tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, training=Training(peak_rate=OLD_RATE, joined=0.1))
    own = make_tiny_model(tmp_path / "joined", recipe=recipe, kinds=())
    assert start_recipe(ModelDirectory(own), None, [], ("", "")).training.joined == 0.1


@pytest.mark.parametrize(("own", "taken"), [(0.0, None), (0.3, 0.3)])
def test_pieces_are_sampled_as_before_or_as_suits_the_new_text(own: float, taken: float | None, tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, pieces=dataclasses.replace(RECIPE.pieces, sampling=own))
    model = make_tiny_model(tmp_path / "sampled", recipe=recipe, kinds=())
    assert start_recipe(ModelDirectory(model), None, [], ("", "")).pieces.sampling == taken


def test_another_greatest_length_may_be_asked_for_unless_every_place_has_weights(model: Path, tmp_path: Path) -> None:
    longer = ["pieces.max_length=300"]
    assert start_recipe(ModelDirectory(model), None, longer, ("", "")).pieces.max_length == 300
    own = make_tiny_model(tmp_path / "learned", model=dataclasses.replace(TINY, positions="learned"), kinds=())
    with pytest.raises(TrainingError, match=rf"pieces\.max_length is {MAX_PIECES} there, and 300 was asked for"):
        start_recipe(ModelDirectory(own), None, longer, ("", ""))


@pytest.mark.parametrize("bettered", [False, True])
def test_a_start_that_is_not_bettered_is_kept(
    model: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, bettered: bool
) -> None:
    scores = iter([5.0, 6.0, 7.0] if bettered else [5.0, 4.0, 3.0])
    monkeypatch.setattr(Judge, "score", lambda *_: Judged(next(scores), ("", "", "")))
    out = train([texts / "new.tsv"], out=tmp_path / "m", start=model, steps=4, settings=SMALL)
    assert ModelDirectory(out).card["training"]["best_update"] == (4 if bettered else 0)
    told = (out / "report.md").read_text(encoding="utf-8")
    said = [KEPT in told, "## Before and after" in told, FORGOTTEN in told]
    assert said == ([False, True, True] if bettered else [True, False, False])
    if not bettered:
        assert_same_weights(model, out)
        assert told.index(KEPT) < told.index("\n## ")


def test_what_a_person_says_wins(model: Path) -> None:
    asked = Recipe(training=Training(peak_rate=0.5), model=Model(dropout=0.25))
    recipe = start_recipe(ModelDirectory(model), asked, ["training.warmup_updates=7", "search.beam=2"], ("", ""))
    assert (recipe.training.peak_rate, recipe.training.warmup_updates) == (0.5, 7)
    assert (recipe.model.dropout, recipe.search.beam, recipe.search.max_length) == (0.25, 2, RECIPE.search.max_length)
    assert (recipe.source_language, recipe.target_language) == ("en", "es")


def test_the_card_names_the_model_and_tells_before_and_after(model: Path, whole: Path) -> None:
    told = ModelDirectory(whole).card["start"]
    assert told["name"] == "old-model"
    assert told["sha256"] == ModelDirectory(model).card["sha256"]["weights.safetensors"]
    assert (told["new"]["pairs"], told["old"]["pairs"]) == (5, 7)
    for text in ("new", "old"):
        for metric in ("bleu", "chrf", "ter"):
            one = told[text][metric]
            difference, low, high = one["difference"]
            assert low <= high
            assert difference == pytest.approx(one["after"]["score"] - one["before"]["score"], abs=0.011)
            for when in ("before", "after"):
                assert one[when]["signature"].startswith("nrefs:1|bs:1000|seed:12345")
    assert told["new"]["chrf"]["after"]["score"] == ModelDirectory(whole).card["dev"]["chrf"]["score"]


def test_the_report_holds_the_table(whole: Path) -> None:
    told = (whole / "report.md").read_text(encoding="utf-8")
    assert "## Before and after\n\nThe training began from the model old-model (weights " in told
    start = ModelDirectory(whole).card["start"]
    for row in change_rows(start):
        assert "| " + " | ".join(row) + " |" in told
    for caveat in change_caveats(start):
        assert f"\n{caveat}\n" in told
    assert "On 5 pairs that this training did not see, though old-model, from which it began, may have: BLEU" in told
    assert "\n- text: new.tsv\n- mixed in: old.tsv\n- old domain: old-test.tsv\n" in told
    assert re.search(r"held out\. \d+ others were mixed in, 30% of each epoch, drawn from \d+ that were left", told)


def test_at_rate_zero_the_model_comes_out_as_it_went_in(model: Path, texts: Path, tmp_path: Path) -> None:
    out = train(
        [texts / "new.tsv"], out=tmp_path / "m", start=model, steps=3, settings=[*SMALL, "training.peak_rate=0"]
    )
    assert_same_weights(model, out)
    told = ModelDirectory(out).card["start"]
    assert "old" not in told
    assert "what it may have forgotten is not known" in (out / "report.md").read_text(encoding="utf-8")
    float32 = ModelDirectory(out).card["fast"]["float32"]["chrf"]  # which is what the model used before
    assert told["new"]["chrf"]["before"]["score"] == pytest.approx(float32, abs=0.006)


def assert_same_weights(one: Path, other: Path) -> None:
    ours, theirs = (ModelDirectory(path).weights() for path in (one, other))
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if not np.array_equal(ours[name], theirs[name])] == []


def test_whose_text_stands_in_the_weights_is_not_forgotten(whole: Path) -> None:
    told = ModelDirectory(whole).attribution()
    assert told is not None
    assert told.decode() == (
        "This model began from old-model, and went on learning from other text, of which nothing is said here. "
        f"Of old-model:\n\n{CREDIT}"
    )


def test_a_recurrent_model_goes_on_too(few: Path, tmp_path: Path) -> None:
    sizes = ["model.kind=recurrent", "model.encoder_layers=1", "model.decoder_layers=1", "model.width=14"]
    sizes += ["pieces.size=420", "search.max_length=19", "search.beam=2", "training.scorings=1"]
    languages = {"source_language": "en", "target_language": "es"}
    old = train([few], out=tmp_path / "old", steps=2, settings=[*SMALL, *sizes], **languages)  # type: ignore[arg-type]
    new = train([few], out=tmp_path / "new", start=old, steps=1, settings=[*SMALL, "training.peak_rate=0"])
    assert_same_weights(old, new)
    assert ModelDirectory(new).recipe.model.look == "mlp"
    change = ModelDirectory(new).card["start"]["new"]["chrf"]
    assert (change["verdict"], change["difference"]) == ("unsure", [0, 0, 0])


def test_taken_up_again_it_needs_nothing_else_and_ends_with_the_same_weights(
    model: Path, texts: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become_better(monkeypatch)
    copied, own = shutil.copytree(model, tmp_path / "old-model"), shutil.copytree(texts, tmp_path / "texts")

    def stop(event: object) -> None:
        if isinstance(event, Updated) and event.update == 5:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(InterruptedByUserError, match="saved after update 5 of 12"):
        start(copied, own, tmp_path / "m", observe=stop)
    shutil.rmtree(copied)
    shutil.rmtree(own)
    out = train(out=tmp_path / "m", resume=True)
    assert_same_weights(out, whole)
    ours, theirs = (ModelDirectory(path).card["start"] for path in (out, whole))
    assert ours == theirs
    assert not (out / "run" / "start").exists()


def test_a_copy_that_was_changed_is_not_gone_on_with(model: Path, texts: Path, tmp_path: Path) -> None:
    def stop(event: object) -> None:
        if isinstance(event, Planned):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(InterruptedByUserError):
        start(model, texts, tmp_path / "m", observe=stop)
    damage(tmp_path / "m" / "run" / "start" / "recipe.toml")
    with pytest.raises(ModelError, match=r"start/recipe.toml: is not the file that was written"):
        train(out=tmp_path / "m", resume=True)


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)


def test_without_a_length_the_text_is_seen_a_few_times(model: Path, few: Path, tmp_path: Path) -> None:
    planned: list[Planned] = []
    epochs: list[int] = []

    def watch(event: object) -> None:
        if isinstance(event, Planned):
            planned.append(event)
        elif isinstance(event, Updated):
            epochs.append(event.epoch)

    settings = [*SMALL, "training.batch_pieces=2048", "training.scorings=1"]
    out = train([few], out=tmp_path / "m", start=model, settings=settings, observe=watch)
    assert planned[0].updates == len(epochs)
    assert sorted(set(epochs)) == list(range(PASSES))
    assert ModelDirectory(out).card["training"]["steps"] is None


def test_as_much_of_the_old_domain_as_was_asked_for_is_mixed_in(model: Path, texts: Path, tmp_path: Path) -> None:
    new = [(e.source, e.target) for e in generate(120, seed=11)]
    held_out = [(e.source, e.target) for e in generate(7, seed=13)]
    write(tmp_path / "old.tsv", [*((e.source, e.target) for e in generate(100, seed=12)), *held_out])
    out = train(
        [texts / "new.tsv"],
        out=tmp_path / "m",
        start=model,
        mix=[tmp_path / "old.tsv"],
        mix_share=0.25,
        old_test=[texts / "old-test.tsv"],
        steps=1,
        settings=SMALL,
    )
    corpus = ModelDirectory(out).card["corpus"]
    kept = len(set(new)) - corpus["held_out"]
    assert corpus["mixed"]["dropped"]["test-leak"] == len(held_out)
    assert corpus["mixed"]["used"] == round(kept / 3)
    assert corpus["pairs"] + corpus["too_many_pieces"] == kept + corpus["mixed"]["used"]


def test_characters_that_the_vocabulary_cannot_spell_are_told(model: Path, tmp_path: Path) -> None:
    write(tmp_path / "new.tsv", [(f"{e.source} жук", f"{e.target} ш") for e in generate(80, seed=2)])
    said: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, Noted):
            said.append(event.text)

    out = train([tmp_path / "new.tsv"], out=tmp_path / "m", start=model, steps=1, settings=SMALL, observe=hear)
    (told,) = said
    match = re.fullmatch(
        r"the vocabulary does not know (\d+) of the text's characters \((.*)\) and spells them in bytes: "
        r"(.*) % of the pieces",
        told,
    )
    assert match is not None
    count, characters, percent = match.groups()
    assert {"ж", "у", "к", "ш"} <= set(characters.split())
    assert int(count) == len(characters.split())
    assert 1 < float(percent) < 50
    assert f"T{told[1:]}.\n" in (out / "report.md").read_text(encoding="utf-8")


def refused(model: Path, texts: Path, out: Path, **asked: Any) -> None:
    try:
        train([texts / "new.tsv"], out=out, **{"start": model, "steps": 1, **asked})
    finally:
        assert not out.exists()


def test_what_is_no_model_is_refused(model: Path, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere: no such model directory"):
        refused(tmp_path / "nowhere", texts, tmp_path / "m")
    with pytest.raises(ModelError, match=r"holds no finished model \(card.json is missing\)"):
        refused(texts, texts, tmp_path / "m")
    broken = shutil.copytree(model, tmp_path / "broken")
    damage(broken / "weights.safetensors")
    with pytest.raises(ModelError, match=r"weights.safetensors: is not the file that was written"):
        refused(broken, texts, tmp_path / "m")


def test_other_languages_are_refused(model: Path, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="old-model translates en to es, but en to de was asked for"):
        refused(model, texts, tmp_path / "m", target_language="de")
    with pytest.raises(TrainingError, match="old-model translates en to es, but fr to es was asked for"):
        refused(model, texts, tmp_path / "m", settings=["source_language=fr"])
    for language in ("en", "de"):
        (tmp_path / f"t.{language}").write_text("word\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"t.es does not exist; files of this name have the suffixes de, en"):
        train([tmp_path / "t.en", tmp_path / "t.de"], out=tmp_path / "m", start=model, steps=1)


def test_a_region_is_no_other_language(model: Path, tmp_path: Path) -> None:
    """The text is chosen by the codes that were given; the model keeps its own."""
    examples = list(generate(70, seed=11))
    path = memory(tmp_path / "m.tmx", [(("en-US", e.source), ("es-ES", e.target), ("es-MX", "no")) for e in examples])
    asked = {"source_language": "en-US", "target_language": "es-ES"}
    out = train([path], out=tmp_path / "m", start=model, steps=1, settings=SMALL, **asked)  # type: ignore[arg-type]
    made = ModelDirectory(out)
    assert (made.recipe.source_language, made.recipe.target_language) == ("en", "es")
    assert (made.card["from"], made.card["to"], made.card["corpus"]["read"]) == ("en", "es", len(examples))


def test_a_file_without_the_models_languages_is_no_reason_to_name_others(model: Path, tmp_path: Path) -> None:
    path = memory(tmp_path / "m.tmx", [(("en-US", "yes"), ("fr-FR", "oui"))])
    with pytest.raises(DataError, match=r"m\.tmx: no unit has both en and es; it has en-US, fr-FR") as caught:
        train([path], out=tmp_path / "m", start=model, steps=1)
    assert caught.value.hint == (
        "the model translates en to es, and there is no such pair; take another file or another model"
    )


def test_a_region_that_is_not_there_may_be_left_out(model: Path, tmp_path: Path) -> None:
    path = memory(tmp_path / "m.tmx", [(("en-GB", "yes"), ("es-MX", "sí"))])
    asked = {"source_language": "en-US", "target_language": "es-ES"}
    with pytest.raises(DataError, match=r"m\.tmx: no unit has both en-US and es-ES; it has en-GB, es-MX") as caught:
        train([path], out=tmp_path / "m", start=model, steps=1, **asked)  # type: ignore[arg-type]
    assert caught.value.hint == (
        "the model translates en to es; leave --from and --to out, and all that is en and es is read"
    )


def memory(path: Path, units: Sequence[Sequence[tuple[str, str]]]) -> Path:
    told = "".join(
        "<tu>" + "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in unit) + "</tu>\n"
        for unit in units
    )
    path.write_text(f'<tmx version="1.4"><header/><body>{told}</body></tmx>', encoding="utf-8")
    return path


def test_swapped_columns_are_told(model: Path, few: Path, tmp_path: Path) -> None:
    said: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, Noted):
            said.append(event.text)

    train([Path(f"{few}:2,1")], out=tmp_path / "m", start=model, steps=1, settings=SMALL, observe=hear)
    told, *_ = said  # and what the vocabulary cannot spell
    assert told.startswith("the sources look like Spanish and the targets like English, but are read as English to ")
    assert told.endswith("are they swapped? few.tsv:1,2 reads the columns the other way round")
    assert ModelDirectory(tmp_path / "m").card["corpus"]["swapped"] == told


def test_another_shape_is_refused_and_both_are_named(model: Path, texts: Path, tmp_path: Path) -> None:
    message = (
        rf"old-model cannot change its shape: model.width is {TINY.width} there, and 40 was asked for; "
        rf"pieces.size is {len(tiny_tokenizer())} there, and 900 was asked for"
    )
    with pytest.raises(TrainingError, match=message):
        refused(model, texts, tmp_path / "m", settings=["model.width=40", "pieces.size=900"])
    with pytest.raises(TrainingError, match=f"model.heads is {TINY.heads} there, and 7 was asked for"):
        refused(model, texts, tmp_path / "m", recipe=Recipe(model=Model(heads=7)))


def test_a_default_that_is_asked_for_by_name_counts_as_asked_for(texts: Path, tmp_path: Path) -> None:
    own = make_tiny_model(tmp_path / "post", model=dataclasses.replace(TINY, norm="none"), kinds=())
    with pytest.raises(TrainingError, match=r"model.norm is none there, and pre was asked for"):
        refused(own, texts, tmp_path / "m", settings=["model.norm=pre"])


def test_a_default_in_a_recipe_file_counts_as_asked_for(cli: Cli, texts: Path, tmp_path: Path) -> None:
    own = make_tiny_model(tmp_path / "post", model=dataclasses.replace(TINY, norm="none"), kinds=())
    file = tmp_path / "mine.toml"
    file.write_text('source_language = "en-GB"\n[model]\nnorm = "pre"\n', encoding="utf-8")
    words = ("train", texts / "new.tsv", "--start", own, "--recipe", file, "--out", tmp_path / "m", "--steps", "2")
    said = cli(*words)
    assert said.code == 1
    assert "model.norm is none there, and pre was asked for" in " ".join(said.err.split())
    recipe = start_recipe(ModelDirectory(own), None, ["training.momentum=0.95", "source_language=en-GB"], ("en-US", ""))
    assert (recipe.source_language, recipe.training.momentum) == ("en-US", 0.95)


def test_the_old_domain_is_judged_by_what_the_model_held_out_itself(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become_better(monkeypatch)
    own = make_tiny_model(tmp_path / "own")
    (own / "run").mkdir()
    held_out = [(e.source, e.target) for e in generate(11, seed=17)]
    new = [tuple(line.split("\t")) for line in (texts / "new.tsv").read_text(encoding="utf-8").splitlines()]
    write(own / "run" / "dev.tsv", [*held_out, *new[:3]])  # type: ignore[list-item]
    write(tmp_path / "old.tsv", held_out[:7] + [(e.source, e.target) for e in generate(40, seed=12)])
    out = train(
        [texts / "new.tsv"],
        out=tmp_path / "m",
        start=own,
        mix=[tmp_path / "old.tsv"],
        steps=2,
        settings=[*SMALL, "training.judge_pairs=50"],
    )
    card = ModelDirectory(out).card
    assert len({source for source, _ in held_out}) == 11
    assert card["start"]["old"]["pairs"] == 11 - len({s for s, _ in held_out} & {s for s, _ in new})
    assert card["corpus"]["mixed"]["dropped"]["test-leak"] == 7
    caveats = change_caveats(card["start"])
    assert caveats[-1].startswith("The old domain is what own held out itself, and chose its weights by; --old-test")
    assert FORGOTTEN not in caveats


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"start": None, "old_test": ["b.tsv"]}, "--old-test can only be given together with --start"),
        ({"mix_share": 0.5}, "--mix-share can only be given together with --mix"),
        ({"mix": ["a.tsv"], "mix_share": 1.0}, "--mix-share is 1, but must be above 0 and below 1"),
        ({"minutes": 3.0}, "say how long to train, in one way"),
        ({"steps": 0}, "there is no time to train in"),
    ],
)
def test_what_does_not_go_together(
    asked: dict[str, Any], message: str, model: Path, texts: Path, tmp_path: Path
) -> None:
    with pytest.raises(TrainingError, match=message):
        refused(model, texts, tmp_path / "m", **asked)


def test_nothing_to_mix_in(model: Path, texts: Path, tmp_path: Path) -> None:
    write(tmp_path / "empty.tsv", [("", "")])
    with pytest.raises(DataError, match="no pair of 1 is left to mix in"):
        refused(model, texts, tmp_path / "m", mix=[tmp_path / "empty.tsv"])


def test_nothing_is_left_of_a_text_whose_sources_are_all_alike(model: Path, tmp_path: Path) -> None:
    write(
        tmp_path / "new.tsv",
        [(("It is here, then.", "it is here, THEN.")[n % 2], e.target) for n, e in enumerate(generate(70, seed=2))],
    )
    with pytest.raises(DataError, match="every source is the same text, but for capitals and white space"):
        refused(model, tmp_path, tmp_path / "m")


def test_resume_takes_no_model_to_start_from(model: Path, whole: Path) -> None:
    with pytest.raises(TrainingError, match="it does not take --start, --mix-share"):
        train(out=whole, start=model, mix_share=0.5, resume=True)


@pytest.mark.parametrize("old_test", [False, True])
def test_the_command_ends_with_the_table_and_what_it_cannot_tell(
    cli: Cli, model: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, old_test: bool
) -> None:
    become_better(monkeypatch)
    settings = [word for setting in SMALL for word in ("--set", setting)]
    asked = ["--old-test", texts / "old-test.tsv"] if old_test else []
    said = cli(
        "train", texts / "new.tsv", "--start", model, *asked, "--steps", 2, "--out", tmp_path / "m", *settings
    )  # fmt: skip
    assert said.code == 0, said.err
    assert said.out.startswith("Before (old-model) and after\n")
    told = ModelDirectory(tmp_path / "m").card["start"]
    rows = change_rows(told)
    assert [line.split()[:3] for line in said.out.splitlines()[3:]] == [row[0].split() for row in rows]
    assert f"report: {tmp_path / 'm' / 'report.html'}" in said.err
    assert said.err.endswith("".join(f"note: {caveat}\n" for caveat in change_caveats(told)))
    assert (FORGOTTEN in said.err) != old_test


def test_the_command_says_that_nothing_better_was_learned(
    cli: Cli, model: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = itertools.count(9.0, -1.0)
    monkeypatch.setattr(Judge, "score", lambda *_: Judged(next(scores), ("", "", "")))
    settings = [word for setting in SMALL for word in ("--set", setting)]
    said = cli("train", texts / "new.tsv", "--start", model, "--steps", 2, "--out", tmp_path / "m", *settings)
    assert (said.code, said.out) == (0, ""), said.err
    assert said.err.endswith(f"\nnote: {KEPT}\n")
    assert FORGOTTEN not in said.err
