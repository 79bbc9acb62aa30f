"""Translation by attention: train on your own parallel text, translate, and look inside every step."""

__version__ = "0.1.0"
