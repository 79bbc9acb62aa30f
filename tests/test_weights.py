"""The names of the weights: docs/weights.md is the law."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.config import Model
from dragoman.nn.models import Network, build, initialise
from dragoman.nn.weights import from_arrays, parameters, to_arrays
from random_weights import POSITIONS, SHAPES, STUDIED, TINY, VOCABULARY, random_weights, shapes

every_shape = pytest.mark.parametrize(
    "model", [*SHAPES, *STUDIED], ids=lambda m: f"{m.norm}-{m.positions}-{m.scores}-{'tied' if m.tied else 'untied'}"
)


def make(model: Model = TINY, seed: int = 1) -> Network:
    network = build(model, VOCABULARY, POSITIONS - 1)
    initialise(network, seed)
    return network


def documented(model: Model) -> set[str]:
    """Expand the first column of the table in docs/weights.md for a model."""
    table = (Path(__file__).parent.parent / "docs" / "weights.md").read_text(encoding="utf-8").split("## Recurrent")[0]
    names = set()
    for names_cell, _, when in re.findall(r"^\| (`.*?) \| (.*?) \| (.*?) *\|$", table, re.MULTILINE):
        applies = {
            "tied": model.tied,
            "not tied": not model.tied,
            "learned positions only": model.positions == "learned",
            "pre-norm only": model.norm == "pre",
            "with norm": model.norm != "none",
            "cosine scores only": model.scores == "cosine",
            "additive scores only": model.scores == "additive",
        }.get(when.split(":")[0], True)
        first = re.findall("`(.*?)`", names_cell)[0]
        cells = names_cell.replace("decoder.N.…", first.replace("encoder", "decoder"))
        if applies:
            names |= {name for cell in re.findall("`(.*?)`", cells) for name in expand(cell, model)}
    return names


def expand(cell: str, model: Model) -> list[str]:
    """Write out {a,b} and N."""
    layers = (model.encoder_layers if cell.startswith("encoder") else model.decoder_layers) or 0
    parts = [part.strip("{}").split(",") for part in re.findall(r"\{.*?\}|[^{]+", cell)]
    names = ["".join(chosen) for chosen in product(*parts)]
    return [name.replace(".N.", f".{n}.") for name in names for n in range(layers if ".N." in name else 1)]


@every_shape
def test_the_names_are_those_of_the_documentation(model: Model) -> None:
    assert set(to_arrays(make(model))) == documented(model)


@every_shape
def test_the_shapes_are_those_of_the_documentation(model: Model) -> None:
    assert {name: array.shape for name, array in to_arrays(make(model)).items()} == dict(shapes(model))


@every_shape
def test_every_parameter_has_one_name(model: Model) -> None:
    network = make(model)
    named = list(parameters(network).values())
    assert {id(p) for p in named} == {id(p) for p in network.parameters()}
    assert len(named) == len(list(network.parameters()))


@every_shape
def test_out_and_in_again_changes_nothing(model: Model) -> None:
    given = random_weights(model, seed=3)
    network = make(model)
    from_arrays(network, given)
    taken = to_arrays(network)
    assert taken.keys() == given.keys()
    for name, array in taken.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, given[name])


def test_what_is_taken_out_is_a_copy() -> None:
    network = make()
    taken = to_arrays(network)
    before = taken["embedding"].copy()
    with torch.no_grad():
        network.output.weight.add_(1)
    np.testing.assert_array_equal(taken["embedding"], before)


def test_read_only_weights_can_be_put_in() -> None:
    given = random_weights(TINY, seed=3)
    for array in given.values():
        array.flags.writeable = False
    network = make()
    from_arrays(network, given)
    np.testing.assert_array_equal(to_arrays(network)["embedding"], given["embedding"])


def test_weights_that_do_not_fit_are_refused_by_name_and_nothing_is_changed() -> None:
    network = make()
    before = to_arrays(network)
    given = random_weights(TINY, seed=3)
    given["encoder.0.attention.magic"] = given.pop("output.bias")
    given["decoder.norm.scale"] = given["decoder.norm.scale"][:-1]
    wanted = "do not fit the network: encoder.0.attention.magic, output.bias, decoder.norm.scale"
    with pytest.raises(ValueError, match=wanted):
        from_arrays(network, given)
    for name, array in to_arrays(network).items():
        np.testing.assert_array_equal(array, before[name])


def test_a_tied_models_weights_do_not_fit_an_untied_network() -> None:
    with pytest.raises(ValueError, match=r"do not fit the network: decoder.embedding, embedding, encoder.embedding"):
        from_arrays(make(replace(TINY, tied=False)), random_weights(TINY, seed=3))
