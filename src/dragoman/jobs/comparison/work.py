"""One run of a comparison: the text it learns from, its training, and what is measured of it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dragoman.data.corpus import Pair, write_pairs
from dragoman.data.grammar import Example, contrasts, generate
from dragoman.errors import DataError, DivergedError, UnfinishedError
from dragoman.jobs.comparison.figures import Exam, measure
from dragoman.jobs.comparison.findings import Budget
from dragoman.jobs.demo import CONTRAST_SEED, DEV_SEED, PAIRS, TEST_SEED, TRAIN_SEED
from dragoman.jobs.evaluate import read_test_set
from dragoman.jobs.events import Observer
from dragoman.jobs.train import train

_DEV, _TEST, _CONTRASTS = 300, 1000, 300


class Data(NamedTuple):
    """The text of a comparison; without files it is the built-in corpus."""

    train: Sequence[Path] = ()
    dev: Sequence[Path] = ()
    test: Sequence[Path] = ()
    source_language: str = ""
    target_language: str = ""

    @property
    def builtin(self) -> bool:
        """Whether the built-in corpus is meant."""
        return not self.train


class Work(NamedTuple):
    """What is to be trained, on what, into which directory."""

    model: Path
    settings: Sequence[str]
    data: Data
    budget: Budget


def settle(out: Path, data: Data) -> tuple[Data, Exam]:
    """The files to train on, and what to judge by; the built-in corpus is written first, if it is meant."""
    if not data.builtin:
        if not data.test:
            raise DataError("a comparison needs a test set", hint="give one with --test; it is kept out of training")
        test = read_test_set(list(data.test), data.source_language, data.target_language)
        return data, Exam(test.sources, test.references)
    room = out / "data"
    room.mkdir(parents=True, exist_ok=True)
    examples = list(generate(_TEST, TEST_SEED))
    texts = {"train": generate(PAIRS, TRAIN_SEED), "dev": generate(_DEV, DEV_SEED), "test": iter(examples)}
    for name, made in texts.items():
        if not (room / f"{name}.tsv").exists():
            write_pairs(room / f"{name}.tsv", map(_pair, made))
    train_files, dev, test_files = ([room / f"{name}.tsv"] for name in texts)
    exam = Exam(
        [e.source for e in examples],
        [e.target for e in examples],
        examples,
        list(contrasts(_CONTRASTS, CONTRAST_SEED)),
    )
    return Data(train_files, dev, test_files, "en", "es"), exam


def _pair(example: Example) -> Pair:
    return Pair(example.source, example.target, "")


def train_and_measure(work: Work, exam: Exam, observe: Observer) -> dict[str, Any]:
    """Train, or go on, and measure; a recipe that cannot be trained is a result too."""
    begun = (work.model / "run" / "request.json").exists()
    try:
        if begun:
            train(out=work.model, resume=True, observe=observe)
        else:
            train(
                work.data.train,
                out=work.model,
                source_language=work.data.source_language,
                target_language=work.data.target_language,
                dev=work.data.dev,
                test=work.data.test,
                settings=work.settings,
                minutes=work.budget.minutes,
                steps=work.budget.steps,
                observe=observe,
            )
    except DivergedError as error:
        return {"failed": error.message}
    except UnfinishedError:
        if not (work.model / "run" / "state.json").exists():
            shutil.rmtree(work.model)  # or it would go on with this budget, whatever the next one is
        raise
    return measure(work.model, exam)
