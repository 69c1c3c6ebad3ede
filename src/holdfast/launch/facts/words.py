"""The words that decide what a sentence is: verbs, adjectives, names, and words that lean on other sentences.

Lists, not grammar: what is not in a list is rather left out than told wrongly.
"""

__all__ = [
    "ADJECTIVES",
    "AUXILIARIES",
    "LEANING",
    "OBJECTS",
    "PLURALS",
    "PRODUCT_NOUNS",
    "PROPER",
    "SUBJECTS",
    "VERBS",
    "base_form",
    "is_verb",
    "third_person",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = _words("""
accept access accommodate achieve act adapt add adjust affect aim align allow analyse analyze annotate appear
append apply assign assume attach authenticate avoid bind block break bring build bundle cache calculate call
cause change check choose clean clear close coerce collect colorize combine come compare compile complete
compress compute configure confirm connect consider consist construct consume contain continue control convert
copy correspond cover crash create customize cut debug decide declare decode decorate decompress decrypt
deduplicate default defer define delegate delete deliver demonstrate depend derive describe deserialize design
detect determine differ disable discard discover display distribute do document download drop dump emit enable
encapsulate encode encounter encourage encrypt end enforce ensure enter escape establish evaluate examine exclude
execute exist exit expand expect explain expose export extend extract facilitate fail fall feature fetch fill
filter find finish fire fix flush focus follow force format forward generate get give go group guarantee guess
handle happen have help hide hold host identify ignore implement import improve include increase indent indicate
infer inherit inject insert inspect install instantiate integrate intend interact intercept interpolate introduce
invoke iterate join keep know lack launch lead let leverage lie limit list listen live load locate lock log look
lookup loop lose maintain make manage map mark match mean measure memoize merge minimize mock modify monitor move
need normalize notify obtain occur offer omit open operate optimize order organize output overload override own
pack pad paginate parse partition pass patch perform permit persist pick place play point poll populate post
prefer prefix prepare preserve prevent print process produce profile prompt protect provide proxy publish pull
push put query quote raise read receive recognize recommend record recover redirect reduce refer reflect refresh
register reject release rely remain remember remove rename render reorder repeat replace report represent
reproduce request require reset resolve respect respond restart restore restrict result resume retain retrieve
retry return reuse reverse revert rewrite rotate round route run satisfy save scan schedule search seem select
send separate serialize serve set share ship shorten show sign simplify simulate skip slugify solve sort specify
split start stay stop store stream strip structure submit subscribe substitute suggest suit supply support
suppress swap switch synchronize tag take target tell terminate test throw time toggle track trade transform
translate transmit transpile traverse treat trigger trim truncate try turn understand unify unload unpack update
upgrade upload use utilize validate vary verify visit visualize wait walk want warn watch work wrap write yield
""")

AUXILIARIES = _words("""
is are was were has have had can could will would may might must should shall does do did isn't aren't wasn't
weren't hasn't haven't can't couldn't won't wouldn't mustn't shouldn't doesn't don't didn't cannot it's that's be
""")

ADJECTIVES = _words("""
fast lightweight simple easy small tiny portable extensible thread-safe threadsafe thread typed tested documented
compliant compatible independent free open-source flexible robust reliable secure safe deterministic reproducible
configurable customizable composable modular intuitive pythonic performant efficient minimal complete stable
mature maintained async asynchronous ready agnostic aware friendly powerful backward-compatible cross-platform
multiplatform dependency-free type-safe
""")

PROPER = _words("""
Python Unicode Windows Linux Django Flask Cython Rust Java Docker Kubernetes Excel Markdown Sphinx Jupyter Pandas
English German French Spanish Chinese Japanese Greek Roman Latin Gregorian Internet Google Microsoft Apple Amazon
Git Bash Redis Postgres Sqlite Mac Pytest Pydantic Arrow Parquet Avro Protobuf Posix Ansi Ascii Hugo Fish Zsh
""")

PRODUCT_NOUNS = _words("""
toolkit library framework parser package tool module wrapper client implementation utility formatter generator
engine server compiler linter application app program system plugin extension binding interface backport loader
serializer converter renderer validator function decorator manager database editor viewer driver layer template
language collection suite set port clone alternative replacement api sdk cli orm
""")

LEANING = _words("""
them he she his her here there such also however but and or so then
otherwise instead thus therefore hence additionally furthermore moreover similarly likewise finally next again
besides nevertheless nonetheless conversely consequently accordingly meanwhile still yet both neither either
another others some-of which who whose first firstly second secondly third thirdly lastly afterwards later
alternatively alternately now above below for-example because since-then same
""")

PLURALS = _words("""
features results lists calls tests formats types sets values names uses logs maps tags targets times orders
points places plays profiles prompts queries quotes records releases reports requests routes searches shares
signs streams structures triggers updates displays exports imports limits loops marks matches outputs filters
groups changes checks comments builds blocks caches hosts copies controls designs documents downloads drops ends
falls fixes forms locks objects packs patches posts prefixes processes prints pulls
saves scans schedules stores switches tracks trades turns waits walks watches wraps
""")
"""Third persons that are more often the plural of a noun: they count only before what can be an object."""

OBJECTS = _words("""
the a an all any each every your its their his her no both one two three only how when whether that it them you
code to with in on as from into like without by at not also either up out well and fine different multiple
several arbitrary various more most custom
""")

SUBJECTS = _words(
    "you they we i who which that to not can will may must should would could might also always never only"
)


def third_person(verb: str) -> str:
    """`parse` becomes `parses`."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


_BY_THIRD_PERSON = {third_person(verb): verb for verb in sorted(VERBS)}


def base_form(word: str) -> str:
    """The verb that this is the third person of, or nothing."""
    return _BY_THIRD_PERSON.get(word.lower(), "")


def is_verb(word: str) -> bool:
    """Whether this can be the verb of a sentence."""
    word = word.lower().replace("’", "'")
    return word in AUXILIARIES or word in VERBS or word in _BY_THIRD_PERSON
