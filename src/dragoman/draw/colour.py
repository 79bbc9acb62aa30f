"""Weights as colours: one hue, from the paper's shade to its opposite, in even steps of lightness.

The steps are taken in OKLCH (Ottosson 2020, "A perceptual color space for image processing"), where equal
steps look equal. Lightness alone carries the value, so the scale reads the same without colour vision or in a
grey print.
"""

import math
from functools import cache
from typing import Final, NamedTuple

LEVELS: Final = 65
"""How many shades a scale has."""
CURVE: Final = 0.75
"""The exponent that lifts small weights: most of attention is small, and the eye should see it."""

BLUE: Final = 255.0
AMBER: Final = 62.0
"""Hues in degrees. Blue and amber differ for every common kind of colour blindness."""


class Rgb(NamedTuple):
    """A colour in sRGB, 0 to 255."""

    red: int
    green: int
    blue: int

    @property
    def hex(self) -> str:
        """As CSS and SVG write it."""
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


BLACK: Final = Rgb(0, 0, 0)
WHITE: Final = Rgb(255, 255, 255)


def level_of(weight: float) -> int:
    """Return the step of the scale, 0 to LEVELS - 1, for a weight from 0 to 1; what is not a number is 0."""
    if not weight > 0:
        return 0
    return round(math.pow(min(weight, 1.0), CURVE) * (LEVELS - 1))


def shade(weight: float, *, dark: bool = False) -> Rgb:
    """Return the colour of a weight, on light paper or on `dark`."""
    return palette(dark=dark)[level_of(weight)]


def ink(background: Rgb) -> Rgb:
    """Return black or white, whichever reads better on a background."""
    light = luminance(background)
    return BLACK if (light + 0.05) ** 2 > 1.05 * 0.05 else WHITE


def luminance(colour: Rgb) -> float:
    """Return the relative luminance of WCAG 2, 0 to 1."""
    red, green, blue = (_linear(channel / 255) for channel in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def palette(*, dark: bool = False, hue: float = BLUE) -> tuple[Rgb, ...]:
    """Return the scale from nothing to everything."""
    return tuple(_step(at / (LEVELS - 1), dark=dark, hue=hue) for at in range(LEVELS))


def _step(share: float, *, dark: bool, hue: float) -> Rgb:
    bulge = math.sin(math.pi * share**0.8)
    if dark:
        return _from_oklch(0.235 + 0.695 * share, 0.016 + 0.03 * share + 0.085 * bulge, hue)
    return _from_oklch(0.968 - 0.668 * share, 0.008 + 0.07 * share + 0.075 * bulge, hue)


def _from_oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    """Convert, giving up saturation (never lightness) where sRGB cannot show the colour."""
    a, b = math.cos(math.radians(hue)), math.sin(math.radians(hue))
    while True:
        channels = _linear_rgb(lightness, chroma * a, chroma * b)
        if chroma <= 0 or all(-1e-4 <= channel <= 1.0001 for channel in channels):
            red, green, blue = (round(255 * _gamma(min(1.0, max(0.0, channel)))) for channel in channels)
            return Rgb(red, green, blue)
        chroma -= 0.002


def _linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def _gamma(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
