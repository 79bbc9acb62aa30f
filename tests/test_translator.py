from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import Search
from dragoman.engine.base import Hypothesis
from dragoman.engine.flags import Flag
from dragoman.engine.translator import Translation, Translator
from dragoman.text.parts import cut
from dragoman.text.segments import has_letter, split
from dragoman.text.tokenizer import SPECIALS, Tokenizer, normalise, train_tokenizer

WORDS = tuple("the big red cat sees two old wet dogs and der alte Hund bellt laut".split())  # noqa: SIM905
CORPUS = [f"{a} {b}, {c}; {a}: {b}. 123" for a in WORDS for b in WORDS for c in WORDS[::5]]
LIMIT = 23

TEXTISH = st.text(st.sampled_from("aB .!?…。\"'\n\t\r\u2028\u00a0日é1🙂\u0301\u200d\ud800\x00"))
ANY = TEXTISH | st.text(st.characters(codec=None))


@cache
def toy() -> Tokenizer:
    return Tokenizer(train_tokenizer(CORPUS, 347))


def echo(ids: tuple[int, ...]) -> tuple[int, ...]:
    return ids


@dataclass
class Toy:
    """An engine that does with each source whatever it is told, and remembers what it was asked."""

    answer: Callable[[tuple[int, ...]], tuple[int, ...]] = echo
    max_source: int = LIMIT
    max_target: int = LIMIT
    finished: bool = True
    calls: list[list[tuple[int, ...]]] = field(default_factory=list)

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> list[list[Hypothesis]]:
        self.calls.append([tuple(source) for source in sources])
        found = []
        for source, prefix in zip(sources, prefixes or [()] * len(sources), strict=True):
            assert 0 < len(source) <= self.max_source
            pieces = (*prefix, *self.answer(tuple(source)))
            found.append(
                [
                    Hypothesis(
                        pieces * (1 + n),
                        -float(len(source) + n),
                        self.finished,
                        np.eye(len(pieces) * (1 + n), len(source), dtype=np.float32) if attention else None,
                    )
                    for n in range(search.best)
                ]
            )
        return found


def saying(text: str, *, finished: bool = True) -> Translator:
    """Return a translator that says this, whatever it is given."""
    said = tuple(toy().encode(text))
    return Translator(Toy(lambda _: said, max_source=199, finished=finished), toy())


def one(translator: Translator, text: str) -> Translation:
    (translation,) = translator.translate([text])
    return translation


def outline(text: str, *, sentences: bool) -> str:
    """Return what an echo gives back: a sentence as the model sees it, or as it is if it has no letter."""
    return "".join(
        (
            toy().familiar(s.text)
            if has_letter(s.text)
            else s.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
        if s.is_sentence
        else s.text
        for s in split(text, sentences=sentences)
    )


# The law of lines and white space


@given(st.lists(ANY, max_size=5), st.booleans())
def test_an_echo_gives_every_line_and_white_space_back(texts: list[str], sentences: bool) -> None:
    found = Translator(Toy(), toy(), sentences=sentences).translate(texts)
    assert [t.text for t in found] == [outline(text, sentences=sentences) for text in texts]


@given(st.lists(ANY, max_size=5))
def test_a_line_in_is_a_line_out_whatever_the_model_writes(texts: list[str]) -> None:
    line_end = toy().pieces.index("<0x0A>")
    translator = Translator(Toy(lambda ids: (line_end, *ids[::-1], line_end, line_end)), toy())
    found = translator.translate(texts)
    assert len(found) == len(texts)
    for text, translation in zip(texts, found, strict=True):
        assert len(translation.text.splitlines()) == len(text.splitlines())
        translation.text.encode()


@given(st.lists(ANY, max_size=11), st.integers(1, 5))
def test_a_stream_is_the_same_as_a_list(texts: list[str], chunk: int) -> None:
    translator = Translator(Toy(), toy())
    assert list(translator.stream(iter(texts), chunk=chunk)) == translator.translate(texts)


@pytest.mark.parametrize(("chunk", "most"), [(7, 21), (1, 1)])
def test_a_stream_reads_no_further_than_it_must(chunk: int, most: int) -> None:
    """Two chunks may be with the engine while a third is read; a chunk of one is answered before the next."""
    read = []

    def lines() -> Iterator[str]:
        for number in range(1000):
            read.append(number)
            yield "the cat\n"

    stream = Translator(Toy(), toy()).stream(lines(), chunk=chunk)
    assert next(stream).text == "the cat\n"
    assert len(read) == most


def test_many_texts_are_translated_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks, each text with its own prefix."""
    texts = [f"the {word} cat sees" for word in WORDS for _ in range(2)]
    prefixes = ["", "der", "die alte"] * len(texts)
    whole = Translator(Toy(), toy()).translate(texts, prefixes=prefixes[: len(texts)])
    monkeypatch.setattr("dragoman.engine.translator.CHUNK_LINES", 3)
    engine = Toy()
    assert Translator(engine, toy()).translate(texts, prefixes=prefixes[: len(texts)]) == whole
    assert len(engine.calls) > len(texts) // 6


def test_many_texts_go_with_those_of_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.engine.translator.CHUNK_LINES", 4)
    engine = Toy()
    Translator(engine, toy()).translate([text for word in WORDS[:4] for text in (word, f"{word} and the old dogs")])
    assert [len({len(source) > 3 for source in call}) for call in engine.calls] == [1, 1]


def test_an_error_of_the_engine_ends_a_stream() -> None:
    def fail(ids: tuple[int, ...]) -> tuple[int, ...]:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        list(Translator(Toy(fail), toy()).stream(["the cat"] * 50, chunk=3))


@given(st.lists(st.sampled_from([*CORPUS, *WORDS]), max_size=23))
def test_company_changes_nothing(texts: list[str]) -> None:
    engine = Toy(lambda ids: ids[::-1])
    together = Translator(engine, toy()).translate(texts)
    assert together == [one(Translator(Toy(lambda ids: ids[::-1]), toy()), text) for text in texts]
    lengths = [len(source) for call in engine.calls for source in call]
    assert lengths == sorted(lengths)
    asked = [source for call in engine.calls for source in call]
    assert len(asked) == len(set(asked))  # nothing is translated twice


def test_what_was_translated_of_late_is_remembered() -> None:
    engine = Toy()
    translator = Translator(engine, toy(), remember=2)
    for text in ("the cat", "Two dogs", "the cat", "the dog", "the cat", "Two dogs"):
        assert one(translator, text).text == text
    asked = [toy().decode(source) for call in engine.calls for source in call]
    assert asked == ["the cat", "Two dogs", "the dog", "Two dogs"]


@pytest.mark.parametrize("search", [Search(beam=2), Search(top_k=0)], ids=["another search", "drawing"])
def test_nothing_is_remembered_of_another_manner(search: Search) -> None:
    engine = Toy()
    translator = Translator(engine, toy())
    one(translator, "the cat")
    translator.translate(["the cat"], search=search)
    translator.translate(["the cat"], alignments=True)
    translator.translate(["the cat"], alignments=True)
    assert len(engine.calls) == 4


def test_what_one_stream_was_answered_is_not_known_to_another_in_another_manner() -> None:
    engine = Toy()
    translator = Translator(engine, toy())
    first, second = translator.steps(["the cat"]), translator.steps(["the dog"], search=Search(beam=2))
    asked = [(stream, next(stream)) for stream in (first, second)]
    for stream, question in reversed(asked):
        with pytest.raises(StopIteration):
            stream.send(question.ask())
    one(translator, "the dog")
    assert len(engine.calls) == 3, "the wide search's answer was taken for the usual one's"
    one(translator, "the cat")
    assert len(engine.calls) == 3, "what the last one was answered is remembered"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "12.50 — 7", "🙂🙃", " \t1\u00a0000 %\n", "\u0301" * 53])
def test_what_has_no_letter_passes_through(text: str) -> None:
    engine = Toy()
    found = one(Translator(engine, toy()), text)
    assert (found.text, found.flags, found.score, engine.calls) == (text, frozenset(), 0.0, [])


def test_touching_sentences_get_a_space_if_the_translation_needs_it() -> None:
    assert one(saying("the cat."), "下雨。我们走。").text == "the cat. the cat."


# Sentences


def test_a_sentence_tells_everything() -> None:
    engine = Toy(lambda ids: ids[::-1])
    (found,) = Translator(engine, toy()).translate(["the cat. Two dogs"], search=Search(best=3), alignments=True)
    first, second = found.sentences
    assert (first.source, second.source) == ("the cat.", "Two dogs")
    assert list(first.source_pieces) == [toy().pieces[i] for i in toy().encode("the cat.")]
    assert first.target_pieces == first.source_pieces[::-1]
    second_best = [normalise(toy().decode(toy().encode(text)[::-1] * 2)) for text in ("the cat.", "Two dogs")]
    assert len(found.alternatives) == 2
    assert [sentence.target for sentence in found.alternatives[0].sentences] == second_best
    assert found.score == min(first.score, second.score)
    assert found.flags == first.flags | second.flags


def test_words_are_linked_across_parts() -> None:
    text = " ".join(WORDS) + " " + "the" * 31 + " " + ", ".join(WORDS)
    (found,) = Translator(Toy(), toy()).translate([text], alignments=True)
    assert found.text == text
    assert len(found.sentences) == 1
    links = found.sentences[0].alignment
    assert links == tuple((word, word) for word in range(len(text.split())))


@given(st.lists(ANY, max_size=3))
def test_links_are_between_words_that_are_there(texts: list[str]) -> None:
    for translation in Translator(Toy(), toy()).translate(texts, alignments=True):
        for sentence in translation.sentences:
            assert sentence.alignment is not None
            assert list(sentence.alignment) == sorted(set(sentence.alignment))
            for s, t in sentence.alignment:
                assert 0 <= s < len(sentence.source.split())
                assert 0 <= t < len(sentence.target.split())


@pytest.mark.parametrize("nothing", ["\x96", "\ufeff", "\x96 \x96"])
def test_links_count_words_of_which_nothing_is_left(nothing: str) -> None:
    (found,) = Translator(Toy(), toy()).translate([f"the cat {nothing} sees {nothing} two dogs"], alignments=True)
    (sentence,) = found.sentences
    words = sentence.source.split()
    assert sentence.alignment is not None
    assert [words[s] for s, _ in sentence.alignment] == ["the", "cat", "sees", "two", "dogs"]
    assert [t for _, t in sentence.alignment] == [0, 1, 2, 3, 4]


def test_no_links_unless_asked_for() -> None:
    assert one(Translator(Toy(), toy()), "the cat").sentences[0].alignment is None


def test_a_prefix_begins_the_first_sentence_with_a_letter() -> None:
    translator = Translator(Toy(), toy())
    found = translator.translate(["1. 2! The cat. Two dogs", "7", " ", "dogs"], prefixes=["der Hund", "big", "x", ""])
    assert [t.text for t in found] == ["1. 2! der Hund The cat. Two dogs", "big 7", " ", "dogs"]


# Sources longer than the model knows


@given(st.text(st.sampled_from("aB .,;é日。，\u0301🙂\u200d"), max_size=199), st.integers(8, LIMIT))
def test_parts_make_up_the_sentence_and_are_short_enough(text: str, limit: int) -> None:
    parts = cut(normalise(text), toy().encode(text), toy(), limit)
    assert "".join(part.text + part.after for part in parts) == normalise(text)
    for part in parts:
        assert len(part.ids) <= limit
        assert part.ids == toy().encode(part.text)
        assert part.text or len(parts) == 1


def test_the_best_place_is_taken() -> None:
    words = "the cat sees two old dogs"

    def parts(text: str) -> list[str]:
        ids = toy().encode(text)
        return [part.text for part in cut(text, ids, toy(), len(ids) * 3 // 4)]

    assert parts(f"{words} and, {words}; {words}, {words}") == [f"{words} and, {words};", f"{words}, {words}"]
    assert parts(f"{words} and, {words} and {words}") == [f"{words} and,", f"{words} and {words}"]
    assert parts(f"{words} {words}") == [words, words]


def test_a_part_does_not_begin_with_a_mark() -> None:
    text = "e\u0316\u0301" * 97
    for part in cut(normalise(text), toy().encode(text), toy(), LIMIT):
        assert part.text[0] in "eé"


def test_the_trained_length_counts_too() -> None:
    engine = Toy(max_source=101)
    text = " ".join([*WORDS] * 3)
    assert one(Translator(engine, toy(), max_pieces=17), text).text == text
    assert max(len(source) for call in engine.calls for source in call) <= 17


@pytest.mark.timeout(60)  # quadratic time would be minutes
@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, "a" + "\u0301\u0316" * 50_000, "é\u200f" * 50_000, "a\ud800" * 50_000, "日" * 100_000],
)
def test_hostile_lines_come_back_in_linear_time(text: str) -> None:
    found = Translator(Toy(), toy()).translate(["the cat", text, "dogs"])
    assert [t.text for t in found] == ["the cat", normalise(text), "dogs"]
    if text[0] != text[1]:
        assert Flag.UNKNOWN_CHARACTERS in found[1].flags


@pytest.mark.timeout(60)
def test_links_of_a_monstrous_word_take_linear_time() -> None:
    (found,) = Translator(Toy(), toy()).translate(["a" * 100_000], alignments=True)
    assert found.sentences[0].alignment == ((0, 0),)


# Flags: each is raised where it should be, and not next door


def flags(translator: Translator, text: str) -> set[str]:
    return set(one(translator, text).flags)


def test_a_good_translation_has_no_flag() -> None:
    assert flags(saying("der alte Hund bellt"), "the old dog sees") == set()


def test_truncated() -> None:
    assert flags(saying("der alte Hund", finished=False), "the old dog") == {"truncated"}


@pytest.mark.parametrize("loop", ["der der der der", "der, Der der der", "der alte Hund " * 5, "und so " + "ab" * 29])
def test_repeated(loop: str) -> None:
    assert "repeated" in flags(saying(loop), "the old dog sees the big red cat and the two wet dogs")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("the the the the cat", "der der der der Hund"),
        ("the wet dog " * 5, "der alte Hund " * 5),
        ("the cat sees the big cat and the red cat and the old cat", "der Hund und der Hund, der alte Hund"),
        ("a million", "1000000"),
        ("the cat", "- - - - der"),
    ],
)
def test_not_repeated(source: str, target: str) -> None:
    assert "repeated" not in flags(saying(target), source)


def test_copied() -> None:
    assert flags(saying("the big cat"), " the  big cat ") == {"copied"}


def test_copied_with_the_quotation_marks_that_the_vocabulary_knows() -> None:
    quoted = 'the "big" cat'
    tokenizer = Tokenizer(train_tokenizer([*CORPUS, *[quoted] * 29], 347))
    said = tuple(tokenizer.encode(quoted))
    assert flags(Translator(Toy(lambda _: said), tokenizer), "the \u201cbig\u201d cat") == {"copied"}


@pytest.mark.parametrize(("source", "target"), [("Hund", "Hund"), ("Hund 123", "Hund 123"), ("the cat", "the dog")])
def test_not_copied(source: str, target: str) -> None:
    assert flags(saying(target), source) == set()


@pytest.mark.parametrize(
    ("source", "target"),
    [("the", "der Hund, the red cat; bellt laut und alte"), ("the cat " * 13, "Hund"), ("a", "")],
)
def test_length_ratio(source: str, target: str) -> None:
    assert "length-ratio" in flags(saying(target), source)


@pytest.mark.parametrize(("source", "target"), [("the", "der alte Hund bellt"), ("the big cat sees two", "Hund")])
def test_not_length_ratio(source: str, target: str) -> None:
    assert flags(saying(target), source) == set()


@pytest.mark.parametrize(
    ("source", "target"),
    [("the 猫", "der"), ("the\ud800", "der"), ("the\x00 cat", "der Hund"), ("the cat", "der 猫")],
)
def test_unknown_characters(source: str, target: str) -> None:
    assert flags(saying(target), source) == {"unknown-characters"}


def test_unknown_characters_without_a_letter() -> None:
    found = one(saying("der"), "1 \ud800")
    assert found.text == "1 \ufffd"
    assert set(found.flags) == {Flag.UNKNOWN_CHARACTERS}


def test_not_unknown_characters() -> None:
    assert flags(saying("der Hund"), "\ufeffthe\t cat") == set()


# What a programmer can do wrong


def test_a_missing_translation_is_an_error() -> None:
    class Forgetful(Toy):
        def translate(self, *args: Any, **kwargs: Any) -> list[list[Hypothesis]]:
            return super().translate(*args, **kwargs)[:-1]

    with pytest.raises(ValueError, match="the engine returned 1 translations for 2 sources"):
        Translator(Forgetful(), toy()).translate(["the cat", "two dogs"])


def test_misuse_is_told() -> None:
    translator = Translator(Toy(), toy())
    with pytest.raises(TypeError, match="translate takes a list of texts, not one text"):
        translator.translate("the cat")
    with pytest.raises(ValueError, match="1 prefixes for 2 texts"):
        translator.translate(["a", "b"], prefixes=["c"])
    with pytest.raises(ValueError, match="sources of at most 5 pieces are too small; the least is 8"):
        Translator(Toy(max_source=5), toy())
    with pytest.raises(ValueError, match="parts of at most 3 pieces are too small; the least is 8"):
        cut("a", [len(SPECIALS)], toy(), 3)
