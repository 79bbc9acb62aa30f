"""What is asked of an engine, as a thing of its own: whoever wants a translation says what it needs to know.

Texts are translated by generators that yield questions, are sent the answers, and return what they make of them. So the
same steps can be followed by one who waits for the engine (`finish`), and by a service that does not wait.
"""

from collections.abc import Generator
from typing import NamedTuple, TypeVar

from dragoman.config import Search
from dragoman.engine.base import Engine, Hypothesis

Request = tuple[tuple[int, ...], tuple[int, ...]]
"""A source and the prefix that its translation must have, in pieces."""
Answers = dict[Request, list[Hypothesis]]
Result = TypeVar("Result")


class Manner(NamedTuple):
    """How texts are to be translated."""

    search: Search
    alignments: bool


class Question(NamedTuple):
    """Some requests to one engine, each different."""

    engine: Engine
    requests: list[Request]
    manner: Manner

    @property
    def sources(self) -> list[tuple[int, ...]]:
        """The sources."""
        return [source for source, _ in self.requests]

    @property
    def prefixes(self) -> list[tuple[int, ...]] | None:
        """The prefixes, if there are any."""
        prefixes = [prefix for _, prefix in self.requests]
        return prefixes if any(prefixes) else None

    def ask(self) -> Answers:
        """Wait for the engine."""
        if not self.requests:
            return {}
        search, attention = self.manner
        return self.match(self.engine.translate(self.sources, search, prefixes=self.prefixes, attention=attention))

    def match(self, found: list[list[Hypothesis]]) -> Answers:
        """Say which request each answer belongs to."""
        if len(found) != len(self.requests) or not all(found):
            got = sum(map(bool, found))
            raise ValueError(f"the engine returned {got} translations for {len(self.requests)} sources")
        return dict(zip(self.requests, found, strict=True))


Steps = Generator[Question, Answers, Result]
"""Work that needs an engine now and then."""


def finish(steps: Steps[Result]) -> Result:
    """Put every question to its engine, and return what comes of it."""
    try:
        question = next(steps)
        while True:
            question = steps.send(question.ask())
    except StopIteration as end:
        result: Result = end.value
        return result
