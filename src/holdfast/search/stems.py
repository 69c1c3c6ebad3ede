"""The light stemmer: one stem for the plural and verb forms of an English word, as they occur in code.

Only -s, -es, -ies, -ed and -ing are taken off, with the doubled consonant and the silent e that go with them:
enforce, enforced, enforces and enforcing share a stem. Nouns made of verbs stay apart (`server` is not `serve`),
for they name other things in code. A stem need not be a word; it is only ever compared with another stem.

One principle holds the rules together: a letter is given up only where the rest does not itself look inflected.
Hence `parse` keeps its e, since `pars` would be taken for a plural, and `parsing` gets it back. It also makes the
stem of a stem that stem again.
"""

__all__ = ["stem"]

_SHORTEST = 3
_LONGEST = 64  # beyond that it is no word, and the rules take it apart letter by letter
_VOWELS = frozenset("aeiouy")
_NEVER_DOUBLED = frozenset("flsz")  # where these stand twice they belong to the word: call, pass, buzz, diff

# Words that only look inflected.
_KEPT = {
    "afterwards", "alias", "always", "anything", "atlas", "axios", "bias", "canvas", "ceiling", "chaos",
    "class", "cors", "does", "during", "embed", "evening", "everything", "focus", "has", "https", "hundred",
    "indeed", "interesting", "kubernetes", "kudos", "lens", "less", "macos", "morning", "news", "nothing",
    "os", "pandas", "pass", "perhaps", "postgres", "process", "sacred", "sans", "series", "setting", "sibling",
    "something", "species", "status", "this", "towards", "upwards", "was", "whereas",
}  # fmt: skip

_IRREGULAR = {
    "agreed": "agree", "aliases": "alias", "analyses": "analysis", "apis": "api", "biases": "bias",
    "buses": "bus", "cancelled": "cancel", "cancelling": "cancel", "canvases": "canvas", "children": "child",
    "controlled": "control", "controlling": "control", "corpuses": "corpus", "cpus": "cpu", "dbs": "db",
    "focuses": "focus", "freed": "free", "gpus": "gpu", "guaranteed": "guarantee", "ids": "id",
    "indices": "index", "ips": "ip", "labelled": "label", "labelling": "label", "lenses": "lens",
    "levelled": "level", "marshalled": "marshal", "marshalling": "marshal", "menus": "menu",
    "modelled": "model", "modelling": "model", "quizzes": "quiz", "settings": "setting", "signalled": "signal",
    "signalling": "signal", "statuses": "status", "tried": "try", "tries": "try", "used": "use", "uses": "use",
    "using": "use", "viruses": "virus", "vms": "vm",
}  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case word; anything but ASCII letters comes back as it is."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not _SHORTEST < len(word) <= _LONGEST or word in _KEPT or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("s"):
        return _without_plural(word)
    if word.endswith("ed"):
        return _without_past(word)
    if word.endswith("ing"):
        return _without_ending(word, 3)
    if word.endswith("e"):
        return _without_silent_e(word)
    return word


def _without_plural(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word
    long_plural = word.endswith(("sses", "oes")) and len(word) > _SHORTEST + 1
    return stem(word[:-2] if long_plural else word[:-1])


def _without_past(word: str) -> str:
    if word.endswith("eed"):  # need, seed, exceed
        return word
    if word.endswith("ied"):
        return stem(word[:-1])
    return _without_ending(word, 2)


def _without_ending(word: str, length: int) -> str:
    rest = word[:-length]
    if len(rest) < _SHORTEST or _VOWELS.isdisjoint(rest) or word.endswith("string"):
        return word
    if rest[-1] == "e":  # queueing, agreeing
        return stem(rest)
    if len(rest) > _SHORTEST and rest[-1] == rest[-2] and rest[-1] not in _NEVER_DOUBLED | _VOWELS:
        rest = rest[:-1]
    return rest if stem(rest) == rest else rest + "e"


def _without_silent_e(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "y" if len(word) > _SHORTEST + 1 else word
    rest = word[:-1]
    if rest[-1] in "aeioy" or stem(rest) != rest:
        return word
    return rest
