"""What the extractor has to know about one programming language: a grammar, one query and a few small rules.

The query does the finding, in C; its captures have the fixed names listed here, and everything behind them is the
same for all languages. Nothing here imports tree-sitter, because the filters of a request ask for `fields` too.

Captures of definitions (attributed to the innermost definition around them; the first one counts):
  @def.KIND        the whole definition; KIND becomes the chunk's kind (a function inside of a class: method); one
                   without a @name of its own is none; of two kinds, `type` and `variable` give way to the other
  @name            its name (several names of one `variable` are joined)
                   @name.also: another one of the same, which may as well be equal
  @owner           a type that it belongs to though it stands elsewhere (the receiver of a Go method)
  @body            where the signature ends
  @params          the parameters with their brackets; @result the declared return type
  @params.open     and behind it @params.close: their brackets, in a grammar that has no node around the parameters
  @result.before   the name of a function whose return type is all that stands before it, without its modifiers
  @result.name     a result with a name: it is returned by a return without a value
  @base            one base class, interface or embedded type; @modifier one word such as static
  @modifier.head   the same, if it stands before the body: a pattern that finds those of local variables too
  @implied.public  shows that a definition is public without saying so (members of an interface)
  @access.WORD     a definition that is public, protected, private or internal by its place, where it says nothing
                   itself; `unsaid` if nothing is known of it; @section.WORD: so is every member behind this;
                   @named.WORD: so is the member of this name
  @decorator       one decorator or annotation; @flag.async, @flag.generator anything that shows it
  @beside          a definition that a variable is declared with, but that is not part of its value: struct a {} b;
                   captured where declarations of variables are definitions, since in a value it is part of it
  @lent            a part of its head that is done by the scope around it, as every @decorator is; what has one is
                   an anonymous class, and its @name is that of another
  @wrapper         a node that belongs to the definition @wrapped in it (decorators, export); capture both
  @rest            a node right behind a definition, or behind another such node, that belongs to it: a body that
                   is no part of its head
Captures of what happens inside:
  @call            what is called, if it is a name or a dotted name; @arguments any list of arguments
  @call.between    what may stand between the two: type arguments, a question mark
  @anonymous       a function; where it is no definition, what it returns, throws, awaits and yields is its own,
                   and nothing of the one around it
  @call.bare       the name of what is called, where the grammar has no more: what is before it with a dot counts
  @call.object     what a method is called on, where @call can be the name of the method only
  @call.whole      a call whose arguments are all that stands behind its name, without a node around them
  @assign.target   and behind it @assign.value: an assignment; `a, b.c` and `d[1]` are fine as targets
  @assign.more     further names that the next @assign.value is written to
  @unpack.target   and behind it @unpack.value: a pattern whose @bind and @local names are all written
  @typed.target    and behind it @typed.type: a variable with its declared type
  @declared.type   and behind it @declared.name: the same where the type stands first; stars before the name and
                   brackets behind it belong to the type
  @update          the target of `+=` and the like; @bind targets of loops, with, catch; @delete what is deleted
  @mutated         something that is changed in place in another way: `a(1) = x`, `*p = x`, an altered table
  @said.FACT       one value of reads, writes or mutations, or a name that is used, where the language knows it by
                   itself: a table
  @bind.pattern    a pattern: every name in it, by the language's `bound`, is a @bind; @local.pattern a @local
  @unwritten       a range in which nothing is written though it looks like it: a pattern in a head
  @local           names that are bound without being written: parameters of lambdas, comprehensions
  @global          names that are NOT local although they are assigned
  @await, @throw   the callee or name that is awaited or thrown
  @return, @return.value, @branch, @loop, @break, @continue, @boolean     counted
  @import          a whole import statement; @export the name of something exported
Captures of what is no name that is read:
  @comment, @docstring, @opaque (contents of strings), @type (types), @label (names of keyword arguments)
  @template        code inside of something @opaque: `{...}`, or one name and what else there is: `name of it`
  @error           syntax errors
  @uncalled        a range in which nothing is called though it looks like it: the head of a definition, a type
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.search.model import COUNTS, FLAGS

__all__ = [
    "DOC_BLOCKS",
    "DOC_COMMENTS",
    "DOXYGEN",
    "HASH_COMMENTS",
    "SLASH_COMMENTS",
    "Import",
    "Language",
    "Parameter",
    "every_field",
    "no_type",
    "nothing_documented",
    "public_names",
    "words",
]

# What is taken from the beginning and the end of each line of a comment.
HASH_COMMENTS = re.compile(r"^[ \t]*#+[!:]?[ \t]?|[ \t\r]+$", re.MULTILINE)
SLASH_COMMENTS = re.compile(r"^[ \t]*(?://+!?|/\*+!?|\*+/|\*+)[ \t]?|[ \t\r]*+\**+/?[ \t\r]*+$", re.MULTILINE)

# How comments begin that are made to document what comes next: /** and ///, and not a rule of stars or slashes.
DOC_BLOCKS = re.compile(rb"/\*\*(?![*/])")
DOC_COMMENTS = re.compile(rb"/\*\*(?![*/])|///(?!/)")
DOXYGEN = re.compile(rb"(?:/\*\*(?![*/])|/\*!|///(?!/)|//!)(?!<)")  # with < it is about what stands before

# Fields that every language with definitions has, or that a later stage fills in for all of them.
_ALWAYS = frozenset({"signature", "visibility", "doc", "imports", "exports"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a definition, with its type and its default as written, or empty."""

    name: str
    type: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, and the names that the import binds: each with what it stands for in full.

    The module is empty where names are bound without importing anything: `namespace fs = std::filesystem`.
    """

    module: str
    names: tuple[tuple[str, str], ...] = ()


def every_field(*facts: str, flags: tuple[str, ...] = FLAGS) -> frozenset[str]:
    """The fields of a language that has these facts, all counts and the flags given."""
    risks = {"risk_tags", "risk_sources", "risk_sinks", "risk_sanitizers", "risk_categories", "risk_flows"}
    return _ALWAYS | set(facts) | set(COUNTS) | set(flags) | (risks if "calls" in facts else set())


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set: keywords are easier to read without quotes."""
    return frozenset(text.split())


def public_names(_source: bytes, public: list[str]) -> list[str]:
    """The rule of languages where everything public at the top level is exported."""
    return public


def nothing_documented(_doc: str) -> list[tuple[str, str]]:
    """The rule of languages whose documentation has no form of its own."""
    return []


def no_type(_kind: str, _text: str, _callee: str) -> str:
    """The rule of languages whose values give no types away."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language: declarative, without state."""

    id: str
    grammar: str  # module:function that gives the grammar, imported at first use; empty where there is `scan`
    query: str
    fields: frozenset[str]
    keywords: frozenset[str]  # words that look like names
    visibility: Callable[[str, list[str]], str]  # (plain name, modifiers) -> public, ...
    parameters: Callable[[str, str], list[Parameter]]  # (text, the same with its strings blanked) -> parameters
    imports: Callable[[str], list[Import]]  # (one import statement) -> what it imports
    exports: Callable[[bytes, list[str]], list[str]] = public_names  # (source, public top-level names) -> exported
    infer: Callable[[str, str, str], str] = no_type  # (kind of node, text, callee if it is a call) -> type
    mutators: frozenset[str] = field(default_factory=frozenset)  # methods that change what they are called on
    libraries: frozenset[str] = field(default_factory=frozenset)  # their functions change an argument: table
    throwers: frozenset[str] = field(default_factory=frozenset)  # functions whose call is a throw: panic
    separators: tuple[str, ...] = (".",)  # between the parts of a name: a.b, a->b, a::b
    bound: re.Pattern[bytes] | None = None  # a name in a pattern, where strings are blank
    signs_before: str = ""  # signs that words of a name may begin with: @items, $items
    signs_behind: str = ""  # and those that a name may end with: empty?, save!
    silent_sign: str = ""  # one of them that facts leave out: nobody searches for the $ of $items
    callee: Callable[[str], str] | None = None  # (what is called) -> its name or empty; None for the usual rule
    calls_by_name: bool = False  # a plain name that is read and no local is a call
    receivers: frozenset[str] = field(default_factory=frozenset)  # self: too common to be worth a fact by itself
    implied: frozenset[str] = field(default_factory=frozenset)  # names that are local without being declared: it
    scan: Callable[[bytes], dict[str, list[tuple[int, int]]]] | None = None  # source -> captures, without a query
    own_members: bool = False  # a method names the others of its class without `this`
    misleading: re.Pattern[bytes] | None = None  # macros that the grammar would stumble over: not shown to it
    hidden: Callable[[bytes], list[tuple[int, int]]] | None = None  # of a file with errors, what is no code to it
    guessed: Callable[[bytes], list[tuple[int, int]]] | None = None  # what may be no code: left out near errors
    filler: bytes = b" "  # what the grammar is shown in its place
    restart: re.Pattern[bytes] | None = None  # where a definition surely begins, whatever is broken before it
    documented: Callable[[str], list[tuple[str, str]]] = nothing_documented  # (documentation) -> facts in it
    comment_signs: re.Pattern[str] = SLASH_COMMENTS
    doc_comments: bool = True  # the comment right above a definition documents it
    doc_signs: re.Pattern[bytes] | None = None  # how one begins that does so across blank lines as well
    trims: bool = False  # a comment that the grammar counts to the end of a definition is none of it
    naming: Callable[[str], str] | None = None  # (a defined or called name as written) -> without quotes
    joins: bool = False  # neighbours of the same name are clauses of one definition
