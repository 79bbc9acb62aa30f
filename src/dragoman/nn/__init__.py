"""The mathematics, to be read in this order: attention, positions, layers, transformer, models, weights."""
