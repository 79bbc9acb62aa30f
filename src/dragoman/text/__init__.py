"""Text in and out: normalisation, pieces, sentences."""
