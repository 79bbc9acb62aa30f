"""The names of languages, for people; the rest of the project uses codes (BCP 47: `en`, `pt-BR`)."""

import re
from functools import lru_cache

_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*")

_NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fil": "Filipino", "fr": "French",
    "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician", "gu": "Gujarati", "ha": "Hausa",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "ig": "Igbo", "is": "Icelandic", "it": "Italian", "ja": "Japanese",
    "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "la": "Latin",
    "lb": "Luxembourgish", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian",
    "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese", "my": "Burmese",
    "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian",
    "oc": "Occitan", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "qu": "Quechua",
    "rm": "Romansh", "ro": "Romanian", "ru": "Russian", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian",
    "so": "Somali", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "uz": "Uzbek", "vi": "Vietnamese", "xh": "Xhosa", "yi": "Yiddish", "yo": "Yoruba", "zh": "Chinese",
    "zu": "Zulu",
}  # fmt: skip

_UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})


def is_code(code: str) -> bool:
    """Tell whether this has a code's form: language, then perhaps script, region and variants."""
    return _CODE.fullmatch(code) is not None


def usual(code: str) -> str:
    """Write a code as is usual: `EN_US` is `en-US`."""
    language, dash, rest = code.strip().replace("_", "-").partition("-")
    return f"{language.lower()}{dash}{rest}"


def language_of(code: str) -> str:
    """Return a code's language, without script and region, however the code is written."""
    return usual(code).partition("-")[0]


def same_language(one: str, other: str) -> bool:
    """Tell whether two codes are of one language, whatever its region: `en-US` and `en`."""
    return language_of(one) == language_of(other)


def has_no_spaces(code: str) -> bool:
    """Tell whether a language is written without spaces between its words."""
    return language_of(code) in _UNSPACED


@lru_cache(maxsize=1024)
def speaks(code: str, language: str) -> bool:
    """Tell whether a code is the language asked for: `en-US` is `en`, but `en` is not `en-US`."""
    wanted = usual(language).lower()
    return wanted in (usual(code).lower(), language_of(code))


def name(code: str) -> str:
    """Return the English name of a language, and the code itself where the name is not known."""
    language, *rest = code.split("-")
    known = _NAMES.get(language)
    if known is None:
        return code
    return f"{known} ({'-'.join(rest)})" if rest else known
