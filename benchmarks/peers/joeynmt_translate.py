"""Translate with dragoman's weights in Joey NMT's Transformer and its beam search.

Joey NMT divides a score by ((5 + length) / 6) ** alpha, dragoman by the length. With alpha = 1 + 5 / length the two
grow alike at that length, so alpha is set for the mean length of the sources. Its beam differs too: it takes b
continuations at every step instead of 2b, and lets finished ones keep their place.
"""

import joeynmt  # type: ignore[import-not-found]
import joeynmt_model  # type: ignore[import-not-found]
import peer  # type: ignore[import-not-found]
import torch
from joeynmt.batch import Batch  # type: ignore[import-not-found]
from joeynmt.model import Model  # type: ignore[import-not-found]
from joeynmt.search import search  # type: ignore[import-not-found]

_CPU = torch.device("cpu")
_ATTENTION = {"query": "q_layer", "key": "k_layer", "value": "v_layer", "output": "output_layer"}
_BLOCKS = {
    "encoder.N.attention": ("encoder.layers.N.src_src_att", "encoder.layers.N.layer_norm"),
    "decoder.N.self_attention": ("decoder.layers.N.trg_trg_att", "decoder.layers.N.x_layer_norm"),
    "decoder.N.cross_attention": ("decoder.layers.N.src_trg_att", "decoder.layers.N.dec_layer_norm"),
}
_FEED_FORWARD = {"inner": "pwff_layer.0", "outer": "pwff_layer.3", "norm": "layer_norm"}


def names() -> dict[str, str]:
    """Joey NMT's names of dragoman's weights."""
    table = {"encoder.norm": "encoder.layer_norm", "decoder.norm": "decoder.layer_norm"}
    for block, (attention, norm) in _BLOCKS.items():
        table |= {f"{block}.{ours}": f"{attention}.{theirs}" for ours, theirs in _ATTENTION.items()}
        table[f"{block}.norm"] = norm
    for side in ("encoder", "decoder"):
        for ours, theirs in _FEED_FORWARD.items():
            table[f"{side}.N.feed_forward.{ours}"] = f"{side}.layers.N.feed_forward.{theirs}"
    return table


def load(directory: str) -> Model:
    """Put the weights of a model directory into Joey NMT's Transformer."""
    sizes, weights = peer.read_model(directory)
    model = joeynmt_model.build(sizes, dropout=0.0).eval()
    swapped = [1, 0, *range(2, sizes.vocabulary)]
    renamed = {name: torch.from_numpy(weight) for name, weight in peer.rename(weights, names()).items()}
    for name in ("src_embed.lut.weight", "trg_embed.lut.weight", "decoder.output_layer.weight"):
        renamed[name] = torch.from_numpy(weights["embedding"][swapped])
    missing, unknown = model.load_state_dict(renamed, strict=False)
    if unknown or set(missing) - {"encoder.pe.pe", "decoder.pe.pe"}:
        raise SystemExit(f"the weights do not fit Joey NMT: {unknown or missing}")
    # Its output has no bias, and its layer normalisation another epsilon.
    model.decoder.output_layer.bias = torch.nn.Parameter(torch.from_numpy(weights["output.bias"][swapped]))
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-5
    return model


def main() -> None:
    """Translate as requested."""
    request = peer.read_request()
    torch.set_num_threads(request["threads"])
    sources, model = peer.read_sources(request), load(request["model"])
    alpha = 1 + 5 * len(sources) / sum(map(len, sources))

    def translate(rows: list[list[int]]) -> list[list[int]]:
        source = torch.from_numpy(joeynmt_model.swap(peer.pad(rows)))
        batch = Batch(
            src=source,
            src_length=torch.tensor([len(row) for row in rows]),
            src_prompt_mask=None,
            trg=None,
            trg_prompt_mask=None,
            indices=torch.arange(len(rows)),
            device=_CPU,
            pad_index=1,
            eos_index=peer.END,
            is_train=False,
        )
        found, _, _ = search(
            model=model,
            batch=batch,
            max_output_length=-1,  # its default: half as much again as the longest source of the batch
            beam_size=request["beam"],
            beam_alpha=alpha,
            min_output_length=0,
        )
        outputs: list[list[int]] = joeynmt_model.swap(found).tolist()
        return outputs

    peer.answer(version=f"joeynmt {joeynmt.__version__}", **peer.translate_all(sources, request, translate))


if __name__ == "__main__":
    main()
