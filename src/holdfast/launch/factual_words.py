"""The words by which a line is told to state something: platforms, formats, numbers, and what a product can do.

Words alone, all in lower case; `factual` says how they are applied.
"""

import re

__all__ = [
    "ABILITIES",
    "ABILITY_PHRASE",
    "FORMATS",
    "FORMAT_ENDING",
    "NAVIGATION",
    "NOUNS",
    "NUMBER_WORDS",
    "PLAIN_VERBS",
    "PLATFORMS",
    "PLATFORM_SIGN",
    "WELL_KNOWN_NAMES",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLATFORMS = _words(
    """
    linux macos osx windows unix freebsd android ios ubuntu debian fedora alpine wasm webassembly python
    cpython pypy jython nodejs deno jvm java kotlin swift ruby php golang typescript javascript dotnet
    docker kubernetes x86 x64 arm64 aarch64 amd64 posix wsl
    """
)
PLATFORM_SIGN = re.compile(r"\bnode\.js\b|(?<![\w.])\.net\b|\bx86_64\b|\bC\+\+|\bC#(?!\w)", re.IGNORECASE)
"""Names of platforms that are no words."""

FORMATS = _words(
    """
    csv tsv json jsonl ndjson json5 yaml toml xml html xhtml css svg png jpeg jpg gif tiff bmp webp pdf rtf
    docx doc odt xls xlsx xlsm ods pptx ppt odp epub parquet avro orc feather arrow hdf5 netcdf protobuf
    msgpack cbor sqlite sql ini zip gzip bzip2 zstd tar ical vcard wav mp3 mp4 flac ogg geojson gpx kml
    shapefile stl dxf dwg wmf emf tex latex markdown restructuredtext asciidoc excel
    """
)
FORMAT_ENDING = re.compile(r"(?<![\w./])\.[a-z][a-z0-9]{1,4}\b(?!\()", re.IGNORECASE)
"""A format that is named by how its files end, such as `.xlsx`."""

NUMBER_WORDS = _words(
    """
    two three four five six seven eight nine ten eleven twelve dozen dozens hundred hundreds thousand
    thousands million millions billion billions twice percent
    """
)

ABILITIES = _words(
    """
    supports reads writes parses provides offers includes contains handles converts exports imports loads
    saves stores generates creates produces returns raises throws accepts takes allows enables lets requires
    needs depends installs runs implements exposes validates checks verifies renders opens closes sends
    receives streams caches ships prints detects ignores preserves keeps guarantees ensures integrates
    extends wraps computes calculates sorts filters merges joins splits compresses encrypts decrypts
    serializes serialises deserializes deserialises tracks manages builds compiles executes iterates yields
    emits fetches downloads uploads connects prevents avoids removes deletes adds updates replaces copies
    applies defines limits extracts transforms translates formats encodes decodes uses calls inherits
    represents behaves defaults follows treats understands covers can cannot can't must able won't
    unsupported deprecated licensed compatible doesn't don't isn't aren't
    """
)
PLAIN_VERBS = _words(
    """
    support require provide allow enable contain depend accept supported required
    """
)
"""A plural has these, and so does a request (`Require a name`): they count where they do not open the line."""
ABILITY_PHRASE = re.compile(
    r"\b(?:does|do|is|are)\s+not\b|\bworks\s+(?:with|on|without|in|from)\b", re.IGNORECASE
)  # fmt: skip

NOUNS = _words(
    """
    formats limits defaults updates calls checks filters exports imports streams caches returns raises needs
    uses runs joins builds downloads uploads copies covers stores reads writes opens
    """
)
"""Verbs that are nouns as often, at least in headings."""

NAVIGATION = _words(
    """
    see also next previous back to the a an for more details detail read learn about in and or of on at this
    that with from here below above page pages guide guides reference related up home topic topics step
    steps go continue full list complete start further reading documentation docs link links section
    sections visit all overview contents
    """
)
"""Words that lead to a link; a line of links and these is a way on, not a statement."""

WELL_KNOWN_NAMES = _words(
    """
    GitHub GitLab YouTube LinkedIn PyPI StackOverflow DevOps OpenSource MacBook WordPress McDonald eBook
    eBooks
    """
)
"""Words written like the names of code that are none."""
