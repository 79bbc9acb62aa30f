"""BLEU as many papers count it: lower-cased, punctuation normalised, and cut into words by the rules of Moses.

It is not BLEU of the text as people read it (cased, 13a), and the two must not be compared. Its signature begins with
what was done to the text, since sacrebleu, which is given words, cannot know.
"""

from collections.abc import Sequence

from dragoman.errors import DataError
from dragoman.evaluation.scores import Score, check_lengths
from dragoman.text.languages import language_of


def tokenised_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Score:
    """Score translations into a language by their words in lower case."""
    check_lengths(hypotheses, [references])
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize="none", force=True)
    found, wanted = (tokenise(side, language) for side in (hypotheses, references))
    value = metric.corpus_score(found, [wanted])
    return Score(
        "BLEU (lower case, Moses)", float(value.score), f"text:lc.norm.moses-{language}|{metric.get_signature()}"
    )


def tokenise(texts: Sequence[str], language: str) -> list[str]:
    """Lower-case, normalise and cut texts; words are then apart by one space."""
    try:
        from sacremoses import MosesPunctNormalizer, MosesTokenizer
    except ImportError as error:
        raise DataError(
            "scores of tokenised text need sacremoses, which is not installed", hint="pip install sacremoses"
        ) from error
    code = language_of(language)
    normaliser, tokenizer = MosesPunctNormalizer(lang=code), MosesTokenizer(lang=code)
    return [" ".join(tokenizer.tokenize(normaliser.normalize(text.lower()), escape=False)) for text in texts]
