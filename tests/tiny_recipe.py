"""Settings of trainings that take seconds, whatever the kind of network."""

TINY = (
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.width=16",
    "model.dropout=0.1",
    "pieces.size=420",
    "training.batch_pieces=256",
    "training.scorings=1",
    "training.score_pairs=3",
    "training.peak_rate=0.003",
    "training.processes=1",
    "training.save_seconds=0",
    "search.max_length=20",
    "search.beam=2",
)
TRANSFORMER = ("model.heads=2", "model.feed_forward=32")
"""What a Transformer of that size needs besides."""
