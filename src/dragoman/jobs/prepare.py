"""From a person's files to what training reads: cleaned text, a held-out dev set, a vocabulary, an encoded corpus.

Everything lands in the run directory, and the encoded corpus last; where it exists, all the rest does too, and a
training that is taken up again needs the person's files no more.
"""

import json
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.checkpoint import ModelDirectory, write_bytes, write_json
from dragoman.config import Recipe
from dragoman.data.cleaning import HELD_OUT_SHARE, Report, clean, held_out_draw, source_key, source_keys
from dragoman.data.corpus import Pair, Tally, read_pairs, write_pairs
from dragoman.data.store import Store, write_store
from dragoman.data.words import Words
from dragoman.errors import DataError, TrainingError
from dragoman.jobs.languages import doubt_sides
from dragoman.jobs.mix import Mixed, mix_in
from dragoman.jobs.request import Request
from dragoman.jobs.start import speak_as
from dragoman.recipe import read_recipe, write_recipe
from dragoman.text.tokenizer import Tokenizer, normalise, train_tokenizer
from dragoman.training.sizes import FEWEST_PAIRS, CorpusSize, fill, suit

_TOLD_EVERY = 20_000
DEV, _OLD = "dev.tsv", "old.tsv"
"""What is held out of the text, which stays, and the old domain's test set, in the run directory."""
_MEASURED = 1000  # pairs
_SHOWN_CHARACTERS = 10
_MORE = "give more pairs; `dragoman check` shows what was read and what was dropped"


class Prepared(NamedTuple):
    """All that training needs."""

    recipe: Recipe
    tokenizer: Tokenizer
    store: Store
    dev: list[tuple[str, str]]
    corpus: dict[str, Any]
    """What was read, kept and dropped, for the card."""
    old: list[tuple[str, str]]
    """The old domain's test set; empty if there is none."""

    @property
    def scored(self) -> list[tuple[str, str]]:
        """The dev pairs that are translated at each scoring."""
        return self.dev[: self.recipe.training.score_pairs]

    @property
    def judged(self) -> list[tuple[str, str]]:
        """The dev pairs that the finished model is judged by."""
        return self.dev[: self.recipe.training.judge_pairs]


def prepare(
    run: Path, request: Request, recipe: Recipe, start: ModelDirectory | None, tell: Callable[[str, int], None]
) -> Prepared:
    """Read, clean, cut and encode; `tell` hears what is being done and how many pairs of it are done.

    The vocabulary is that of the model that the training starts from, and so are the languages' codes, whatever others
    the text was read by; without such a model a vocabulary is learned.
    """
    held_out = _read_all_held_out(request, recipe)
    text = _clean_text(run, request, recipe, held_out, tell)
    if own := _apart_from(_cleaned(run), _held_out_by_start(request)):
        held_out, text.counts["old_of_start"] = held_out._replace(old=own), True
    extra = _mix_in(run, request, recipe, text, held_out, tell) if request.mix else None
    pairs, counts = text.pairs, text.counts
    if extra:
        pairs += extra.told["used"]
        counts["mixed"] = extra.told
    asked, recipe = recipe, fill(recipe, CorpusSize(pairs, len(text.words), len(text.words.characters)))
    some = list(islice(compress(_cleaned(run), text.kept), 0, None, 1 + len(text.kept) // _MEASURED))
    if swapped := _doubt(some, recipe, request):
        counts["swapped"] = swapped
    if start is None:
        tell("learning the vocabulary", 0)
        tokenizer = _learn_vocabulary(run, recipe, text)
    else:
        tokenizer = Tokenizer(start.tokenizer())
        recipe = speak_as(start, recipe)
        seen = [side for pair in some for side in (tokenizer.familiar(pair.source), pair.target)]
        counts["spelt"] = _spelling(tokenizer, text.words.characters, seen)
    pieces = _count_pieces(tokenizer, [target for _, target, _ in some], pairs)
    recipe = suit(asked, recipe, request.effort().epochs(recipe, len(tokenizer), pieces), request.minutes)
    old = held_out.old[: recipe.training.judge_pairs] if own else held_out.old
    for name, held in ((DEV, text.dev), (_OLD, old)):
        write_pairs(run / name, _shuffled(held))
    write_bytes(run / "tokenizer.model", tokenizer.model)
    write_bytes(run / "recipe.toml", write_recipe(recipe).encode())
    write_json(run / "corpus.json", counts)
    _encode(run, chain(compress(_cleaned(run), text.kept), extra.pairs() if extra else ()), tokenizer, recipe, tell)
    return load_prepared(run)


class _HeldOut(NamedTuple):
    """The sets to judge by that a person gave."""

    dev: list[Pair]
    test: list[Pair]
    old: list[Pair]

    def sources(self, dev: Sequence[Pair]) -> dict[str, Container[int]]:
        """What may not be learned from, where this is the dev set."""
        return {"dev": source_keys(dev), "test": source_keys([*self.test, *self.old])}


def _doubt(some: Sequence[Pair], recipe: Recipe, request: Request) -> str | None:
    sides = [pair.source for pair in some], [pair.target for pair in some]
    return doubt_sides(*sides, (recipe.source_language, recipe.target_language), _paths(request.train))


def _read_all_held_out(request: Request, recipe: Recipe) -> _HeldOut:
    named = ((request.dev, "dev"), (request.test, "test"), (request.old_test, "old-test"))
    return _HeldOut(*(_read_held_out(names, _languages(recipe), name) for names, name in named))


def _held_out_by_start(request: Request) -> list[Pair]:
    """What the model to start from was itself judged by: its old domain, where no test set of that was given."""
    file = Path(request.start) / "run" / DEV
    return list(read_pairs([file], None, None)) if request.start and not request.old_test and file.exists() else []


def _apart_from(text: Iterable[Pair], pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs whose sources do not stand in a text."""
    if not pairs:
        return []
    keys = source_keys(pairs)
    there = {key for pair in text if (key := source_key(pair.source)) in keys}
    return [pair for pair in pairs if source_key(pair.source) not in there]


class _Text(NamedTuple):
    """A person's text, which lies cleaned in the run directory."""

    kept: NDArray[np.bool_]
    """For each pair whether it is learned from; the others are the dev set."""
    dev: list[Pair]
    words: Words
    characters: int
    """Of both sides of all pairs."""
    counts: dict[str, Any]

    @property
    def pairs(self) -> int:
        """How many are learned from."""
        return int(self.kept.sum())


def _clean_text(
    run: Path, request: Request, recipe: Recipe, held_out: _HeldOut, tell: Callable[[str, int], None]
) -> _Text:
    """Clean the text into a file, and cut a dev set out of it if none was given."""
    report, tally, words, targets, draws = Report(), Tally(), Words(), _Targets(), _Draws(recipe.training.seed)
    read = _told(read_pairs(_paths(request.train), *_languages(recipe), tally=tally), "reading and cleaning", tell)
    cleaned = map(_normalised, clean(read, recipe.cleaning, report, kept_out=held_out.sources(held_out.dev)))
    write_pairs(run / "cleaned.tsv", draws.watching(targets.watching(words.counting(cleaned))))
    _refuse_hopeless(report, words, targets)
    kept = np.ones(report.kept, np.bool_) if held_out.dev else draws.kept(recipe.cleaning.dev_pairs)
    if not kept.any():
        raise DataError("every source is the same text, but for capitals and white space", hint=_MORE)
    dev = held_out.dev or list(compress(_cleaned(run), ~kept))
    counted = {"readers": tally.as_dict(), "held_out": len(kept) - int(kept.sum()), "dev": len(dev)}
    characters = report.source_characters + report.target_characters
    return _Text(kept, dev, words, characters, {**report.as_dict(), **counted})


def _mix_in(
    run: Path, request: Request, recipe: Recipe, text: _Text, held_out: _HeldOut, tell: Callable[[str, int], None]
) -> Mixed:
    read = _told(read_pairs(_paths(request.mix), *_languages(recipe)), "reading what is mixed in", tell)
    kept_out = held_out.sources(text.dev)
    return mix_in(run / "mixed.tsv", read, request.mix_share, recipe, beside=text.pairs, kept_out=kept_out)


def _languages(recipe: Recipe) -> tuple[str | None, str | None]:
    return recipe.source_language or None, recipe.target_language or None


def _learn_vocabulary(run: Path, recipe: Recipe, text: _Text) -> Tokenizer:
    assert recipe.pieces.size is not None
    characters = len(text.words.characters)
    return Tokenizer(train_tokenizer(_vocabulary_text(run, recipe, text), recipe.pieces.size, characters=characters))


def _encode(
    run: Path, pairs: Iterator[Pair], tokenizer: Tokenizer, recipe: Recipe, tell: Callable[[str, int], None]
) -> None:
    """Write the encoded corpus, and take away the texts that it was made from."""
    told = _told(pairs, "encoding", tell)
    try:
        write_store(run / "corpus", ((a, b) for a, b, _ in told), tokenizer, recipe.pieces.max_length)
    except OSError as error:
        raise TrainingError(
            f"{run}: the encoded corpus could not be written ({error.strerror})", hint="make room and try again"
        ) from error
    for name in ("cleaned.tsv", "mixed.tsv"):
        (run / name).unlink(missing_ok=True)


def _count_pieces(tokenizer: Tokenizer, some: Sequence[str], pairs: int) -> float:
    """About how many target pieces so many pairs have, judged by some of them."""
    encoded = tokenizer.encode_all(some)
    return pairs * (1 + sum(map(len, encoded)) / len(encoded))


def is_prepared(run: Path) -> bool:
    """Tell whether a corpus lies encoded in the run directory."""
    return (run / "corpus").is_dir()


def load_prepared(run: Path) -> Prepared:
    """Open what `prepare` wrote."""
    dev, old = (
        [(p.source, p.target) for p in read_pairs([run / name], None, None)] if (run / name).exists() else []
        for name in (DEV, _OLD)
    )
    corpus = json.loads((run / "corpus.json").read_text(encoding="utf-8"))
    store = Store(run / "corpus")
    corpus.pop("examples", None)
    corpus.update(pairs=len(store), too_many_pieces=store.encoded.too_long)
    recipe = read_recipe(run / "recipe.toml")
    return Prepared(recipe, Tokenizer((run / "tokenizer.model").read_bytes()), store, dev, corpus, old)


class _Targets:
    """The first different targets that went by: two are enough to know that there is something to learn."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def watching(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Pass pairs on."""
        for pair in pairs:
            if len(self.seen) < 2:
                self.seen.add(pair.target)
            yield pair


class _Draws:
    """A number drawn for each source that went by, so that a dev set can be cut once all are counted."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn = array("I")

    def watching(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Pass pairs on."""
        for pair in pairs:
            self._drawn.append(held_out_draw(pair.source, self._seed))
            yield pair

    def kept(self, dev_pairs: int) -> NDArray[np.bool_]:
        """Tell for each pair whether it stays; as many go as were asked for, at most a twentieth, and at least one."""
        drawn = np.frombuffer(self._drawn, np.uint32)
        share = min(dev_pairs / len(drawn), HELD_OUT_SHARE)
        bound = max(share * 2**32, float(drawn.min()) + 1)
        return np.asarray(drawn >= bound)


def _refuse_hopeless(report: Report, words: Words, targets: _Targets) -> None:
    """Complain about a corpus from which nothing can be learned."""
    if report.kept < FEWEST_PAIRS:
        dropped = ", ".join(f"{n} {name}" for name, n in report.dropped.items()) or "none"
        raise DataError(
            f"only {report.kept} of {report.read} pairs are left to learn from (dropped: {dropped}); "
            f"it takes at least {FEWEST_PAIRS}",
            hint=_MORE,
        )
    if len(targets.seen) < 2:
        raise DataError(f"every target is the same text: {next(iter(targets.seen))!r}", hint=_MORE)
    if len(words) < 10:
        raise DataError(f"the corpus holds only {len(words)} different words", hint=_MORE)


def _paths(names: Sequence[str]) -> list[Path]:
    return [Path(name) for name in names]


def _read_held_out(names: Sequence[str], languages: tuple[str | None, str | None], name: str) -> list[Pair]:
    if not names:
        return []
    read = read_pairs(_paths(names), *languages)
    pairs = [_normalised(pair) for pair in read if pair.source.strip() and pair.target.strip()]
    if not pairs:
        raise DataError(f"the {name} set holds no pair", hint=f"give another --{name}, or none")
    return pairs


def _shuffled(pairs: Sequence[Pair]) -> list[Pair]:
    """Mix up pairs that may come sorted, so that the first of them, by which a model is judged, are like all.

    It is done alike for every seed of a training, so that their scores can be compared.
    """
    return [pairs[n] for n in np.random.default_rng(len(pairs)).permutation(len(pairs))]


def _normalised(pair: Pair) -> Pair:
    return Pair(normalise(pair.source), normalise(pair.target), pair.where)


def _told(pairs: Iterator[Pair], what: str, tell: Callable[[str, int], None]) -> Iterator[Pair]:
    done = 0
    while chunk := list(islice(pairs, _TOLD_EVERY)):
        yield from chunk
        done += len(chunk)
        tell(what, done)


def _cleaned(run: Path) -> Iterator[Pair]:
    return read_pairs([run / "cleaned.tsv"], None, None)


def _vocabulary_text(run: Path, recipe: Recipe, text: _Text) -> Iterator[str]:
    """The training text, or of a large corpus a part of it drawn at random, to learn the vocabulary from."""
    wanted = recipe.pieces.learned_from / max(1, text.characters)
    drawn = text.kept & (np.random.default_rng(recipe.training.seed).random(len(text.kept)) < wanted)
    for source, target, _ in compress(_cleaned(run), drawn):
        yield source
        yield target


def _spelling(tokenizer: Tokenizer, characters: Iterable[str], texts: Sequence[str]) -> str | None:
    """Say which characters the vocabulary cannot spell but in bytes, and how many pieces of a text that takes."""
    unknown = sorted(c for c in characters if tokenizer.is_spelt(tokenizer.encode(c)))
    if not unknown:
        return None
    encoded = [piece for pieces in tokenizer.encode_all(texts) for piece in pieces]
    percent = 100 * sum(tokenizer.is_spelt([piece]) for piece in encoded) / max(1, len(encoded))
    some = " ".join(unknown[:_SHOWN_CHARACTERS]) + (" …" if len(unknown) > _SHOWN_CHARACTERS else "")
    return (
        f"the vocabulary does not know {len(unknown):,} of the text's characters ({some}) and spells them in bytes: "
        f"{f'{percent:.1f}' if percent >= 0.1 else 'under 0.1'} % of the pieces"
    )
