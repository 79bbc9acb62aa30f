"""Parallel text: reading, cleaning, storing, batching, and a grammar that makes some."""
