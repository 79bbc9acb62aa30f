"""The built-in corpus: an English-Spanish grammar that makes as many pairs as asked for, from a seed.

It covers agreement in gender and number, adjectives after nouns, dropped subjects, negation, questions,
ser and estar, and relative clauses; and it poses the lectures' three puzzles (`dragoman.data.grammar.puzzles`).
The translation is a function of the English sentence. The word alignment is known, for measuring only,
never for training.

Two things are held out of training text. Combinations: adjective-noun, subject-verb and verb-object pairs
that never stand together there, chosen by a checksum of the two words (`dragoman.data.grammar.lexicon.held_out`).
Frames: a puzzle sentence with its deciding word left open is kept for contrasts, whatever word fills it,
if a checksum of the frame says so (`dragoman.data.grammar.puzzles.frame`).
"""

from dragoman.data.grammar.examples import Contrast, Example, contrasts, generate, lectures, words

__all__ = ["Contrast", "Example", "contrasts", "generate", "lectures", "words"]
