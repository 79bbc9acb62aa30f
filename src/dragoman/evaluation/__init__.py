"""Judging: scores with signatures, paired comparison, word alignment."""
