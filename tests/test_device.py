"""What can be said of a graphics card without having one: the code keeps to one device, and bfloat16 learns."""

from dataclasses import replace

import pytest
import torch

from dragoman.config import Recipe, Training
from dragoman.data.batches import make_batch
from dragoman.errors import RecipeError, TrainingError
from dragoman.nn.models import build
from dragoman.recipe import check
from dragoman.training.device import put_on
from dragoman.training.gradients import Pupil, find_gradients
from dragoman.training.learner import Learner
from dragoman.training.sizes import default_processes
from random_weights import TINY, VOCABULARY

BATCH = make_batch([[5, 7, 11], [13]], [[23, 29], [5, 7, 11, 13]])


def test_nothing_is_left_on_the_cpu() -> None:
    """Forward and backward with tensors that have a device but no values: one made elsewhere would be refused."""
    with torch.device("meta"):
        network = build(TINY, VOCABULARY, 20).train()
        source, target = torch.ones(3, 5, dtype=torch.long), torch.ones(3, 7, dtype=torch.long)
    decoded = network(source, source != 0, target)
    torch.autograd.backward(decoded.sum())
    assert decoded.device.type == "meta"
    grads = [p.grad for p in network.parameters() if p.grad is not None]
    assert grads
    assert all(grad.device.type == "meta" for grad in grads)


def test_bfloat16_finds_about_the_same_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the CPU, as it would be on a card: PyTorch's attention, and the loss in float32."""
    monkeypatch.setattr("dragoman.nn.fused._SHORT", 0)
    drawn = Training(initial="glorot")
    network = Learner(Recipe(model=replace(TINY, dropout=0.1), training=drawn), VOCABULARY).network
    exact = find_gradients(Pupil(network), Training(), BATCH, 1, pieces=BATCH.pieces)
    wanted = gradients_of(network)
    rough = find_gradients(Pupil(network), Training(precision="bfloat16"), BATCH, 1, pieces=BATCH.pieces)
    assert rough == pytest.approx(exact, rel=0.02)
    assert rough != exact
    assert torch.cosine_similarity(gradients_of(network), wanted, dim=0) > 0.99


def gradients_of(network: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.grad.ravel() for p in network.parameters() if p.grad is not None])


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a graphics card")
def test_a_card_that_is_not_there_is_an_error_with_advice() -> None:
    with pytest.raises(TrainingError, match="no graphics card") as caught:
        put_on(torch.nn.Linear(2, 2), "cuda")
    assert "training.device=cpu" in str(caught.value.hint)


def test_a_card_takes_one_process() -> None:
    assert default_processes("cuda") == 1
    with pytest.raises(RecipeError, match=r"training\.processes must be 1"):
        check(Recipe(training=Training(device="cuda", processes=2)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a graphics card")
def test_a_card_learns_what_the_cores_learn() -> None:
    slow, fast = (
        Learner(Recipe(model=replace(TINY, dropout=0.0), training=Training(device=device)), VOCABULARY)
        for device in ("cpu", "cuda")
    )
    for update in range(1, 21):
        expected, found = slow.update(BATCH, update, 0.003), fast.update(BATCH, update, 0.003)
    assert found == pytest.approx(expected, rel=0.1)
