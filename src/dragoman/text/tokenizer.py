"""Text into pieces and back (sentencepiece, unigram, one vocabulary for both languages).

The law is `decode(encode(x)) == normalise(x)` for every string. Characters that the vocabulary does not know are spelt
in bytes, so nothing is lost; such a sentence is worth a flag, because a model has rarely learned to read bytes. Of
sources, which are only read, quotation marks and dashes that it does not know are therefore taken for their like that
it does (`familiar`); what a model is to write stays as it is.
"""

import bisect
import io
import itertools
import math
import random
import re
import string
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import sentencepiece

from dragoman.errors import DataError, ModelError

PAD, UNKNOWN, START, END = range(4)
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")

# sentencepiece writes a space as this mark, so the mark itself travels through it in disguise.
_MARK, _DISGUISE = "\u2581", "\U000f2581"
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\ud800-\udfff]")

# Three Tibetan vowel signs that begin no character once they are decomposed, though they look as if they did.
_HIDDEN_MARKS = {ord(sign): unicodedata.normalize("NFD", sign) for sign in "\u0f73\u0f75\u0f81"}
_LONG = 1000
_FEW = 20  # sentencepiece starts a thread for many, which takes it longer than encoding a few

# Marks that typography tells apart and most people's keyboards do not.
_ALIKE = (
    "'\u2019\u2018\u201b\u02bc\u2032",
    '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033',
    "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
)
_TYPED = {ord(mark): marks[0] for marks in _ALIKE for mark in marks[1:]}
_ELLIPSIS = "\u2026"

# A small alphabet is taken into the vocabulary whole, but for the few characters that are hardly ever seen.
_ALPHABET_SHARE = 0.1
_COVERAGE, _COVERAGE_OF_MANY = 0.99999, 0.9998

_CUTS = 32
_REMEMBERED_WORDS = 100_000


class _Cuts(NamedTuple):
    """The likeliest cuts of a word, one after another, in little memory: there are many words."""

    pieces: "array[int]"
    starts: "array[int]"
    """Of each cut, and where the last one ends."""
    heights: "array[float]"
    """Their weights, summed up."""


def normalise(text: str) -> str:
    """Return the text as it is kept and compared.

    Characters are composed (NFC); every run of white space becomes one space and none is left at the ends;
    control characters, byte-order marks and lone surrogates go; the one private character that this module
    needs for itself becomes U+FFFD. Nothing else changes: case, quotation marks, ligatures and fractions stay
    as they are.
    """
    if not text.isprintable():  # a quick look: none of what goes is printable
        text = _CONTROLS.sub("", text.replace(_DISGUISE, "\ufffd"))
    text = " ".join(text.split())
    if len(text) > _LONG and not text.isascii():
        text = _order_marks(text)
    return unicodedata.normalize("NFC", text)


def _order_marks(text: str) -> str:
    """Bring combining marks into canonical order.

    Python's own ordering takes quadratic time over a long run of marks: minutes for a hostile line, which
    this avoids.
    """
    text = text.translate(_HIDDEN_MARKS)
    runs = itertools.groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if marks else run) for marks, run in runs)


def loses(text: str) -> bool:
    """Tell whether `normalise` drops or replaces more than white space and byte-order marks."""
    if text.isprintable():
        return False
    return _DISGUISE in text or any(control != "\ufeff" for control in _CONTROLS.findall(text))


def train_tokenizer(texts: Iterable[str], size: int, *, characters: int = 0) -> bytes:
    """Learn a vocabulary of about `size` pieces and return sentencepiece's model file as bytes.

    A corpus too small for the size gets fewer pieces. The 256 bytes and the four special pieces count as
    pieces. `characters` is how many different ones the texts have, if that is known: of many, such as Chinese has, the
    rarest are left to the bytes.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(_disguise(normalise(text)) for text in texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=size,
            hard_vocab_limit=False,
            byte_fallback=True,
            character_coverage=_COVERAGE if characters <= _ALPHABET_SHARE * size else _COVERAGE_OF_MANY,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            split_digits=True,
            max_sentence_length=1_000_000,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            num_threads=2,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise DataError(
            f"no vocabulary can be learned from this corpus ({error})",
            hint="give more text, or more varied text; `dragoman check` shows what the corpus holds",
        ) from error
    return model.getvalue()


def _disguise(text: str) -> str:
    return text.replace(_MARK, _DISGUISE)


def as_typed(text: str) -> str:
    """Write quotation marks and dashes as keyboards have them, for comparing; no character leaves its place."""
    return text.translate(_TYPED)


def _find_alike(known: set[str]) -> dict[int, str]:
    """For marks that are not known, the first known one of their like."""
    found: dict[int, str] = {}
    for marks in _ALIKE:
        familiar = next((mark for mark in marks if mark in known), None)
        if familiar is not None:
            found |= {ord(mark): familiar for mark in marks if mark not in known}
    if "." in known and _ELLIPSIS not in known:
        found[ord(_ELLIPSIS)] = "..."
    return found


def _is_letter(byte: str) -> bool:
    """Tell whether a byte's piece is a Latin letter: learned whenever the letter is seen, rare but not unknown."""
    return chr(int(byte[3:5], 16)) in string.ascii_letters


class Tokenizer:
    """A learned vocabulary: text to piece ids and back."""

    def __init__(self, model: bytes) -> None:
        try:
            self._pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, ValueError) as error:
            raise ModelError(
                "tokenizer.model is not a sentencepiece model",
                hint="copy the model directory again from where it was trained",
            ) from error
        self.model = model
        self.pieces: list[str] = [self._pieces.id_to_piece(i) for i in range(len(self._pieces))]
        if tuple(self.pieces[: len(SPECIALS)]) != SPECIALS:
            raise ModelError(
                "tokenizer.model does not begin with dragoman's special pieces",
                hint="use the tokenizer.model that was written beside these weights",
            )
        self._known_cuts: dict[tuple[str, float], _Cuts] = {}
        spelling = {i for i in range(len(self.pieces)) if self._pieces.is_byte(i)}
        self._spelt = frozenset(i for i in spelling if not _is_letter(self.pieces[i])) | {UNKNOWN}
        written = (piece for i, piece in enumerate(self.pieces) if i >= len(SPECIALS) and i not in spelling)
        self.alike = _find_alike(set().union(*written))
        """What `familiar` writes for which mark."""

    def __len__(self) -> int:
        return len(self.pieces)

    def familiar(self, source: str) -> str:
        """Return a source as it is best read: normalised, with the quotation marks and dashes that are known."""
        return normalise(source).translate(self.alike)

    def read(self, source: str) -> list[int]:
        """Cut a source into its best pieces, as it is best read."""
        return self.encode(self.familiar(source))

    def encode(self, text: str) -> list[int]:
        """Cut one text into its best pieces."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut each text into its best pieces."""
        ready = [_disguise(normalise(text)) for text in texts]
        if len(ready) < _FEW:
            return [self._pieces.encode(text) for text in ready]
        cut: list[list[int]] = self._pieces.encode(ready, num_threads=1)
        return cut

    def sample_all(self, texts: Sequence[str], *, alpha: float, seed: int | str) -> list[list[int]]:
        """Cut each text at random, near its best cut; the same seed cuts the same way.

        A cut of probability p is drawn in proportion to p ** alpha (Kudo 2018). No piece reaches from one word into the
        next, so each word is drawn by itself, from its likeliest cuts. sentencepiece can sample too, but what its seed
        gives differs from process to process.
        """
        rng = random.Random(seed)
        sampled = []
        for text in texts:
            pieces: list[int] = []
            for word in _disguise(normalise(text)).split(" "):
                if word:
                    cuts, starts, heights = self._cuts(word, alpha)
                    drawn = bisect.bisect(heights, rng.random() * heights[-1], hi=len(heights) - 1)
                    pieces.extend(cuts[starts[drawn] : starts[drawn + 1]])
            sampled.append(pieces)
        return sampled

    def _cuts(self, word: str, alpha: float) -> _Cuts:
        """The likeliest cuts of a word, remembered."""
        known = self._known_cuts.get((word, alpha))
        if known is None:
            cuts: list[list[int]] = self._pieces.nbest_encode(word, nbest_size=_CUTS, out_type=int)
            scores = [sum(map(self._pieces.get_score, cut)) for cut in cuts]
            heights = itertools.accumulate(math.exp(alpha * (score - scores[0])) for score in scores)
            starts = itertools.accumulate(map(len, cuts), initial=0)
            if len(self._known_cuts) >= _REMEMBERED_WORDS:
                self._known_cuts.clear()
            known = _Cuts(array("I", itertools.chain.from_iterable(cuts)), array("I", starts), array("d", heights))
            self._known_cuts[word, alpha] = known
        return known

    def decode(self, ids: Sequence[int]) -> str:
        """Join pieces into text; special pieces vanish."""
        text: str = self._pieces.decode([int(i) for i in ids if i >= len(SPECIALS)])
        return text.replace(_DISGUISE, _MARK)

    def is_spelt(self, ids: Iterable[int]) -> bool:
        """Tell whether some character had to be spelt in bytes, because the vocabulary does not know it."""
        return not self._spelt.isdisjoint(ids)
