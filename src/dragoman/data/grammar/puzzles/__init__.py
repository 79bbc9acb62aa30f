"""The lectures' three puzzles, in many guises: which bank, what "it" stands for, hers or his."""
