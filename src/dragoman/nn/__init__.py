"""The mathematics, to be read in this order: attention, positions, layers, transformer, recurrent, models, weights."""
