"""What C and C++ have in common: the query of their shared grammar, and how their declarations are read.

A declaration is written around its name (`int (*pick[2])(int)`), so patterns for names come in several shapes.
"""

import re

from holdfast.search.languages.rules.language import Import, Parameter, words
from holdfast.search.languages.rules.lists import find_outside, split_typed

__all__ = [
    "ACTIONS",
    "CHOSEN",
    "DEFINITIONS",
    "MACRO_BEFORE_A_TYPE",
    "WORDS",
    "at_places",
    "declared",
    "imports",
    "naming",
    "parameters",
]

# Where a declaration stands in a file and not in a function.
_AT_THE_TOP = (
    "translation_unit",
    "declaration_list",
    "preproc_if",
    "preproc_ifdef",
    "preproc_elif",
    "preproc_else",
)

# What is written around a name that is declared: `*f()`, `**f()`, `a[]`.
_AROUND_NAMES = (
    "{}",
    "(pointer_declarator declarator: {})",
    "(pointer_declarator declarator: (pointer_declarator declarator: {}))",
    "(array_declarator declarator: {})",
    "(parenthesized_declarator (pointer_declarator declarator: {}))",
)


def declared(pattern: str, around: tuple[str, ...] = _AROUND_NAMES) -> str:
    """This declarator, by itself or with a star or brackets around it."""
    return "[" + " ".join(shape.format(pattern) for shape in around) + "]"


def at_places(pattern: str, more: tuple[str, ...] = ()) -> str:
    """This pattern at the top level of a file, or in one of the other nodes given."""
    return "[" + "\n".join(f"({place} {pattern})" for place in (*_AT_THE_TOP, *more)) + "]"


# A function that returns a pointer to a function.
CHOSEN = """(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator:
  (function_declarator declarator: (_) @name parameters: (_) @params))))"""
_CHOOSER = "(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: {})))"
_DEEP = "(_ declarator: (_ declarator: (pointer_declarator declarator: (type_identifier) @name)))"
_ENUMS = at_places(
    "(enum_specifier name: (_) @name body: (_) @body) @def.enum",
    ("declaration", "field_declaration", "compound_statement"),
)
_VARIABLES = at_places(
    f"(declaration declarator: (init_declarator declarator: {declared('(identifier) @name')})) @def.variable"
)
# A variable without a value is defined too, unless it is only said to be elsewhere.
_NAMES = declared("(identifier) @name", _AROUND_NAMES[:4])
_UNSET = f"""({at_places(f"(declaration declarator: {_NAMES}) @def.variable")}
  (#not-match? @def.variable "^(extern|import|using|typedef)[^a-z_]"))"""
# Their names are found apart: one pattern for both would take long to compile.
_PROTOTYPES = at_places(
    """(declaration declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator)))] ";" @body)
    @def.function"""
)

DEFINITIONS = f"""
(function_definition body: (_) @body)
(type_definition type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)]
  declarator: {declared("(type_identifier) @name")}) @def.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @def.enum
(type_definition type: [(struct_specifier name: (type_identifier) @name.also body: (_))
  (union_specifier name: (type_identifier) @name.also body: (_))
  (enum_specifier name: (type_identifier) @name.also body: (_))])
(type_definition declarator: {declared("(type_identifier) @name")}) @def.type
(type_definition declarator: {declared(_CHOOSER.format("(type_identifier) @name"))}) @def.type
(type_definition declarator: {_DEEP}) @def.type
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @def.type
{_VARIABLES}
{_UNSET}
{_ENUMS}
{_PROTOTYPES}
{at_places("(declaration type: (_ body: (_)) @beside)")}
(preproc_def name: (_) @name value: (_)) @def.variable
(preproc_function_def name: (_) @name value: (_) @body) @def.function
(preproc_params (identifier) @params)
(function_definition (storage_class_specifier) @modifier)
(declaration (storage_class_specifier) @modifier.head)
(function_definition (attribute_specifier (argument_list [(identifier) (call_expression)] @decorator)))
(function_declarator (attribute_specifier (argument_list [(identifier) (call_expression)] @decorator)))
(function_definition (attribute_declaration (attribute) @decorator))
(declaration (attribute_declaration (attribute) @decorator) declarator: (function_declarator))
"""

ACTIONS = """
(argument_list) @arguments
(call_expression function: (parenthesized_expression ")" @call.between))
(call_expression function: (parenthesized_expression [(field_expression) @call
  (pointer_expression argument: [(identifier) (field_expression)] @call)]))
(init_declarator declarator: $NAME value: (_) @assign.value)
((assignment_expression left: [(identifier) (field_expression) (subscript_expression) (pointer_expression)]
  @assign.target operator: "=" right: (_) @assign.value) (#not-match? @assign.target "^[(]"))
(assignment_expression left: (_) @update
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>="])
(update_expression argument: (_) @update)
(assignment_expression left: [(pointer_expression) (field_expression argument: [(subscript_expression)
  (parenthesized_expression)])] @mutated)
(update_expression argument: (parenthesized_expression (pointer_expression) @mutated))
(declaration declarator: [(identifier) @local (pointer_declarator declarator: (identifier) @local)
  (array_declarator declarator: (identifier) @local)])
(declaration type: (_) @declared.type)
(declaration declarator: [(identifier) (pointer_declarator) (array_declarator)] @declared.name)
(init_declarator declarator: [(identifier) (pointer_declarator) (array_declarator)] @declared.name)
(field_declaration type: (_) @declared.type)
(field_declaration declarator: [(field_identifier) (pointer_declarator) (array_declarator)] @declared.name)

(return_statement) @return
(return_statement (_) @return.value)
[(if_statement) (conditional_expression)] @branch
(case_statement "case") @branch
[(for_statement) (while_statement) (do_statement)] @loop
(break_statement) @break
(continue_statement) @continue

(preproc_include) @import
(comment) @comment
[(string_content) (escape_sequence) (char_literal) (system_lib_string)] @opaque
(type_identifier) @type
[(primitive_type) (statement_identifier) (attribute_specifier) (attribute_declaration) (preproc_call)] @label
(offsetof_expression "offsetof" @label member: (_) @label)
["#define" "#if" "#ifdef" "#ifndef" "#elif" "#else" "#endif" "#include"] @label
(sized_type_specifier) @label
(enumerator name: (_) @label)
(preproc_def name: (_) @label !value)
(field_declaration declarator: [(field_identifier) @label (pointer_declarator declarator: (field_identifier)
  @label)
  (array_declarator declarator: (field_identifier) @label) (function_declarator declarator:
    (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @label)))])
(ERROR) @error
(MISSING) @error
""".replace("$NAME", declared("(identifier) @assign.target"))

# A macro between the words of a function's head, which the grammar takes for its type: static INLINE item *find(
MACRO_BEFORE_A_TYPE = (
    rb"(?:(?<=\nstatic )|(?<=\ninline )|(?<=\nextern ))[A-Z][A-Z0-9_]{2,}(?= (?!const\b)[A-Za-z_]\w*[ *]+\w+\()"
)

# Words of both languages that look like names.
WORDS = words("""
auto bool break case char const continue default defined do double else enum extern float for goto if inline
int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while NULL
nullptr true false
""")
_TYPE_WORDS = words("""
auto bool char char8_t char16_t char32_t const double float int long restrict short signed size_t unsigned void
volatile wchar_t
""")
_STATEMENTS = words("do else for if return switch while")
_OF_A_TYPE = words("struct enum union class typename")
_QUALIFIERS = words("const volatile register")
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|__\w+__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_PARAMETER = re.compile(r"(\S.*?[\s*&.>])\s*([^\W\d]\w*)\s*((?:\[[^\]]*\]\s*)*)\Z", re.DOTALL)
_POINTER = re.compile(
    r"([^()]*\(\s*(?:\w+::)?[*&^]+\s*(?:const\s+)?)([^\W\d]\w*)(\s*(?:\[[^\]]*\])?\s*\).*)\Z", re.DOTALL
)
_ANGLES = str.maketrans("<>", "()")
_INCLUDED = re.compile(r"[<\"]([^>\"\n]*)[>\"]")


def parameters(text: str, blanked: str) -> list[Parameter]:
    """The parameters of a list in brackets, or the only one that stands here without: one of a macro."""
    if not text.startswith("("):
        return [Parameter(text)]
    return [found for item in split_typed(text[1:-1], blanked[1:-1]) if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    item = _ATTRIBUTE.sub("", item).strip()
    equals = find_outside(item.translate(_ANGLES), "=")
    item, default = (item[:equals].strip(), item[equals + 1 :].strip()) if equals >= 0 else (item, "")
    pointer = _POINTER.match(item)
    if pointer:
        return Parameter(pointer[2], pointer[1] + pointer[3], default)
    found = _PARAMETER.match(item)
    if found is None or found[2] in _TYPE_WORDS:
        return Parameter("")
    declared_type = found[1].strip()
    before = declared_type.split()
    if before[-1] in _OF_A_TYPE or _QUALIFIERS.issuperset(before):
        return Parameter("")  # `struct item`, `const Item`: a type without a name
    return Parameter(found[2], declared_type + found[3].strip(), default)


def naming(written: str) -> str:
    """No function is called `if`: a macro without a semicolon before the statement makes it look like one."""
    return "" if written in _STATEMENTS else written


def imports(text: str) -> list[Import]:
    """The file that an include names; one that is named by a macro is not known."""
    return [Import(path) for path in _INCLUDED.findall(text)[:1]]
