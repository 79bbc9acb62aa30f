"""Write a model as a CTranslate2 directory, straight from NumPy arrays.

CTranslate2 shows the attention of one decoder layer, averaged over its first heads. So that it shows the one
head that aligns best, that head is moved to the front of its layer: the heads of a layer are summed in the
end, and a sum does not mind the order.

Directories that were made by this are kept (`dragoman.engine.load`): whoever has the same weights written otherwise
raises the number there.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, assert_never

import numpy as np

from dragoman import config
from dragoman.engine.base import Head, needs_plain
from dragoman.engine.layout import EPSILON, Sizes, Weights, read_sizes, read_tables
from dragoman.text.tokenizer import END, SPECIALS, START, UNKNOWN


def export(
    model: config.Model,
    weights: Weights,
    pieces: Sequence[str],
    out: Path,
    *,
    quantization: Literal["float32", "int8"],
    alignment: Head | None = None,
) -> None:
    """Write the directory `out`, replacing an older one; it is either written whole or not at all.

    Without an `alignment` head, CTranslate2 shows the average of all heads of the last layer.
    """
    if why := needs_plain(model):
        raise ValueError(f"cannot be exported: {why}")
    sizes = read_sizes(model)
    _check_pieces(pieces, rows=len(read_tables(model, weights).output))
    spec = _fill(model, sizes, _lead_with(alignment, weights, sizes), alignment)
    spec.register_source_vocabulary(list(pieces))
    spec.register_target_vocabulary(list(pieces))
    spec.config.unk_token, spec.config.bos_token = SPECIALS[UNKNOWN], SPECIALS[START]
    spec.config.eos_token, spec.config.decoder_start_token = SPECIALS[END], SPECIALS[START]
    # The engine appends the end mark itself: CTranslate2 would leave an empty source without one.
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.config.layer_norm_epsilon = EPSILON
    spec.validate()
    match quantization:
        case "float32":
            spec.optimize(quantization=None)
        case "int8":
            spec.optimize(quantization="int8")
        case _:
            assert_never(quantization)
    _save(spec, out)


def _check_pieces(pieces: Sequence[str], rows: int) -> None:
    if len(pieces) != rows:
        raise ValueError(f"{len(pieces)} pieces for an embedding of {rows} rows")
    if len(set(pieces)) != len(pieces):
        raise ValueError(f"{len(pieces)} pieces, but only {len(set(pieces))} different ones")
    if tuple(pieces[: len(SPECIALS)]) != SPECIALS:
        raise ValueError(f"the first pieces are {list(pieces[: len(SPECIALS)])}, not {list(SPECIALS)}")


def _lead_with(alignment: Head | None, weights: Weights, sizes: Sizes) -> Weights:
    """Return the weights with the alignment head moved to the front of its layer."""
    if alignment is None:
        return weights
    if not (0 <= alignment.layer < sizes.decoder_layers and 0 <= alignment.head < sizes.heads):
        raise ValueError(
            f"no head {alignment.head} in layer {alignment.layer}: "
            f"{sizes.decoder_layers} decoder layers of {sizes.heads} heads"
        )
    columns = np.arange(sizes.width).reshape(sizes.heads, -1)
    others = np.delete(columns, alignment.head, axis=0)
    order = np.concatenate([columns[alignment.head], others.ravel()])
    moved = dict(weights)
    name = f"decoder.{alignment.layer}.cross_attention"
    for projection in ("query", "key", "value"):
        for part in ("weight", "bias"):
            moved[f"{name}.{projection}.{part}"] = weights[f"{name}.{projection}.{part}"][order]
    moved[f"{name}.output.weight"] = weights[f"{name}.output.weight"][:, order]
    return moved


def _fill(model: config.Model, sizes: Sizes, weights: Weights, alignment: Head | None) -> Any:
    # Slow to import, and needed by nobody who only translates.
    from ctranslate2.specs import transformer_spec

    tables = read_tables(model, weights)
    spec = transformer_spec.TransformerSpec.from_config(
        (sizes.encoder_layers, sizes.decoder_layers),
        sizes.heads,
        pre_norm=model.norm == "pre",
        alignment_layer=-1 if alignment is None else alignment.layer,
        alignment_heads=0 if alignment is None else 1,
    )
    # Copies: quantizing works in place, and the caller's weights are to stay what they are.
    spec.encoder.embeddings[0].weight = tables.source.copy()
    spec.decoder.embeddings.weight = tables.target.copy()
    spec.decoder.projection.weight = tables.output.copy()
    spec.decoder.projection.bias = weights["output.bias"]
    # Always written: CTranslate2's own sinusoids follow another formula.
    spec.encoder.position_encodings.encodings = tables.source_positions
    spec.decoder.position_encodings.encodings = tables.target_positions
    for side, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        stack.scale_embeddings = True
        if model.norm == "pre":
            _fill_norm(stack.layer_norm, weights, f"{side}.norm")
    for number, layer in enumerate(spec.encoder.layer):
        _fill_self_attention(layer.self_attention, weights, f"encoder.{number}.attention")
        _fill_feed_forward(layer.ffn, weights, f"encoder.{number}.feed_forward")
    for number, layer in enumerate(spec.decoder.layer):
        _fill_self_attention(layer.self_attention, weights, f"decoder.{number}.self_attention")
        _fill_cross_attention(layer.attention, weights, f"decoder.{number}.cross_attention")
        _fill_feed_forward(layer.ffn, weights, f"decoder.{number}.feed_forward")
    return spec


def _fill_norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.scale"], weights[f"{name}.shift"]


def _fill_linear(spec: Any, weights: Weights, *names: str) -> None:
    """Set one linear map, or several that read the same vector, one below the other."""
    spec.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    spec.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _fill_self_attention(spec: Any, weights: Weights, name: str) -> None:
    _fill_norm(spec.layer_norm, weights, f"{name}.norm")
    _fill_linear(spec.linear[0], weights, f"{name}.query", f"{name}.key", f"{name}.value")
    _fill_linear(spec.linear[1], weights, f"{name}.output")


def _fill_cross_attention(spec: Any, weights: Weights, name: str) -> None:
    _fill_norm(spec.layer_norm, weights, f"{name}.norm")
    _fill_linear(spec.linear[0], weights, f"{name}.query")
    _fill_linear(spec.linear[1], weights, f"{name}.key", f"{name}.value")
    _fill_linear(spec.linear[2], weights, f"{name}.output")


def _fill_feed_forward(spec: Any, weights: Weights, name: str) -> None:
    _fill_norm(spec.layer_norm, weights, f"{name}.norm")
    _fill_linear(spec.linear_0, weights, f"{name}.inner")
    _fill_linear(spec.linear_1, weights, f"{name}.outer")


def _save(spec: Any, out: Path) -> None:
    """Write into a sibling, then rename: nobody ever sees half a directory."""
    part, old = (out.with_name(f".{out.name}.{os.getpid()}.{suffix}") for suffix in ("part", "old"))
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        spec.save(str(part))
        if out.exists():
            out.rename(old)
        part.rename(out)
    finally:
        if old.exists() and not out.exists():
            old.rename(out)
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
