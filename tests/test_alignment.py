import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine.base import Head
from dragoman.engine.links import locate, shares
from dragoman.evaluation.alignment import (
    alignment_error_rate,
    best_head,
    lexical_links,
    links_from_attention,
)

LINKS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)))


def spell(text: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in text.encode()]


# From attention to links


def test_pieces_are_merged_into_words() -> None:
    source = ["▁the", "▁c", "at", "▁sleep", "s"]
    target = ["▁die", "▁Kat", "ze", "▁schläft"]
    weights = np.array(
        [[0.9, 0.1, 0, 0, 0], [0.3, 0.2, 0.25, 0.1, 0], [0.1, 0.2, 0.4, 0.3, 0], [0, 0.35, 0, 0.3, 0.3]],
        np.float32,
    )
    assert links_from_attention(weights, source, target) == {(0, 0), (1, 1), (2, 2)}


@given(st.lists(st.sampled_from(["▁", "▁a", "b", "▁cd", *spell("é"), *spell("日"), "<unk>", "</s>"]), max_size=13))
def test_every_word_has_pieces_and_pieces_are_whole(pieces: list[str]) -> None:
    text, spans = locate(pieces)
    found = shares(pieces)
    assert found.shape == (len(pieces), len(text.split()))
    assert (found.sum(axis=0) > 0).all()
    total = found.sum(axis=1)
    assert np.all(np.isclose(total, 1) | (total < 1))
    for (start, end), share in zip(spans, total, strict=True):
        if text[start:end].strip():
            assert share == pytest.approx(1)


@given(st.text(st.sampled_from("aé日 "), max_size=7))
def test_spelt_characters_stand_in_their_words(text: str) -> None:
    assert locate(spell(text)).text == text
    plain, spelt = shares(list(text)), shares(spell(text))
    at = [number for number, character in enumerate(text) for _ in character.encode()]
    np.testing.assert_array_equal(spelt, plain[at] if at else spelt)


def test_bytes_that_are_no_character_do_no_harm() -> None:
    assert shares(["▁a", "<0xFF>", "<0xE2>", "▁b"]).argmax(axis=1).tolist() == [0, 0, 0, 1]


def test_words_can_be_given() -> None:
    source, target = ["▁The", "▁dog", "s", "."], ["▁Die", "▁Hunde."]
    weights = np.array([[1, 0, 0, 0], [0, 0.4, 0.2, 0.4]])
    assert links_from_attention(weights, source, target) == {(0, 0), (1, 1)}
    words = {"source_words": ["The", "dogs", "."], "target_words": ["Die", "Hunde", "."]}
    assert links_from_attention(weights, source, target, **words) == {(0, 0), (1, 1), (1, 2)}


def test_nothing_is_linked_with_nothing() -> None:
    assert links_from_attention(np.zeros((0, 0)), [], []) == frozenset()
    assert links_from_attention(np.zeros((1, 0)), [], ["▁a"]) == frozenset()
    assert links_from_attention(np.zeros((1, 1)), ["▁a"], ["▁a"]) == frozenset()


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match=r"attention has the shape \(3, 2\), but the pieces say \(2, 3\)"):
        links_from_attention(np.zeros((3, 2)), ["a"] * 3, ["b"] * 2)
    with pytest.raises(ValueError, match="the word 'cat' does not stand in ' dog'"):
        shares(["▁dog"], ["cat"])
    with pytest.raises(ValueError, match="2 alignments cannot be judged by 1"):
        alignment_error_rate([set(), set()], [set()])
    with pytest.raises(ValueError, match="1 alignments cannot be judged by 1 and 2"):
        alignment_error_rate([set()], [set()], [set(), set()])
    with pytest.raises(ValueError, match="0 attentions cannot be judged by 0 alignments"):
        best_head([], [])
    with pytest.raises(ValueError, match=r"attentions of different models: .*\(1, 2\), \(1, 3\)"):
        best_head([[np.zeros((2, 1, 1))], [np.zeros((3, 1, 1))]], [set(), set()])


# The error rate


@given(LINKS, LINKS, LINKS)
def test_the_error_rate_is_a_rate(
    found: set[tuple[int, int]], sure: set[tuple[int, int]], possible: set[tuple[int, int]]
) -> None:
    strict, lenient = alignment_error_rate([found], [sure]), alignment_error_rate([found], [sure], [possible])
    assert 0 <= lenient <= strict <= 1
    assert alignment_error_rate([sure], [sure], [possible]) == 0
    assert alignment_error_rate([sure | possible], [sure], [possible]) == pytest.approx(0)
    assert strict == alignment_error_rate([sure], [found])  # with sure links only, it is symmetric


def test_the_error_rate_by_hand() -> None:
    assert alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0), (2, 2)}]) == 0.5
    assert alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0)}], [{(1, 1)}]) == 0
    assert alignment_error_rate([{(0, 0)}, {(0, 1)}], [{(0, 0)}, {(0, 0)}]) == 0.5


# IBM model 1


def test_a_code_is_broken() -> None:
    """Every word has one translation, and the order is shuffled: hardly a link is missing or wrong."""
    rng = np.random.default_rng(7)
    pairs, gold = [], []
    for _ in range(997):
        source = rng.choice(101, size=rng.integers(2, 8), replace=False)
        order = rng.permutation(len(source))
        pairs.append((source.tolist(), (source[order] * 7 % 101).tolist()))
        gold.append({(int(s), t) for t, s in enumerate(order)})
    assert alignment_error_rate(lexical_links(pairs), gold) < 0.02


def test_equals_are_linked_along_the_diagonal() -> None:
    pairs = [([1, 2, 1], [5, 6, 5])] * 3 + [([1], [5])] * 5 + [([2], [6])] * 5
    assert lexical_links(pairs)[0] == {(0, 0), (1, 1), (2, 2)}


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 5), max_size=5), st.lists(st.integers(0, 5), max_size=5)),
        max_size=7,
    )
)
def test_links_are_one_to_one_and_the_same_from_the_other_side(
    pairs: list[tuple[list[int], list[int]]],
) -> None:
    found = lexical_links(pairs)
    assert len(found) == len(pairs)
    for links, (source, target) in zip(found, pairs, strict=True):
        assert len({s for s, _ in links}) == len({t for _, t in links}) == len(links)
        assert all(0 <= s < len(source) and 0 <= t < len(target) for s, t in links)
    turned = lexical_links([(target, source) for source, target in pairs])
    assert turned == [{(t, s) for s, t in links} for links in found]


# The best head


@given(st.integers(0, 2), st.integers(0, 4), st.integers(0, 2**16))
def test_the_head_that_aligns_is_found(layer: int, head: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    attentions, links = [], []
    for _ in range(11):
        order = rng.permutation(7)
        layers = [rng.random((5, 7, 7)).astype(np.float32) for _ in range(3)]
        layers[layer][head, np.arange(7), order] = 2
        attentions.append(layers)
        links.append({(int(s), t) for t, s in enumerate(order)})
    found = best_head(attentions, links)
    assert found.head == Head(layer, head)
    assert found.rate == 0
    looked = [{(int(s), t) for t, s in enumerate(layers[0][1].argmax(axis=1))} for layers in attentions]
    if (layer, head) != (0, 1):
        one = [[layers[0][1:2]] for layers in attentions]
        assert best_head(one, links).rate == pytest.approx(alignment_error_rate(looked, links))


def test_sentences_without_pieces_do_no_harm() -> None:
    assert best_head([[np.zeros((2, 0, 3))], [np.zeros((2, 3, 0))]], [set(), set()]).rate == 0
