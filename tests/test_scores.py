import random
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest, Result

from dragoman.errors import DataError
from dragoman.evaluation.compare import compare, estimate
from dragoman.evaluation.scores import by_source, chrf, metrics, score, sentence_chrf

WORDS = tuple("the a cat dog sat on mat big red house and then ran away".split())  # noqa: SIM905
LINES = 53


def lines(seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(5, 13))) for _ in range(LINES)]


def damaged(texts: list[str], share: float, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split()) for text in texts]


REFERENCES = lines(1)
GOOD, BAD = damaged(REFERENCES, 0.1, 2), damaged(REFERENCES, 0.5, 3)


def test_scores_are_sacrebleus() -> None:
    found = score(GOOD, REFERENCES)
    assert found.bleu.value == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score
    assert found.chrf.value == sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score
    assert found.ter.value == sacrebleu.corpus_ter(GOOD, [REFERENCES]).score
    assert chrf(GOOD, REFERENCES) == found.chrf.value


def test_scores_say_how_they_were_counted() -> None:
    found = score(GOOD, REFERENCES)
    assert [one.name for one in found] == ["BLEU", "chrF2", "TER"]
    assert found.bleu.signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    assert str(found.bleu) == f"BLEU {found.bleu.value:.1f} ({found.bleu.signature})"
    assert "nrefs:2" in score(GOOD, REFERENCES, BAD).ter.signature


def test_the_right_answer_is_perfect() -> None:
    found = score(REFERENCES, REFERENCES)
    assert [round(one.value, 9) for one in found] == [100, 100, 0]


def test_a_source_with_several_translations_is_scored_once_against_all_of_them() -> None:
    sources, references = ["a", "b", "a", "a"], ["the first", "of b here", "the second one", "some third"]
    each = by_source(sources, references)
    assert each is not None
    assert each.lines == [0, 1]
    assert each.references == [("the first", "of b here"), ("the second one", None), ("some third", None)]
    found = ["the second one", "of b there"]
    once = score(found, *each.references)
    assert once.chrf.value > score(found, references[:2]).chrf.value
    assert once.bleu.signature.startswith("nrefs:var|")
    assert [one.estimate.score for one in estimate(found, *each.references)] == [one.value for one in once]
    assert by_source([str(number) for number in range(len(GOOD))], REFERENCES) is None


def test_another_reference_does_not_hurt() -> None:
    one, two = score(GOOD, REFERENCES), score(GOOD, REFERENCES, BAD)
    assert two.bleu.value >= one.bleu.value
    assert two.chrf.value >= one.chrf.value
    assert two.ter.value <= one.ter.value
    assert score(GOOD, REFERENCES, GOOD).ter.value == 0


@pytest.mark.parametrize(("language", "words"), [("zh-Hant", "zh"), ("ja", "char"), ("th", "char"), ("de", "13a")])
def test_words_are_told_apart_by_language(language: str, words: str) -> None:
    found = score(["今天 下雨。"], ["今天 下雪。"], language=language)
    assert f"tok:{words}" in found.bleu.signature
    assert f"asian:{'no' if words == '13a' else 'yes'}" in found.ter.signature


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5))
def test_any_text_can_be_scored(pairs: list[tuple[str, str]]) -> None:
    found = score([a for a, _ in pairs], [b for _, b in pairs])
    assert 0 <= found.chrf.value <= 100 + 1e-9
    assert 0 <= found.bleu.value <= 100 + 1e-9
    assert found.ter.value >= 0


def test_mistakes_are_told() -> None:
    with pytest.raises(DataError, match="there are 53 translations, but 2 references") as caught:
        score(GOOD, ["a", "b"])
    assert "line n" in caught.value.hint
    with pytest.raises(DataError, match="there are 2 translations, but 53 references"):
        compare(GOOD, ["a", "b"], REFERENCES)
    with pytest.raises(DataError, match="there are no translations to score"):
        chrf([], [])
    with pytest.raises(TypeError, match="lists of texts, not one text"):
        score("abc", ["a", "b", "c"])
    with pytest.raises(TypeError, match="there is no reference"):
        score(GOOD)


def test_the_comparison_is_sacrebleus() -> None:
    near = damaged(REFERENCES, 0.12, 5)
    test = PairedTest([("a", GOOD), ("b", near)], metrics(), [REFERENCES], "bs", 101)
    signatures, results = test()
    for found in compare(GOOD, near, REFERENCES, samples=101):
        first, second = results[found.name]
        assert isinstance(first, Result)
        assert isinstance(second, Result)
        assert found.p_value == second.p_value
        assert found.signature == str(signatures[found.name])
        assert (found.first.score, found.second.score) == (first.score, second.score)
        assert [found.first.mean, found.second.mean] == pytest.approx([first.mean, second.mean], rel=1e-5)
        assert found.difference.score == second.score - first.score


def test_a_clear_difference_is_seen_whichever_comes_first() -> None:
    for one, other in zip(compare(GOOD, BAD, REFERENCES), compare(BAD, GOOD, REFERENCES), strict=True):
        assert one.p_value == other.p_value < 0.01
        assert one.first == other.second
        assert one.difference.score == -other.difference.score
        assert one.difference.low * one.difference.high > 0
        assert one.first.low <= one.first.mean <= one.first.high


NEAR = damaged(REFERENCES, 0.2, 7)
NUMBERS = list(range(LINES))


@pytest.mark.parametrize("in_turn", [True, False])
def test_the_same_lines_over_again_make_nothing_surer(*, in_turn: bool) -> None:
    def thrice(lines: list[Any]) -> list[Any]:
        return lines * 3 if in_turn else [line for line in lines for _ in range(3)]

    once = compare(GOOD, NEAR, REFERENCES, samples=31)
    again = compare(*map(thrice, (GOOD, NEAR, REFERENCES)), samples=31, sources=thrice(NUMBERS))
    alone = estimate(*map(thrice, (GOOD, REFERENCES)), samples=31, sources=thrice(NUMBERS))
    unaware = compare(*map(thrice, (GOOD, NEAR, REFERENCES)), samples=31)
    for one, three, single, seeming in zip(once, again, alone, unaware, strict=True):
        assert three.difference == pytest.approx(one.difference)
        assert three.p_value == one.p_value
        assert single.estimate == pytest.approx(one.first)
        assert seeming.difference.high - seeming.difference.low < one.difference.high - one.difference.low


def test_where_every_source_differs_lines_are_drawn_as_ever() -> None:
    assert compare(GOOD, NEAR, REFERENCES, samples=31, sources=NUMBERS) == compare(GOOD, NEAR, REFERENCES, samples=31)
    assert estimate(GOOD, REFERENCES, samples=31, sources=NUMBERS) == estimate(GOOD, REFERENCES, samples=31)
    with pytest.raises(ValueError, match="52 sources of 53 translations"):
        estimate(GOOD, REFERENCES, sources=NUMBERS[1:])


def test_one_source_says_nothing_however_many_references_it_has() -> None:
    for found in compare(GOOD, BAD, REFERENCES, sources=["the same"] * LINES):
        assert (found.p_value, found.verdict) == (1.0, "unsure")


def test_the_verdict_says_which_is_better_whether_more_or_less_is() -> None:
    assert [one.verdict for one in compare(BAD, GOOD, REFERENCES)] == ["better"] * 3
    assert [one.verdict for one in compare(GOOD, BAD, REFERENCES)] == ["worse"] * 3
    assert [one.verdict for one in compare(GOOD, GOOD, REFERENCES)] == ["unsure"] * 3


@pytest.mark.parametrize(
    ("few", "verdict"), [(1, "unsure"), (2, "unsure"), (5, "unsure"), (6, "better"), (9, "better")]
)
def test_of_few_lines_luck_may_put_all_on_one_side(few: int, verdict: str) -> None:
    references = [f"the dog number {n} sees a small cat" for n in range(few)]
    worse, better = ([f"the dog number {n} {end}" for n in range(few)] for end in ("saw a cat", "sees a cat"))
    for found in compare(worse, better, references):
        assert found.verdict == verdict
        assert found.p_value == max(2 ** (1 - few), 1 / 1001)


def test_one_system_has_the_intervals_that_it_has_beside_another() -> None:
    for alone, beside in zip(estimate(GOOD, REFERENCES), compare(GOOD, BAD, REFERENCES), strict=True):
        assert alone == (beside.name, beside.signature, beside.first)
    with pytest.raises(DataError, match="there are 53 translations, but 2 references"):
        estimate(GOOD, ["a", "b"])


def test_a_sentence_has_the_score_of_a_text_of_its_own() -> None:
    assert sentence_chrf(BAD, REFERENCES) == [chrf([a], [b]) for a, b in zip(BAD, REFERENCES, strict=True)]


def test_a_system_is_no_better_than_itself() -> None:
    for found in compare(GOOD, GOOD, REFERENCES, samples=23):
        assert found.p_value == 1
        assert found.difference == (0, 0, 0, 0)


def test_the_seed_decides() -> None:
    first, again, other = (compare(GOOD, BAD, REFERENCES, samples=11, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert "seed:1|" in first[0].signature
