"""Positions: the paper's sinusoids, and learned tables."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine import plain_layers
from dragoman.engine.layout import positions_table
from dragoman.nn.positions import LearnedPositions, SinusoidalPositions, rotate, sinusoids

LENGTH, WIDTH = 13, 7


def test_the_sinusoids_are_the_papers() -> None:
    table = sinusoids(LENGTH, WIDTH)
    for place in range(LENGTH):
        for column in range(WIDTH):
            angle = place / 10_000 ** (column // 2 * 2 / WIDTH)
            wanted = math.cos(angle) if column % 2 else math.sin(angle)
            assert table[place, column].item() == pytest.approx(wanted, abs=1e-6)


@given(length=st.integers(1, 600), width=st.integers(1, 70))
def test_the_engines_compute_the_same_table(length: int, width: int) -> None:
    torch.testing.assert_close(sinusoids(length, width), torch.from_numpy(positions_table(length, width)))


@given(length=st.integers(1, 60), base=st.floats(1.5, 1e5))
def test_the_base_sets_the_longest_wave(length: int, base: float) -> None:
    table = sinusoids(length, 2 * WIDTH, base)
    torch.testing.assert_close(table, torch.from_numpy(positions_table(length, 2 * WIDTH, base)), atol=1e-5, rtol=0)
    slowest = torch.arange(length) / base ** ((WIDTH - 1) / WIDTH)
    torch.testing.assert_close(table[:, -2], slowest.double().sin().float(), atol=1e-5, rtol=0)


@given(apart=st.integers(0, 9), place=st.integers(0, 30), base=st.sampled_from([100.0, 10_000.0]))
def test_turned_vectors_know_how_far_apart_they_are_and_nothing_else(apart: int, place: int, base: float) -> None:
    query, key = torch.randn(2, 1, 2 * WIDTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    queries, keys = rotate(query.expand(41, -1), base), rotate(key.expand(41, -1), base)
    torch.testing.assert_close(queries[place + apart] @ keys[place], queries[apart] @ keys[0])
    torch.testing.assert_close(queries.norm(dim=-1), query.norm(dim=-1).expand(41))
    torch.testing.assert_close(queries[0], query[0])


def test_both_engines_turn_alike_and_can_begin_anywhere() -> None:
    x = torch.randn(2, 3, 11, 2 * WIDTH, generator=torch.Generator().manual_seed(1))
    turned = rotate(x, 100.0)
    torch.testing.assert_close(torch.from_numpy(plain_layers.rotate(x.numpy(), 100.0, 0)), turned)
    later = plain_layers.rotate(x[:, :, 5:].numpy(), 100.0, 5)
    torch.testing.assert_close(torch.from_numpy(later), turned[:, :, 5:])


@given(by=st.integers(0, 40))
def test_moving_on_is_a_rotation(by: int) -> None:
    """What makes relative places learnable: the same matrix moves every place on, whatever the place (section 3.5)."""
    table = sinusoids(97, 2 * WIDTH).double()
    sines, cosines = table[:, 0::2], table[:, 1::2]
    angles = by / 10_000 ** (torch.arange(WIDTH, dtype=torch.float64) / WIDTH)
    moved = sines[: 97 - by] * angles.cos() + cosines[: 97 - by] * angles.sin()
    torch.testing.assert_close(moved, sines[by:], atol=1e-5, rtol=0)


@given(lengths=st.lists(st.integers(1, 300), min_size=1, max_size=5))
def test_sinusoids_grow_and_stay_the_same(lengths: list[int]) -> None:
    positions = SinusoidalPositions(WIDTH)
    for length in lengths:
        torch.testing.assert_close(positions(length), sinusoids(length, WIDTH))
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_every_place_is_another_vector() -> None:
    table = sinusoids(1009, 64)
    distances = torch.cdist(table, table) + 9 * torch.eye(1009)
    assert distances.min() > 0.1


def test_learned_positions_know_no_place_beyond_their_last() -> None:
    positions = LearnedPositions(WIDTH, LENGTH)
    torch.nn.init.normal_(positions.table)
    torch.testing.assert_close(positions(5), positions.table[:5])
    assert positions(LENGTH).shape == (LENGTH, WIDTH)
    with pytest.raises(ValueError, match=f"a sequence of {LENGTH + 1} places, but only {LENGTH} were learned"):
        positions(LENGTH + 1)
