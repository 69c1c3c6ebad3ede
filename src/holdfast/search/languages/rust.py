"""Rust: its query and its rules.

Modules are left out of names, as packages are in other languages. An `Err` is a value that is returned: what is
thrown here is a panic. `?` is no branch, and `Ok`, `Err`, `Some` and `None` are values, no calls.
"""

import re
from collections.abc import Iterator

from holdfast.search.languages.rules.language import DOC_COMMENTS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_list, split_typed

__all__ = ["LANGUAGE"]

_DEFINED = """[(function_item) (function_signature_item) (struct_item) (union_item) (enum_item) (trait_item)
  (impl_item)
  (type_item) (macro_definition) (const_item) (static_item)]"""

_DEFINITIONS = """
(function_item name: (_) @name parameters: (_) @params body: (_) @body) @def.function
(function_signature_item name: (_) @name parameters: (_) @params ";" @body) @def.function
[(function_item return_type: (_) @result) (function_signature_item return_type: (_) @result)]
(struct_item name: (_) @name) @def.struct
(struct_item body: (field_declaration_list) @body)
(union_item name: (_) @name body: (_) @body) @def.struct
(enum_item name: (_) @name body: (_) @body) @def.enum
(trait_item name: (_) @name body: (_) @body) @def.trait
(trait_item bounds: (trait_bounds [(type_identifier) (generic_type) (scoped_type_identifier)] @base))
(impl_item type: [(type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier) @name
  (reference_type type: [(type_identifier) @name (generic_type type: (_) @name) (primitive_type) @name])
  (primitive_type) @name (array_type) @name (tuple_type) @name (dynamic_type) @name (pointer_type) @name]
  body: (_) @body) @def.impl
(impl_item trait: (_) @base)
(type_item name: (_) @name) @def.type
(associated_type name: (_) @name) @def.type
(macro_definition name: (_) @name (macro_rule) @body) @def.function
[(const_item name: (identifier) @name) (static_item name: (identifier) @name)] @def.variable

[(function_item (visibility_modifier) @modifier) (struct_item (visibility_modifier) @modifier)
 (union_item (visibility_modifier) @modifier) (enum_item (visibility_modifier) @modifier)
 (trait_item (visibility_modifier) @modifier) (type_item (visibility_modifier) @modifier)
 (const_item (visibility_modifier) @modifier) (static_item (visibility_modifier) @modifier)
 (function_signature_item (visibility_modifier) @modifier)]
(function_modifiers ["async" "unsafe" "const" (extern_modifier)] @modifier)
[(trait_item "unsafe" @modifier) (impl_item "unsafe" @modifier) (static_item (mutable_specifier) @modifier)]
(function_modifiers "async" @flag.async)
[(source_file (_) @access.private) (mod_item body: (declaration_list (_) @access.private)) (block [(function_item)
  (struct_item) (enum_item) (trait_item) (type_item) (const_item) (static_item)] @access.private)
 (foreign_mod_item body: (declaration_list (_) @access.private))
 (impl_item !trait body: (declaration_list (_) @access.private))]
[(impl_item) (macro_definition)] @access.unsaid
(use_declaration (visibility_modifier) @_public argument: [(identifier) @export (scoped_identifier name: (_)
  @export)
  (use_as_clause alias: (_) @export) (scoped_use_list list: (use_list [(identifier) @export
    (scoped_identifier name: (_) @export) (use_as_clause alias: (_) @export)]))] (#eq? @_public "pub"))

((attribute_item) @wrapper . [(attribute_item) $DEFINED] @wrapped)
"""

# Attributes of fields and statements are not those of the definition around them.
_ATTRIBUTES = "\n".join(
    f"({place} (attribute_item (attribute) @decorator) . {'(attribute_item) . ' * more}{_DEFINED})"
    for place in ("source_file", "declaration_list", "block")
    for more in range(4)
)

# A name is bound by the patterns it stands in; a capital letter shows a constant or a variant, which is compared.
_BINDING = """[(tuple_pattern (identifier) @bind) (tuple_struct_pattern (identifier) @bind)
  (struct_pattern (field_pattern (shorthand_field_identifier) @bind))
  (struct_pattern (field_pattern pattern: (identifier) @bind)) (reference_pattern (identifier) @bind)
  (slice_pattern (identifier) @bind) (mut_pattern (identifier) @bind) (ref_pattern (identifier) @bind)
  (captured_pattern . (identifier) @bind) (or_pattern (identifier) @bind)]"""
_BOUND = "\n".join(
    f'({place.format(around.format(_BINDING))} (#match? @bind "^[^A-Z]"))'
    for place in (
        "(let_declaration pattern: {})",
        "(let_condition pattern: {})",
        "(for_expression pattern: {})",
        "(match_pattern . {})",
    )
    for around in ("{}", "(_ {})", "(_ (_ {}))")
)

_ACTIONS = """
((call_expression function: [(identifier) (scoped_identifier) (field_expression) (generic_function)] @call)
  (#not-match? @call "^(Ok|Err|Some)$|[.]await[^a-z_]"))
(call_expression function: (field_expression value: [(await_expression) (try_expression (await_expression))]
  field: (_) @call))
(call_expression function: (parenthesized_expression (field_expression) @call ")" @call.between))
(arguments) @arguments
(macro_invocation macro: (_) @call "!" @call.between (token_tree) @arguments)
((token_tree (identifier) @call.bare . (token_tree . "(") @arguments) (#not-match? @call.bare "^(Ok|Err|Some)$"))
(token_tree (identifier) @call.bare . "!" @call.between . (token_tree) @arguments)
[(closure_expression) (async_block)] @anonymous

(let_declaration pattern: (identifier) @assign.target value: (_) @assign.value)
(let_declaration pattern: (identifier) @typed.target type: (_) @typed.type)
(let_declaration pattern: (identifier) @local !value)
(let_declaration pattern: [(tuple_pattern) (tuple_struct_pattern) (struct_pattern) (slice_pattern)
  (reference_pattern)] @unpack.target value: (_) @unpack.value)
(let_condition pattern: (_) @unpack.target value: (_) @unpack.value)
[(const_item name: (_) @assign.target value: (_) @assign.value)
 (static_item name: (_) @assign.target value: (_) @assign.value)]
[(const_item name: (_) @typed.target type: (_) @typed.type)
 (static_item name: (_) @typed.target type: (_) @typed.type)]
(field_declaration name: (_) @typed.target type: (_) @typed.type)
(assignment_expression left: (_) @assign.target right: (_) @assign.value)
(compound_assignment_expr left: (_) @update)
[(assignment_expression left: [(unary_expression) (field_expression value: (index_expression))] @mutated)
 (compound_assignment_expr left: [(unary_expression) (field_expression value: (index_expression))] @mutated)]
((for_expression pattern: (identifier) @bind) (#not-eq? @bind "_"))
((match_pattern . (identifier) @bind) (#match? @bind "^[^A-Z]"))
[(closure_parameters (identifier) @local) (closure_parameters (_ (identifier) @local))
 (closure_parameters (_ (_ (identifier) @local)))]
(type_parameter name: (_) @local)
(parameter pattern: (_ (identifier) @local))

(await_expression [(identifier) @await (field_expression) @await
  (call_expression function: [(identifier) (scoped_identifier)] @await)
  (call_expression function: (generic_function function: (_) @await))
  (call_expression function: (field_expression value: [(identifier) (self) (field_expression)]) @await)
  (call_expression function: (field_expression
    value: [(call_expression) (await_expression) (try_expression) (macro_invocation)] field: (_) @await))])
((macro_invocation macro: (identifier) @throw) (#any-of? @throw "panic" "unreachable" "todo" "unimplemented"))
(return_expression) @return
((function_item return_type: (_) @return.value) (#not-match? @return.value "^(!|[(][)])$"))
(if_expression) @branch
(let_declaration alternative: (_)) @branch
((match_arm pattern: (match_pattern) @_any) @branch (#not-eq? @_any "_"))
[(for_expression) (while_expression) (loop_expression)] @loop
(break_expression) @break
(continue_expression) @continue
["&&" "||"] @boolean

[(use_declaration) (extern_crate_declaration)] @import
[(line_comment) (block_comment)] @comment
[(string_content) (escape_sequence) (raw_string_literal) (char_literal)] @opaque
[(type_identifier) (scoped_type_identifier)] @type
(parameter pattern: (_) @label)
[(primitive_type) (lifetime) (label) (metavariable) (fragment_specifier) (visibility_modifier)
  (inner_attribute_item)] @label
(attribute_item) @label
(field_declaration name: (_) @label)
(enum_variant name: (_) @label)
[(field_initializer field: (_) @label) (field_pattern name: (field_identifier) @label)]
(mod_item name: (_) @label)
[(macro_definition "macro_rules!" @label) (function_modifiers "default" @label) (union_item "union" @label)]
(ERROR) @error
(MISSING) @error
"""

_FIELDS = every_field(
    "params", "param_types", "decorators", "modifiers", "extends", "return_types", "throws", "awaits", "calls",
    "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
    flags=("async", "returns"),
)  # fmt: skip

_KEYWORDS = words("""
_ as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move
mut pub ref return static struct super trait true type unsafe use where while Ok Err Some None
""")

# Methods of the collections, of strings, cells and atomic types.
_MUTATORS = words("""
append clear dedup drain extend extend_from_slice fetch_add fetch_sub get_or_insert_with insert insert_str pop
pop_back pop_front push push_back push_front push_str remove replace resize retain reverse set sort sort_by
sort_by_key sort_unstable store swap swap_remove take truncate
""")

_USE = re.compile(r"(?:pub(?:\s*\([^)]*\))?\s*)?(?:use|extern\s+crate)\s+")
_ATTRIBUTE = re.compile(r"#\s*\[[^\]]*\]")
_BEFORE_A_NAME = re.compile(r"(?:\s|&|mut\b|ref\b|'\w+)*")
_BOUND_NAME = re.compile(r"(?<![\w:])[a-z]\w*(?!\w|\s*(?:::|\(|\{|:(?!:)))")
_SUFFIX = re.compile(r"-?\d[\w.]*?([iu](?:8|16|32|64|128|size)|f(?:32|64))\Z")
_MADE = re.compile(r"((?:\w+::)*[A-Z]\w*)(?:::<[^()]*>)?::(?:new|default|with_capacity|from)\s*\(")
_NAMED = re.compile(r"((?:\w+::)*[A-Z]\w*)\s*(?:::<[^{}]*>)?\{")
_MACROS = {"vec": "Vec", "format": "String"}
_TYPES = {
    "string_literal": "&str",
    "raw_string_literal": "&str",
    "char_literal": "char",
    "boolean_literal": "bool",
}
_MAX_DEPTH = 12


def _visibility(_name: str, modifiers: list[str]) -> str:
    """What has no `pub` is private, or as public as its trait; the place tells."""
    if "pub" in modifiers:
        return "public"
    return "internal" if any(modifier.startswith("pub(") for modifier in modifiers) else ""


def _parameters(text: str, blanked: str) -> list[Parameter]:
    return [found for item in split_typed(text[1:-1], blanked[1:-1]) for found in _parameter(item)]


def _parameter(item: str) -> Iterator[Parameter]:
    """`mut name: Type`; a pattern gives the names in it, `self` and `_` give none."""
    item = _ATTRIBUTE.sub("", item).strip()
    colon = find_outside(item.replace("::", "  "), ":")
    pattern, declared = (item[:colon], item[colon + 1 :].strip()) if colon >= 0 else (item, "")
    name = _BEFORE_A_NAME.sub("", pattern, count=1).strip()
    if name.isidentifier():
        if name not in ("self", "_"):
            yield Parameter(name, declared)
        return
    for bound in _BOUND_NAME.findall(pattern):
        if bound not in ("mut", "ref"):
            yield Parameter(bound)


def _imports(text: str) -> list[Import]:
    return list(_leaves(_USE.sub("", text, count=1).strip().removesuffix(";"), "", 0))


def _leaves(tree: str, before: str, depth: int) -> Iterator[Import]:
    """Each path of a tree of uses: `std::{fmt, io::{self, Read as R}}`."""
    path, brace, inside = tree.strip().partition("{")
    if brace and depth < _MAX_DEPTH:
        for item in split_list(inside.rpartition("}")[0]):
            yield from _leaves(item, before + "".join(path.split()), depth + 1)
        return
    path, _, alias = (part.strip() for part in path.partition(" as "))
    full = "".join((before + path).removeprefix("::").split())
    if full.endswith("*"):
        yield Import(full[:-1].removesuffix("::"))
        return
    full = full.removesuffix("::self")
    name = alias or full.rpartition("::")[2]
    yield Import(full, () if name in ("", "_") else ((name, full),))


def _infer(kind: str, text: str, _callee: str) -> str:
    """The type that a literal, a constructor, a macro or a cast gives away; plain numbers have none yet."""
    if kind in ("integer_literal", "float_literal"):
        suffix = _SUFFIX.match(text)
        return suffix[1] if suffix else ""
    if kind in ("call_expression", "struct_expression"):
        made = (_MADE if kind == "call_expression" else _NAMED).match(text)
        return made[1] if made else ""
    if kind == "macro_invocation":
        return _MACROS.get(text.partition("!")[0].strip(), "")
    if kind == "type_cast_expression":
        return text.rpartition(" as ")[2].strip()
    if text.startswith("b"):
        return "&[u8]" if kind.endswith("string_literal") else "u8" if kind == "char_literal" else ""
    return _TYPES.get(kind, "")


LANGUAGE = Language(
    id="rust",
    grammar="tree_sitter_rust:language",
    query=_DEFINITIONS.replace("$DEFINED", _DEFINED) + _ATTRIBUTES + _BOUND + _ACTIONS,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=_visibility,
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    separators=(".", "::"),
    receivers=frozenset({"self", "Self"}),
    restart=re.compile(
        rb"^(?:#\[[^\n]*\n){0,9}(?:pub|fn|struct|enum|trait|impl|mod|const|static|type|unsafe|async|macro_rules)\b",
        re.MULTILINE,
    ),
    doc_signs=DOC_COMMENTS,
)
