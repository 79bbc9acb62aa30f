import pytest
import torch

from dragoman.training.muon import Muon, orthogonalise


def step(muon: Muon, rate: float) -> None:
    muon.step(rate, [orthogonalise(stack) for stack in muon.look_ahead()])


def test_singular_values_come_near_one() -> None:
    matrices = torch.randn(3, 13, 29, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(orthogonalise(matrices))
    assert values.min() > 0.3
    assert values.max() < 1.3


def test_a_tall_matrix_is_treated_as_its_wide_transpose() -> None:
    matrices = torch.randn(2, 7, 19, generator=torch.Generator().manual_seed(2))
    turned = orthogonalise(matrices.transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(orthogonalise(matrices), turned)


def test_a_wide_matrix_is_turned_like_any_other() -> None:
    matrices = torch.randn(2, 11, 37, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    values = torch.linalg.svdvals(matrices)
    values = values / values.norm(dim=1, keepdim=True)
    for _ in range(5):
        values = 3.4445 * values - 4.7750 * values**3 + 2.0315 * values**5
    torch.testing.assert_close(orthogonalise(matrices), u * values[:, None] @ v, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(orthogonalise(matrices.float()).double(), u * values[:, None] @ v, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("columns", [61, 131])
def test_rough_numbers_turn_a_matrix_about_as_far(columns: int) -> None:
    """Also where its singular values reach from large to small, as a gradient's do."""
    matrices = torch.randn(2, 61, columns, generator=torch.Generator().manual_seed(6))
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    matrices = u * torch.logspace(0, -4, 61) @ v
    exact, rough = orthogonalise(matrices), orthogonalise(matrices, torch.bfloat16).float()
    assert torch.cosine_similarity(rough.flatten(1), exact.flatten(1)).min() > 0.98
    assert torch.linalg.svdvals(rough).max() < 1.3
    assert not torch.equal(rough, exact)


def test_the_size_of_a_gradient_does_not_matter() -> None:
    moved = []
    for scale in (1.0, 1e-3):
        weight = torch.nn.Parameter(torch.zeros(5, 11))
        weight.grad = scale * torch.randn(5, 11, generator=torch.Generator().manual_seed(3))
        step(Muon({"w": weight}, momentum=0.95, decay=0.0), 0.01)
        moved.append(weight.detach().clone())
    torch.testing.assert_close(moved[0], moved[1], rtol=1e-3, atol=1e-5)


def test_a_step_goes_downhill() -> None:
    generator = torch.Generator().manual_seed(4)
    goal = torch.randn(7, 7, generator=generator)
    weight = torch.nn.Parameter(torch.randn(7, 7, generator=generator))
    muon = Muon({"w": weight}, momentum=0.9, decay=0.0)
    losses = []
    for _ in range(160):
        loss = (weight - goal).square().sum()
        losses.append(loss.item())
        (weight.grad,) = torch.autograd.grad(loss, weight)
        step(muon, 0.1)
    assert losses[-1] < 0.2 * losses[0]


def test_decay_alone_shrinks_the_weights() -> None:
    weight = torch.nn.Parameter(torch.ones(3, 5))
    weight.grad = torch.zeros(3, 5)
    step(Muon({"w": weight}, momentum=0.9, decay=0.5), 0.1)
    torch.testing.assert_close(weight.detach(), torch.full((3, 5), 0.95))
