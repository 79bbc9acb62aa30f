"""Sentences of many clients in one engine: everyone gets their own, nobody blocks anybody, nothing is left behind."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from unittest.mock import patch

import pytest
from starlette.requests import Request

from dragoman.config import Search
from dragoman.engine.base import Hypothesis
from dragoman.engine.question import Manner, Question, Steps
from dragoman.server import gather as gather_module
from dragoman.server.gather import Found, Gather, SharedEngine
from dragoman.server.limits import ClientGoneError, Limits, RefusedError
from dragoman.server.work import Bell, Work, Workers

GREEDY, BEAM = Manner(Search(beam=1), alignments=False), Manner(Search(beam=3), alignments=False)
POISON = -1
TIMEOUT = 60


class Backwards:
    """An engine that writes every source backwards, after its prefix, and only when it is let."""

    max_source = max_target = 100

    def __init__(self, *, gated: bool = False) -> None:
        self.batches: list[list[tuple[int, ...]]] = []
        self.searches: list[Search] = []
        self.gate = threading.Semaphore(0)
        self.asked = threading.Semaphore(0)
        self._gated = gated

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> Found:
        del attention
        self.batches.append([tuple(source) for source in sources])
        self.searches.append(search)
        self.asked.release()
        if self._gated:
            assert self.gate.acquire(timeout=TIMEOUT)
        if any(POISON in source for source in sources):
            raise ValueError("poison")
        forced = prefixes or [()] * len(sources)
        return [[Hypothesis((*p, *reversed(s)), 0.0, finished=True)] for s, p in zip(sources, forced, strict=True)]


@pytest.fixture
def gated() -> Iterator[tuple[Backwards, Gather]]:
    """Return an engine with one worker that has to be let through, batch by batch."""
    engine = Backwards(gated=True)
    gather = Gather(engine, workers=1)
    yield engine, gather
    engine.gate.release(1000)
    gather.close()


def answer(future: Future[Found]) -> list[tuple[int, ...]]:
    return [hypotheses[0].pieces for hypotheses in future.result(timeout=TIMEOUT)]


def test_everyone_gets_their_own() -> None:
    engine = Backwards()
    gather = Gather(engine, workers=3)
    requests = [[[100 * client + number] * (1 + number % 7) for number in range(client % 5)] for client in range(97)]
    with ThreadPoolExecutor(31) as clients:
        futures = list(clients.map(lambda sources: gather.submit(sources, None, GREEDY), requests))
        found = list(clients.map(answer, futures))
    gather.close()
    assert found == [[tuple(reversed(source)) for source in sources] for sources in requests]
    assert sum(map(len, engine.batches)) == sum(map(len, requests))


def test_a_prefix_goes_with_its_source() -> None:
    gather = Gather(Backwards(), workers=1)
    given: list[list[list[int]] | None] = [None, [[7]], [[]]]
    futures = [gather.submit([[1, 2]], prefixes, GREEDY) for prefixes in given]
    assert [answer(future) for future in futures] == [[(2, 1)], [(7, 2, 1)], [(2, 1)]]
    gather.close()


def test_an_idle_engine_never_waits_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The patience of a worker is an hour, and yet a request that comes alone is answered."""
    monkeypatch.setattr(gather_module, "_PATIENCE", 3600)
    gather = Gather(Backwards(), workers=2)
    for number in range(5):
        assert answer(gather.submit([[number]], None, GREEDY)) == [(number,)]
    gather.close()


def test_what_comes_meanwhile_is_gathered(gated: tuple[Backwards, Gather]) -> None:
    engine, gather = gated
    first = gather.submit([[1]], None, GREEDY)
    assert engine.asked.acquire(timeout=TIMEOUT)
    others = [gather.submit([[number]], None, GREEDY) for number in range(2, 19)]
    engine.gate.release(2)
    assert [answer(future) for future in (first, *others)] == [[(number,)] for number in range(1, 19)]
    assert [len(batch) for batch in engine.batches] == [1, 17]


def test_a_long_request_does_not_block_a_short_one(gated: tuple[Backwards, Gather]) -> None:
    """The long one needs many batches; the short one comes after it and is in the very next."""
    engine, gather = gated
    long = gather.submit([[number] * 31 for number in range(200)], None, GREEDY)
    assert engine.asked.acquire(timeout=TIMEOUT)
    short = gather.submit([[5, 6]], None, GREEDY)
    engine.gate.release(2)
    assert answer(short) == [(6, 5)]
    assert not long.done()
    assert len(engine.batches) <= 3
    assert (5, 6) in engine.batches[1]
    engine.gate.release(100)
    assert len(answer(long)) == 200


def test_a_batch_has_one_manner(gated: tuple[Backwards, Gather]) -> None:
    engine, gather = gated
    futures = [gather.submit([[number]], None, BEAM if number % 2 else GREEDY) for number in range(10)]
    engine.gate.release(10)
    assert [answer(future) for future in futures] == [[(number,)] for number in range(10)]
    for batch, search in zip(engine.batches, engine.searches, strict=True):
        assert {number % 2 for (number,) in batch} == {int(search == BEAM.search)}


def test_what_was_given_up_never_reaches_the_engine(gated: tuple[Backwards, Gather]) -> None:
    engine, gather = gated
    first = gather.submit([[1]], None, GREEDY)
    assert engine.asked.acquire(timeout=TIMEOUT)
    gone, kept = gather.submit([[2]] * 50, None, GREEDY), gather.submit([[3]], None, GREEDY)
    assert gone.cancel()
    engine.gate.release(2)
    assert [answer(first), answer(kept)] == [[(1,)], [(3,)]]
    assert engine.batches == [[(1,)], [(3,)]]
    assert gather.waiting == 0


def test_one_request_does_not_fail_for_another(gated: tuple[Backwards, Gather]) -> None:
    engine, gather = gated
    gather.submit([[1]], None, GREEDY)
    assert engine.asked.acquire(timeout=TIMEOUT)
    good, bad = gather.submit([[2, 3]], None, GREEDY), gather.submit([[4], [POISON]], None, GREEDY)
    engine.gate.release(10)
    assert answer(good) == [(3, 2)]
    with pytest.raises(ValueError, match="poison"):
        bad.result(timeout=TIMEOUT)


def test_closing_finishes_what_was_submitted_and_takes_nothing_more() -> None:
    engine = Backwards(gated=True)
    gather = Gather(engine, workers=1)
    futures = [gather.submit([[number] * 50] * 30, None, GREEDY) for number in range(3)]
    engine.gate.release(1000)
    gather.close()
    assert all(future.done() for future in futures)
    with pytest.raises(RefusedError, match="The service is stopping"):
        gather.submit([[1]], None, GREEDY)


def test_one_who_waits_can_be_told_to_give_up(gated: tuple[Backwards, Gather]) -> None:
    backwards, gather = gated
    engine = SharedEngine(gather, most=10)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(engine.translate, [[1], [2]], GREEDY.search)
        assert backwards.asked.acquire(timeout=TIMEOUT)
        engine.give_up()
        with pytest.raises(CancelledError):
            waiting.result(timeout=TIMEOUT)
    with pytest.raises(CancelledError):
        engine.translate([[3]], GREEDY.search)


def test_a_request_has_so_many_sentences_and_no_more() -> None:
    """Those that are asked for again, because something was lost, are not counted again."""
    gather = Gather(Backwards(), workers=1)
    engine = SharedEngine(gather, most=3)
    for _ in range(2):
        engine.translate([[1], [2], [3]], GREEDY.search)
    with pytest.raises(RefusedError, match="more than 3 different sentences"):
        engine.translate([[1], [2], [3], [4]], GREEDY.search)
    gather.close()


def test_a_client_that_leaves_between_two_questions_has_left(gated: tuple[Backwards, Gather]) -> None:
    engine, gather = gated
    engine.gate.release(10)
    workers = Workers(Limits(), busy=lambda: 1)

    def steps(work: Work) -> Steps[None]:
        shared = work._engines[gather] = SharedEngine(gather, most=10)
        yield Question(shared, [((1, 2), ())], GREEDY)
        work.give_up(ClientGoneError())
        yield Question(shared, [((3, 4), ())], GREEDY)

    with pytest.raises(ClientGoneError):
        asyncio.run(workers.follow(Request({"type": "http"}), 4, steps, effort=4))
    assert engine.batches == [[(1, 2)]]
    workers.close()


def test_how_long_it_will_take_is_told_in_whole_seconds(gated: tuple[Backwards, Gather]) -> None:
    _, gather = gated
    assert gather.seconds_left() == 1
    future = gather.submit([[1] * 99] * 300, None, GREEDY)
    assert 1 < gather.seconds_left() <= 60
    future.cancel()


def test_what_many_wait_for_is_told_at_once() -> None:
    """The event loop is woken once for all that has been found while it was at something else."""
    bell, futures = Bell(), [Future[int]() for _ in range(30)]

    async def hear() -> tuple[list[int], int]:
        loop = asyncio.get_running_loop()
        hearing = asyncio.gather(*map(bell.hear, futures))
        await asyncio.sleep(0)
        with patch.object(loop, "call_soon_threadsafe", wraps=loop.call_soon_threadsafe) as woken:
            for number, future in enumerate(futures):
                future.set_result(number)
            return await asyncio.wait_for(hearing, TIMEOUT), woken.call_count

    assert asyncio.run(hear()) == (list(range(30)), 1)


def test_who_waits_hears_of_a_failure_and_of_giving_up_and_can_give_up() -> None:
    bell, (failed, cancelled, unwanted) = Bell(), [Future[int]() for _ in range(3)]

    async def hear() -> list[BaseException]:
        hearings = [asyncio.ensure_future(bell.hear(future)) for future in (failed, cancelled, unwanted)]
        await asyncio.sleep(0)
        failed.set_exception(ValueError("poison"))
        cancelled.cancel()
        hearings[2].cancel()
        done, _ = await asyncio.wait(hearings, timeout=TIMEOUT)
        assert len(done) == 3
        errors = await asyncio.gather(*hearings, return_exceptions=True)
        return [error for error in errors if isinstance(error, BaseException)]

    assert [type(error) for error in asyncio.run(hear())] == [
        ValueError,
        asyncio.CancelledError,
        asyncio.CancelledError,
    ]
    assert unwanted.cancelled()
