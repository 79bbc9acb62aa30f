import unicodedata
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import DataError, ModelError
from dragoman.text.tokenizer import SPECIALS, UNKNOWN, Tokenizer, as_typed, loses, normalise, train_tokenizer

CORPUS = [
    f"the {a} cat sees {n} {b} dogs, der Hund bellt" for a in ("red", "big") for b in ("old", "wet") for n in range(23)
]
DISGUISE = "\U000f2581"

# Everything there is, lone surrogates too, and what means something to sentencepiece or to this module.
ANY = st.text(st.characters(codec=None)) | st.text(
    st.sampled_from(
        [
            *"ab. \t\n\x00\x1c\u0085\u00a0\u2028\ufeff\ud800\u0301\u0316\u0f73é\u2581\u2585\u2047\ufffd日🙂",
            DISGUISE,
        ]
    )
)
SPECIALISH = st.lists(st.sampled_from([*SPECIALS, "<0x41>", "<0xE2>", "the", " ", "▁"])).map("".join)


@cache
def toy() -> Tokenizer:
    return Tokenizer(train_tokenizer(CORPUS, 331))


@given(ANY | SPECIALISH)
def test_decoding_undoes_encoding(text: str) -> None:
    assert toy().decode(toy().encode(text)) == normalise(text)


@given(ANY)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(ANY)
def test_normal_text_is_one_line_that_any_file_can_hold(text: str) -> None:
    found = normalise(text)
    assert found == " ".join(found.split())
    assert unicodedata.is_normalized("NFC", found)
    assert found.encode().decode() == found


@given(st.text(st.sampled_from("a\u0301\u0316\u0315\u0323é\u0f73\u0f71ợ"), min_size=5, max_size=11))
def test_long_text_is_composed_like_short_text(text: str) -> None:
    """Beyond some length the marks are ordered first; the result is the same as Python's own."""
    long = text * 211
    assert normalise(long) == unicodedata.normalize("NFC", long)


@pytest.mark.timeout(60)  # quadratic time would be minutes
@pytest.mark.parametrize("hostile", ["\u0301\u0316", "\u0f73", "a\u0301\u0316", "a", "\ud800", "日"])
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    text = "a" + hostile * 100_000
    assert toy().decode(toy().encode(text)) == normalise(text)


@given(ANY | SPECIALISH)
def test_special_pieces_cannot_be_smuggled_in(text: str) -> None:
    assert all(i >= len(SPECIALS) for i in toy().encode(text))


def test_special_pieces_cannot_be_learned_either() -> None:
    learned = Tokenizer(train_tokenizer(["<s> the </s> <pad> <unk> <0x41>"] * 53 + CORPUS, 331))
    assert len(set(learned.pieces)) == len(learned)
    text = "<s> the </s> <0x41>"
    assert learned.decode(learned.encode(text)) == text
    assert all(i >= len(SPECIALS) for i in learned.encode(text))


@given(ANY)
def test_special_pieces_vanish(text: str) -> None:
    ids = toy().encode(text)
    assert toy().decode([*range(len(SPECIALS)), *ids, *range(len(SPECIALS))]) == normalise(text)


@given(st.lists(ANY, max_size=7))
def test_many_texts_are_cut_like_one(texts: list[str]) -> None:
    assert toy().encode_all(texts) == [toy().encode(text) for text in texts]


@given(st.lists(ANY | st.sampled_from(CORPUS), max_size=7), st.integers(0, 2**63), st.floats(0.05, 1))
def test_sampling_changes_the_cut_but_not_the_text(texts: list[str], seed: int, alpha: float) -> None:
    cut = toy().sample_all(texts, alpha=alpha, seed=seed)
    assert [toy().decode(ids) for ids in cut] == [normalise(text) for text in texts]
    assert toy().sample_all(texts, alpha=alpha, seed=seed) == cut


def test_other_seeds_cut_otherwise() -> None:
    cuts = {str(toy().sample_all(CORPUS, alpha=0.1, seed=seed)) for seed in range(5)}
    assert len(cuts) == 5


QUOTED = [*CORPUS, *(f'"no," said {name}: it\'s a well-known fact.' for name in ("Ann", "Ben") for _ in range(29))]
MARKS = st.text(st.sampled_from("a «»\u201c\u201d\u2018\u2019\u2013\u2014\u2026'\"-.é"))


@cache
def quoting() -> Tokenizer:
    return Tokenizer(train_tokenizer(QUOTED, 331))


@pytest.mark.parametrize(
    ("typed", "seen"),
    [
        ("\u201cno,\u201d said \u2018Ann\u2019", "\"no,\" said 'Ann'"),
        ("«it\u2019s»", '"it\'s"'),
        ("well\u2011known \u2013 a fact\u2026", "well-known - a fact..."),
    ],
)
def test_marks_that_are_not_known_are_read_as_their_like(typed: str, seen: str) -> None:
    assert quoting().familiar(typed) == seen
    assert quoting().decode(quoting().read(typed)) == seen
    assert not quoting().is_spelt(quoting().read(typed))
    assert toy().familiar(typed) == typed, "where none is known, none is as good as another"


def test_marks_that_are_to_be_written_stay_as_they_are() -> None:
    text = "\u2014«Nadie», dijo\u2026"
    assert quoting().decode(quoting().encode(text)) == text
    assert quoting().decode(*quoting().sample_all([text], alpha=0.5, seed=3)) == text
    assert quoting().is_spelt(quoting().encode(text))


@given(MARKS)
def test_what_is_read_is_what_is_decoded(text: str) -> None:
    for tokenizer in (toy(), quoting()):
        familiar = tokenizer.familiar(text)
        assert tokenizer.decode(tokenizer.read(text)) == familiar == tokenizer.familiar(familiar)
        assert tokenizer.decode(tokenizer.encode(text)) == normalise(text)


def test_marks_that_are_known_stay() -> None:
    own = Tokenizer(train_tokenizer([text.replace("'", "\u2019") for text in QUOTED], 331))
    assert own.familiar("it\u2019s it's") == "it\u2019s it\u2019s"
    assert own.familiar("it's") == "it\u2019s", "also where all else is ASCII"


@given(MARKS)
def test_as_typed_every_character_is_in_its_place(text: str) -> None:
    typed = as_typed(text)
    assert len(typed) == len(text)
    assert all(a == b or b in "'\"-" for a, b in zip(text, typed, strict=True))
    assert as_typed("\u201cit\u2019s\u201d \u2013 é\u2026") == '"it\'s" - é\u2026'


def test_a_rare_letter_has_a_piece_where_the_alphabet_is_small() -> None:
    texts = [*(f"the red cat sees {number} wet dogs" for number in range(997)), "Xanthippe"]
    few, many = (Tokenizer(train_tokenizer(texts, 331, characters=some)) for some in (30, 3000))
    assert "X" in {piece.strip("▁") for piece in few.pieces}
    assert "X" not in {piece.strip("▁") for piece in many.pieces}
    assert not many.is_spelt(many.encode("X")), "which is rare, but a byte of its own"


def test_spelt_text_is_known() -> None:
    assert not toy().is_spelt(toy().encode("the cat"))
    assert toy().is_spelt(toy().encode("the 猫"))
    assert toy().is_spelt([UNKNOWN])
    assert not toy().is_spelt([])


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("a\tb  c\r\n", False),
        ("\ufeffa", False),
        ("e\u0301", False),
        ("a\x00", True),
        ("\udcff", True),
        (DISGUISE, True),
    ],
)
def test_what_is_lost_is_told(text: str, lost: bool) -> None:
    assert loses(text) is lost


@given(ANY)
def test_what_is_not_lost_is_there(text: str) -> None:
    if not loses(text):
        words = text.replace("\ufeff", "").split()
        assert normalise(text).split() == [unicodedata.normalize("NFC", word) for word in words]


def test_no_vocabulary_from_nothing() -> None:
    with pytest.raises(DataError, match="no vocabulary can be learned from this corpus") as caught:
        train_tokenizer([], 300)
    assert "give more text" in caught.value.hint


@pytest.mark.parametrize("damaged", [b"", b"rubbish", b"\xff" * 101])
def test_a_damaged_model_is_told(damaged: bytes) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.model") as caught:
        Tokenizer(damaged)
    assert "model" in caught.value.hint


def test_a_foreign_model_is_told() -> None:
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        vocab_size=53,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    with pytest.raises(ModelError, match="does not begin with dragoman's special pieces"):
        Tokenizer(model.getvalue())


def test_the_vocabulary_is_as_long_as_it_says() -> None:
    assert len(toy()) == len(toy().pieces) <= 331
    assert tuple(toy().pieces[: len(SPECIALS)]) == SPECIALS
    assert Tokenizer(toy().model).pieces == toy().pieces
