"""The mathematics.

To be read in this order: attention, positions, dropout, layers, sequence, transformer, recurrent, professor, models,
weights; fused is attention once more, for speed.
"""
