"""Which language a text is in, among those that it may be in.

Two things are looked at: the script of the letters, and the words that every sentence of a language is full of, such as
articles and prepositions (`function-words.txt`). Each language with known words takes part, also those that it may not
be in, and so does "none of these": a text in another language is not taken for the nearest one. The confidence is the
share that a language has of all of them, by Bayes' rule; before the text is seen, a language that it may be in is taken
to be some times as likely as another, unless its words are not known: it cannot fail to have them, and must not win by
that. That number and the chances of letters and words are rounded guesses, not measured. Codes of one language, such as
those of two scripts, share what it has.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from dragoman.text.languages import language_of

_LETTERS = re.compile(r"[^\W\d_]+")
_READ_CHARACTERS = 2_000
_COUNTED_LETTERS = 20  # so that the script of a long text does not outvote its words

_OWN_WORD, _NO_OWN_WORD = math.log(20), math.log(0.75)
_ASKED = math.log(10)
_LEAST = 0.01

_LATIN, _JAPANESE = {"LATIN": 1.0}, {"HIRAGANA": 0.5, "KATAKANA": 0.1, "CJK": 0.4}
_OTHER_SCRIPTS = (
    "CYRILLIC ru uk bg sr mk be kk mn; ARABIC ar fa ur ps; DEVANAGARI hi mr ne; HEBREW he yi; GREEK el; ARMENIAN hy; "
    "GEORGIAN ka; THAI th; HANGUL ko; CJK zh; ETHIOPIC am; BENGALI bn; GUJARATI gu; KANNADA kn; KHMER km; LAO lo; "
    "MALAYALAM ml; MYANMAR my; GURMUKHI pa; SINHALA si; TAMIL ta; TELUGU te"
)
_SCRIPTS = {"ja": _JAPANESE} | {
    language: {script: 1.0} for script, *own in map(str.split, _OTHER_SCRIPTS.split(";")) for language in own
}
"""How often a letter is of which script; Latin letters where nothing is said."""
_SELDOM = 0.01  # a letter of a script that is not the language's own
_ANY_SCRIPT = 0.1  # a letter of any script, if the language is none that is known


class Guess(NamedTuple):
    """A language, and how sure one can be of it, from 0 to 100."""

    language: str
    confidence: float


def detect(text: str, codes: Sequence[str]) -> list[Guess]:
    """Return the languages, of those given, that a text may be in, likeliest first; none if nothing speaks for any."""
    words = _LETTERS.findall(unicodedata.normalize("NFC", text[:_READ_CHARACTERS]).lower())
    if not words:
        return []
    asked = {code: language_of(code) for code in codes}
    scripts = _count_scripts(words)
    logs = {language: _likelihood(language, words, scripts) for language in {*_function_words(), *asked.values()}}
    logs |= {language: logs[language] + _ASKED for language in set(asked.values()) & _function_words().keys()}
    none = sum(scripts.values()) * math.log(_ANY_SCRIPT)
    most = max(*logs.values(), none)
    total = sum(math.exp(value - most) for value in [*logs.values(), none])
    codes_of = Counter(asked.values())
    shares = {code: math.exp(logs[one] - most) / total / codes_of[one] for code, one in asked.items()}
    guesses = [Guess(code, round(100 * share, 1)) for code, share in shares.items() if share >= _LEAST]
    return sorted(guesses, key=lambda guess: -guess.confidence)


def knows(code: str) -> bool:
    """Tell whether the words of a language are known."""
    return language_of(code) in _function_words()


def _likelihood(language: str, words: Sequence[str], scripts: Mapping[str, float]) -> float:
    """The logarithm of how likely such letters and words are in a language, against no language in particular."""
    own = _function_words().get(language)
    told = sum(_OWN_WORD if word in own else _NO_OWN_WORD for word in words) if own else 0.0
    letters = _SCRIPTS.get(language, _LATIN)
    return told + sum(number * math.log(letters.get(script, _SELDOM)) for script, number in scripts.items())


def _count_scripts(words: Sequence[str]) -> dict[str, float]:
    """Count letters by script; many are scaled down to as many as count."""
    counts = Counter(unicodedata.name(letter, "?").split()[0].split("-")[0] for word in words for letter in word)
    scale = min(1.0, _COUNTED_LETTERS / counts.total())
    return {script: scale * number for script, number in counts.items()}


@cache
def _function_words() -> dict[str, frozenset[str]]:
    lines = resources.files(__package__).joinpath("function-words.txt").read_text(encoding="utf-8").splitlines()
    return {language: frozenset(words) for language, *words in map(str.split, lines)}
