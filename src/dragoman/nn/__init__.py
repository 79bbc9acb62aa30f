"""The mathematics.

To be read in this order: attention, positions, layers, transformer, recurrent, professor, models, weights.
"""
