"""BLEU as many papers count it."""

import sys
from pathlib import Path

import pytest

from dragoman.data.corpus import read_pairs
from dragoman.errors import DataError
from dragoman.evaluation.moses import tokenise, tokenised_bleu
from dragoman.evaluation.scores import bleu

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "multi30k-en-de"


def test_words_are_cut_in_lower_case_with_plain_quotation_marks() -> None:
    assert tokenise(["„Ein Mann, der z.B. in 1,5 m Höhe hängt.“"], "de") == [
        '" ein mann , der z.b. in 1,5 m höhe hängt . "'
    ]


def test_case_and_kind_of_quotation_mark_do_not_count() -> None:
    wanted = ["Der Hund sieht die „Katze“ auf dem Dach.", "Eine Frau liest ein Buch im Garten."]
    found = ["der hund sieht die “katze” auf dem dach.", "eine frau liest ein buch im Garten."]
    judged = tokenised_bleu(found, wanted, "de")
    assert judged.value == pytest.approx(100)
    assert bleu(found, wanted) < 80
    assert judged.signature.startswith("text:lc.norm.moses-de|nrefs:1|case:mixed|eff:no|tok:none|")


def test_without_sacremoses_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(DataError, match="need sacremoses, which is not installed"):
        tokenise(["Ein Hund."], "de")


@pytest.mark.skipif(not DATA.exists(), reason="Multi30k is not there")
def test_the_reference_of_multi30k_has_the_published_length() -> None:
    pairs = read_pairs([DATA / "test_2016_flickr"], "en", "de")
    assert sum(len(text.split()) for text in tokenise([pair.target for pair in pairs], "de")) == 12_103
