"""What was translated of late, asked for by several threads at once."""

import sys
import threading
from collections.abc import Iterator

import pytest

from dragoman.config import Search
from dragoman.engine.base import Hypothesis
from dragoman.engine.memory import Memory
from dragoman.engine.question import Manner, Request

MANNERS = [Manner(Search(beam=beam), alignments=False) for beam in (1, 5)]
REQUESTS: list[Request] = [((5, 7, n), ()) for n in range(23)]


@pytest.fixture
def hurried() -> Iterator[None]:
    """Let threads change places as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried")
def test_no_thread_gets_the_answers_of_another_manner() -> None:
    memory = Memory(17)
    wrong: list[object] = []

    def translate(number: int) -> None:
        answer = [Hypothesis((number,), 0.0, finished=True)]
        try:
            for _ in range(2000):
                _, known = memory.recall(set(REQUESTS), MANNERS[number])
                wrong.extend(found for found in known.values() if found != answer)
                memory.keep(dict.fromkeys(REQUESTS, answer), MANNERS[number])
        except KeyError as error:
            wrong.append(error)

    threads = [threading.Thread(target=translate, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
