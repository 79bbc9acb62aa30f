"""Several processes learn what one would."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch

from dragoman.config import Recipe, Training
from dragoman.data.batches import Batch, make_batch
from dragoman.errors import UnfinishedError
from dragoman.training.crew import Crew, take_part
from dragoman.training.gradients import Pupil, find_gradients
from dragoman.training.learner import Learner
from dragoman.training.muon import orthogonalise
from random_weights import TINY, VOCABULARY

RATE = 0.003
BATCH = make_batch([[5, 7, 11], [13], [17, 19], [23], [29, 30]], [[23, 29], [5, 7, 11, 13], [17], [19], [8, 9]])
SINGLE = make_batch([[5, 7]], [[11, 13]])


@pytest.fixture
def crew() -> Iterator[Crew]:
    with closing(Crew(2)) as crew:
        yield crew


def make(crew: Crew | None, dropout: float = 0.0) -> Learner:
    return Learner(Recipe(model=replace(TINY, dropout=dropout), training=Training(initial="glorot")), VOCABULARY, crew)


def learn(learner: Learner) -> list[float]:
    return [learner.update(batch, update, RATE) for update, batch in enumerate((BATCH, SINGLE, BATCH, BATCH), start=1)]


def test_ctrl_c_does_not_reach_the_helpers(crew: Crew) -> None:
    """Not even while they load what they need, and cannot yet turn a deaf ear to it."""
    assert [os.getpgid(helper.pid) for helper in crew.helpers] != [os.getpgid(0)]


def test_every_row_is_taken_by_one_process() -> None:
    parts = [take_part(BATCH, part, 3) for part in range(3)]
    assert sum(len(part.source) for part in parts) == len(BATCH.source)
    assert sum(part.pieces for part in parts) == BATCH.pieces
    assert {tuple(row) for part in parts for row in part.target} == {tuple(row) for row in BATCH.target}


def test_two_processes_learn_what_one_does(crew: Crew) -> None:
    """A batch of one row, which leaves the helper idle, is among them.

    A key's bias has no gradient but rounding errors, which AdamW makes as large as any other.
    """
    alone, together = make(None), make(crew)
    np.testing.assert_allclose(learn(together), learn(alone), rtol=1e-5)
    for name, array in alone.averaged().items():
        if not name.endswith("key.bias"):
            np.testing.assert_allclose(together.averaged()[name], array, atol=2e-5, err_msg=name)


def test_two_processes_learn_the_same_every_time(crew: Crew) -> None:
    """To the bit, with dropout, and after another network was at work in the same shared memory."""
    first = make(crew, dropout=0.3)
    losses = learn(first)
    arrays = first.averaged()
    again = make(crew, dropout=0.3)
    assert learn(again) == losses
    for name, array in again.averaged().items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)


def test_matrices_are_made_orthogonal_together(crew: Crew) -> None:
    make(crew)
    draws = torch.Generator().manual_seed(1)
    stacks = [torch.randn(shape, generator=draws) for shape in [(3, 5, 7), (1, 7, 5), (4, 11, 2)]]
    for found, stack in zip(crew.orthogonalise(stacks), stacks, strict=True):
        torch.testing.assert_close(found, orthogonalise(stack))


def test_each_process_has_its_own_noise() -> None:
    """The same rows in two parts of a batch are dropped differently."""
    learner = make(None, dropout=0.5)
    losses = [
        find_gradients(Pupil(learner.network), Training(), BATCH, 1, pieces=BATCH.pieces, part=part)
        for part in (0, 0, 1)
    ]
    assert losses[0] == losses[1] != losses[2]


def test_a_crew_of_one_is_no_crew() -> None:
    threads = torch.get_num_threads()
    with closing(Crew(1)) as crew:
        assert learn(make(crew)) == pytest.approx(learn(make(None)), rel=1e-6)
    assert torch.get_num_threads() == threads


def test_a_lost_helper_ends_the_training_with_a_word(crew: Crew) -> None:
    learner = make(crew)
    learn(learner)
    helper = crew.helpers[0]
    helper.send_signal(signal.SIGKILL)
    helper.wait()
    with pytest.raises(UnfinishedError, match=r"ended \(exit code -9\)") as caught:
        learn(learner)
    assert "set training.processes to 1 in run/recipe.toml" in caught.value.hint


def test_a_helper_leaves_signals_to_its_leader_and_goes_with_it() -> None:
    crew = Crew(2)
    learner = make(crew)
    learn(learner)
    helper = crew.helpers[0]
    helper.send_signal(signal.SIGINT)
    helper.send_signal(signal.SIGTERM)
    assert learner.update(BATCH, 5, RATE) > 0
    assert helper.stdin is not None
    helper.stdin.close()
    assert helper.wait(timeout=20) == 0
    crew.close()


def test_nothing_is_left_after_closing() -> None:
    crew = Crew(3)
    pids = [helper.pid for helper in crew.helpers]
    crew.close()
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_rows_are_taken_without_padding_them_anew() -> None:
    part = take_part(BATCH, 1, 2)
    assert isinstance(part, Batch)
    assert part.source.shape[1] == BATCH.source.shape[1]
