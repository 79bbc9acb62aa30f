"""Train Hugging Face's Marian on given batches: its model with dropout where it has it by default, and AdamW.

The loss is PyTorch's, on which the model's own is built too; `LabelSmoother` of its Trainer is slower.
"""

import peer  # type: ignore[import-not-found]
import torch
import transformers  # type: ignore[import-not-found]
from torch.nn import functional
from transformers import MarianConfig, MarianMTModel


def main() -> None:
    """Train as requested."""
    request = peer.read_request()
    torch.set_num_threads(request["threads"])
    torch.manual_seed(1)
    layers, heads, inner = request["layers"], request["heads"], request["feed_forward"]
    config = MarianConfig(
        vocab_size=request["vocabulary"],
        d_model=request["width"],
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=inner,
        decoder_ffn_dim=inner,
        dropout=request["dropout"],
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=peer.PAD,
        eos_token_id=peer.END,
        decoder_start_token_id=peer.START,
        forced_eos_token_id=None,
        use_cache=False,
        attn_implementation="sdpa",
    )
    model = MarianMTModel(config).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-4)
    clock, losses = peer.Clock(request), []
    for batch in clock.feed(peer.read_batches(request["batches"])):
        source, target, wanted = map(torch.from_numpy, batch)
        scores = model(input_ids=source, attention_mask=source != peer.PAD, decoder_input_ids=target).logits
        loss = functional.cross_entropy(
            scores.flatten(0, 1), wanted.flatten(), ignore_index=peer.PAD, label_smoothing=0.1
        )
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    clock.answer(f"transformers {transformers.__version__}", losses=[losses[0], losses[-1]])


if __name__ == "__main__":
    main()
