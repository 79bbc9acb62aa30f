"""Translate with dragoman's weights in Hugging Face's M2M100, which is pre-norm like them, and its `generate`."""

import peer  # type: ignore[import-not-found]
import torch
import transformers  # type: ignore[import-not-found]
from transformers import M2M100Config, M2M100ForConditionalGeneration

_ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
_BLOCKS = {
    "encoder.N.attention": "self_attn",
    "decoder.N.self_attention": "self_attn",
    "decoder.N.cross_attention": "encoder_attn",
}


def names() -> dict[str, str]:
    """M2M100's names of dragoman's weights."""
    table = {"encoder.norm": "model.encoder.layer_norm", "decoder.norm": "model.decoder.layer_norm"}
    for block, theirs in _BLOCKS.items():
        layer = f"model.{block.split('.')[0]}.layers.N."
        table[f"{block}.norm"] = f"{layer}{theirs}_layer_norm"
        table |= {f"{block}.{ours}": f"{layer}{theirs}.{part}" for ours, part in _ATTENTION.items()}
    for side in ("encoder", "decoder"):
        for ours, theirs in (("inner", "fc1"), ("outer", "fc2"), ("norm", "final_layer_norm")):
            table[f"{side}.N.feed_forward.{ours}"] = f"model.{side}.layers.N.{theirs}"
    return table


def load(directory: str, longest: int) -> M2M100ForConditionalGeneration:
    """Put the weights of a model directory into M2M100."""
    sizes, weights = peer.read_model(directory)
    config = M2M100Config(
        vocab_size=sizes.vocabulary,
        d_model=sizes.width,
        encoder_layers=sizes.encoder_layers,
        decoder_layers=sizes.decoder_layers,
        encoder_attention_heads=sizes.heads,
        decoder_attention_heads=sizes.heads,
        encoder_ffn_dim=sizes.feed_forward,
        decoder_ffn_dim=sizes.feed_forward,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=longest,
        pad_token_id=peer.PAD,
        bos_token_id=peer.START,
        eos_token_id=peer.END,
        decoder_start_token_id=peer.START,
        attn_implementation="sdpa",
    )
    model = M2M100ForConditionalGeneration(config).eval()
    renamed = {name: torch.from_numpy(weight) for name, weight in peer.rename(weights, names()).items()}
    renamed["model.shared.weight"] = torch.from_numpy(weights["embedding"])
    missing, unknown = model.load_state_dict(renamed, strict=False)
    tied = {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}
    if unknown or not set(missing) <= tied:
        raise SystemExit(f"the weights do not fit M2M100: {unknown or missing}")
    # Its head has no bias and its sines and cosines stand apart, first place in row 1 after that of the padding.
    model.lm_head.bias = torch.nn.Parameter(torch.from_numpy(weights["output.bias"]))
    for side in (model.model.encoder, model.model.decoder):
        table = side.embed_positions.weights
        with torch.no_grad():
            table[1:] = torch.from_numpy(peer.sinusoids(len(table) - 1, sizes.width))
    return model


def main() -> None:
    """Translate as requested."""
    request = peer.read_request()
    torch.set_num_threads(request["threads"])
    sources = peer.read_sources(request)
    longest = max(request["max_length"], max(map(len, sources)) + 1) + 2
    model = load(request["model"], longest)

    def translate(rows: list[list[int]]) -> list[list[int]]:
        source = torch.from_numpy(peer.pad(rows))
        found = model.generate(
            input_ids=source,
            attention_mask=(source != peer.PAD).long(),
            num_beams=request["beam"],
            do_sample=False,
            length_penalty=1.0,
            early_stopping=request["beam"] > 1,
            min_new_tokens=request.get("min_length"),
            max_new_tokens=request["max_length"],
            use_cache=True,
        )
        outputs: list[list[int]] = found[:, 1:].tolist()
        return outputs

    peer.answer(version=f"transformers {transformers.__version__}", **peer.translate_all(sources, request, translate))


if __name__ == "__main__":
    main()
