"""C++: its query and its rules.

Namespaces are left out of names, as packages are in other languages. A method that is defined outside of its class
says nothing of its visibility; inside, the sections of the class do.
"""

import re

from holdfast.search.languages.rules.clike import (
    ACTIONS,
    CHOSEN,
    DEFINITIONS,
    MACRO_BEFORE_A_TYPE,
    WORDS,
    at_places,
    declared,
    naming,
    parameters,
)
from holdfast.search.languages.rules.clike import imports as included
from holdfast.search.languages.rules.conditionals import hidden_branches
from holdfast.search.languages.rules.definitions import no_visibility
from holdfast.search.languages.rules.language import DOXYGEN, Import, Language, every_field, words
from holdfast.search.languages.rules.macros import macros_of_heads

__all__ = ["LANGUAGE"]

# Nodes that their fields tell apart are not named: to check each name would take a second to compile.
_AROUND_FUNCTIONS = (
    "{}",
    "(_ declarator: {})",
    "(_ declarator: (_ declarator: {}))",
    "(reference_declarator {})",
)
_NAME = "[(identifier) (field_identifier) (operator_name) (destructor_name)] @name @result.before"
_FUNCTION = declared(f"(_ declarator: {_NAME} parameters: (_) @params)", _AROUND_FUNCTIONS)
_LAST = "[(identifier) (operator_name) (destructor_name)] @name"
_OWNER = "scope: [(namespace_identifier) @owner (template_type name: (_) @owner)]"
# A method that is defined outside of its class: Shop::close, shop::Shop<T>::close
_METHOD = declared(
    f"""(_ declarator: [(_ {_OWNER} name: {_LAST})
      (qualified_identifier name: (_ {_OWNER} name: {_LAST}))
      (qualified_identifier name: (_ name: (_ {_OWNER} name: {_LAST})))] @result.before
      parameters: (_) @params)""",
    _AROUND_FUNCTIONS,
)
# template <> void put<char>(char c), template <> int Shop::count<Item>()
_SPECIALIZED = declared(
    """(_ declarator: (template_function name: (_) @name) @result.before parameters: (_) @params)""",
    _AROUND_FUNCTIONS,
)
_SPECIALIZED_METHOD = declared(
    f"""(_ declarator: [(_ {_OWNER} name: (template_function name: (_) @name))
      (_ name: (_ {_OWNER} name: (template_function name: (_) @name)))] @result.before
      parameters: (_) @params)""",
    _AROUND_FUNCTIONS,
)
_DECLARED = declared("(function_declarator)", _AROUND_FUNCTIONS)
_OVERRIDDEN = declared('(_ [(virtual_specifier) @modifier (noexcept "noexcept" @modifier)])', _AROUND_FUNCTIONS)
_OUTSIDE = declared("(_ declarator: (qualified_identifier) parameters: (_))", _AROUND_FUNCTIONS)
_TRAILING = declared("(_ (trailing_return_type (type_descriptor) @result))", _AROUND_FUNCTIONS)
# What converts into a type is named by it: operator bool, explicit operator Price()
_CONVERSION = "(operator_cast type: (_) @result) @name"
_CAST = f"(_ {_OWNER} name: {_CONVERSION})"
_IN_CLASSES = ("declaration", "field_declaration", "compound_statement", "template_declaration")
_CLASS = "name: [(type_identifier) @name (_ name: (type_identifier) @name !scope)] body: (_) @body"
# class Outer::Inner {}, struct std::hash<Item> {}: what stands outside of what it belongs to.
_SCOPED = f"(qualified_identifier {_OWNER} name: [(type_identifier) @name (template_type name: (_) @name)])"
_OUTER = f"name: [{_SCOPED} (qualified_identifier name: {_SCOPED})] body: (_) @body"
_CLASSES = at_places(
    f"""[(class_specifier {_CLASS}) @def.class
    [(struct_specifier {_CLASS}) (union_specifier {_CLASS})] @def.struct]""",
    _IN_CLASSES,
)
_WORDS = """[(storage_class_specifier) "virtual" (explicit_function_specifier)
  (type_qualifier ["constexpr" "consteval"])] @modifier"""

_DEFINITIONS = f"""
(function_definition declarator: {_FUNCTION}) @def.function
(function_definition declarator: {_METHOD}) @def.method
(function_definition declarator: {_SPECIALIZED}) @def.function
(function_definition declarator: {_SPECIALIZED_METHOD}) @def.method
(function_definition declarator: {_CONVERSION}) @def.function
(function_definition declarator: [{_CAST} (_ name: {_CAST}) (_ name: (_ name: {_CAST}))]) @def.method
(function_definition declarator: {CHOSEN}) @def.function
(type_definition declarator: (reference_declarator (type_identifier) @name)) @def.type
(function_definition declarator: {_TRAILING})
(function_definition (field_initializer_list) @body)
(function_definition [(default_method_clause) (delete_method_clause)] @body)
(declaration declarator: {_FUNCTION})
(field_declaration declarator: {_FUNCTION})
(field_declaration declarator: {_DECLARED} ";" @body) @def.method
(field_declaration declarator: {_TRAILING})
(field_declaration_list (declaration declarator: (function_declarator) ";" @body) @def.method)
(field_declaration_list (template_declaration (declaration declarator: (function_declarator) ";" @body)
  @def.method))
(field_declaration_list [(declaration declarator: {_CONVERSION} ";" @body) @def.method
  (template_declaration (declaration declarator: {_CONVERSION} ";" @body) @def.method)])
(field_declaration (storage_class_specifier "static") declarator: (field_identifier) @name default_value: (_))
  @def.variable
{at_places('(declaration declarator: (reference_declarator (function_declarator)) ";" @body) @def.function')}
{_CLASSES}
(class_specifier {_OUTER}) @def.class
(struct_specifier {_OUTER}) @def.struct
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(alias_declaration name: (_) @name) @def.type
(concept_definition name: (_) @name) @def.type

; class EXPORT Shop {{ ... }}, where a macro makes the class look like a function.
(function_definition type: (class_specifier !body) declarator: (identifier) @name) @def.class
(function_definition type: (struct_specifier !body) declarator: (identifier) @name) @def.struct

(template_declaration [(function_definition) (class_specifier) (struct_specifier) (union_specifier) (declaration)
  (field_declaration) (alias_declaration) (concept_definition)] @wrapped) @wrapper

(function_definition {_WORDS})
(field_declaration {_WORDS} declarator: {_DECLARED})
(field_declaration_list (declaration {_WORDS} declarator: (function_declarator)))
(field_declaration (storage_class_specifier "static") @modifier (type_qualifier)? @modifier
  declarator: (field_identifier) default_value: (_))
(declaration (type_qualifier ["constexpr" "constinit"]) @modifier.head declarator: (init_declarator))
(function_definition declarator: {_OVERRIDDEN})
(field_declaration declarator: {_OVERRIDDEN})
[(class_specifier (virtual_specifier) @modifier) (struct_specifier (virtual_specifier) @modifier)]
[(class_specifier (attribute_declaration (attribute) @decorator))
 (struct_specifier (attribute_declaration (attribute) @decorator))]
(field_declaration (attribute_declaration (attribute) @decorator) declarator: {_DECLARED})

{at_places("(_) @access.public")}
[(function_definition (storage_class_specifier "static")) (declaration (storage_class_specifier "static"))]
  @access.private
(namespace_definition !name body: (declaration_list (_) @access.private))
(function_definition declarator: {_OUTSIDE}) @access.unsaid
(class_specifier body: (field_declaration_list "{{" @section.private))
[(struct_specifier body: (field_declaration_list "{{" @section.public))
 (union_specifier body: (field_declaration_list "{{" @section.public))]
(field_declaration_list [(access_specifier "public") @section.public (access_specifier "protected")
  @section.protected
  (access_specifier "private") @section.private])
"""

# A constructor that leaves the work to another one of its class; all others give their members a value.
_CONSTRUCTOR = """(function_definition declarator: (_ declarator: [(identifier) @_own (_ name: (identifier) @_own)
  (_ name: (_ name: (identifier) @_own))]) . (field_initializer_list (field_initializer . {})))"""

_ACTIONS = """
((call_expression function: [(identifier) (field_expression) (qualified_identifier) (template_function)] @call)
  (#not-match? @call "^((static|dynamic|const|reinterpret)_cast|typeid$)"))
(new_expression type: [(type_identifier) (qualified_identifier) (template_type)] @call)
[(new_expression arguments: (initializer_list) @arguments) (lambda_expression) @anonymous]
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @call . declarator: (init_declarator
  declarator: (identifier) @call.between value: (argument_list)))
((field_initializer . [(field_identifier) (qualified_identifier) (template_method)] @call) (#match? @call
  "^([A-Z]|.*::)"))
($CONSTRUCTED (#eq? @call @_own))
($INITIALIZED (#match? @assign.target "^[^A-Z]") (#not-eq? @assign.target @_own))
(init_declarator declarator: (reference_declarator (identifier) @assign.target) value: (_) @assign.value)
(init_declarator declarator: [(structured_binding_declarator)
  (reference_declarator (structured_binding_declarator))] @unpack.target value: (_) @unpack.value)
(init_declarator declarator: [(structured_binding_declarator (identifier) @bind)
  (reference_declarator (structured_binding_declarator (identifier) @bind))])
(init_declarator declarator: (reference_declarator) @declared.name)
(field_declaration declarator: (reference_declarator) @declared.name)
(condition_clause value: (declaration declarator: [(identifier) @assign.target (_ (identifier) @assign.target)]
  value: (_) @assign.value))
(for_range_loop declarator: [(identifier) @bind (_ (identifier) @bind)
  (reference_declarator (structured_binding_declarator (identifier) @bind))])
(catch_clause parameters: (parameter_list (parameter_declaration declarator: [(identifier) @bind
  (_ (identifier) @bind)])))
(lambda_expression declarator: (_ parameters: (parameter_list (_ declarator: [(identifier) @local
  (_ (identifier) @local) (_ (_ (identifier) @local))]))))
(lambda_capture_initializer left: (_) @local)
(type_parameter_declaration (type_identifier) @local)
(template_parameter_list (parameter_declaration declarator: (identifier) @local))
(template_parameter_list (optional_parameter_declaration declarator: (identifier) @local))
(delete_expression (_) @delete)

(throw_statement [(identifier) @throw (field_expression) @throw (qualified_identifier) @throw
  (call_expression function: (_) @throw) (compound_literal_expression type: (_) @throw)])
(co_await_expression argument: [(identifier) @await (field_expression) @await (call_expression
  function: [(identifier) (field_expression) (qualified_identifier)] @await)])
[(co_await_expression "co_await" @flag.async) (co_return_statement "co_return" @flag.async)]
(co_yield_statement) @flag.generator
(co_return_statement) @return
(co_return_statement (_) @return.value)
(catch_clause) @branch
(for_range_loop) @loop
["||" "and" "or"] @boolean
(binary_expression operator: "&&") @boolean

[(using_declaration) (namespace_alias_definition)] @import
(raw_string_literal) @opaque
[(qualified_identifier name: [(type_identifier) (template_type)])
 (qualified_identifier name: (qualified_identifier name: [(type_identifier) (template_type)]))
 (qualified_identifier name: (qualified_identifier name: (qualified_identifier
   name: [(type_identifier) (template_type)])))] @type
[(access_specifier) (virtual_specifier) (field_designator) (literal_suffix) (destructor_name)] @label
(function_declarator declarator: (qualified_identifier) @label)
(friend_declaration (declaration) @label)
(compound_statement (declaration declarator: (function_declarator declarator: (identifier) @local)))
(namespace_definition name: (_) @label)
(field_declaration declarator: (reference_declarator (field_identifier) @label))
""".replace("$CONSTRUCTED", _CONSTRUCTOR.format("(field_identifier) @call")).replace(
    "$INITIALIZED", _CONSTRUCTOR.format("(field_identifier) @assign.target . (_) @assign.value")
)

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "modifiers", "extends", "return_types", "throws",
    "awaits", "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
)  # fmt: skip

_KEYWORDS = WORDS | words("""
alignas alignof and catch class co_await co_return co_yield concept const_cast consteval constexpr constinit
decltype
delete dynamic_cast explicit export friend mutable namespace new noexcept not operator or override private
protected
public reinterpret_cast requires static_assert static_cast template thread_local throw try typeid typename
using virtual
""")

# Methods of the containers, of strings and of atomic types.
_MUTATORS = words("""
append assign clear emplace emplace_back emplace_front erase exchange fetch_add fetch_sub insert insert_or_assign
merge pop pop_back pop_front push push_back push_front remove remove_if reset resize reverse sort splice
store swap try_emplace unique
""")

_USING = re.compile(r"using\s++(namespace\s++)?(?:typename\s++)?((?:::)?[\w:\s]+?)(?<!\s)\s*+;?\s*\Z")
_CONVERSION_HEAD = re.compile(
    r"(operator\s+\S.*?)(?<!\s)\s*\(\s*+(?:void)?\s*\)\s*(?:(?:const|volatile|noexcept)\b[^<>]*|&.*)?$"
)
_ALIAS = re.compile(r"namespace\s+(\w+)\s*=\s*+([\w:\s]+?)(?<!\s)\s*+;?\s*\Z")
_MADE = re.compile(r"new\s+((?:\w|::)+(?:<[^(){}]*>)?)")
_OWNED = re.compile(r"(?:std::)?make_(unique|shared)\s*<([^(){}]*)>\s*\(")
_CONVERTED = re.compile(r"(?:static|dynamic|reinterpret|const)_cast\s*<([^(){}]*)>\s*\(")
_BUILT = re.compile(r"((?:\w|::)+(?:<[^(){}]*>)?)\s*\{")


def _naming(written: str) -> str:
    """A conversion operator without its empty parentheses; a comma with a space would part names."""
    conversion = _CONVERSION_HEAD.match(written)
    return conversion[1].replace(", ", ",") if conversion else naming(written)


def _imports(text: str) -> list[Import]:
    """Includes are files; `using` and the alias of a namespace bind names without importing any."""
    if text.startswith("#"):
        return included(text)
    alias = _ALIAS.match(text)
    if alias:
        return [Import("", ((alias[1], "".join(alias[2].split())),))]
    using = _USING.match(text)
    if using is None or using[1]:
        return []
    target = "".join(using[2].split()).removeprefix("::")
    return [Import("", ((target.rpartition("::")[2], target),))]


def _infer(kind: str, text: str, _callee: str) -> str:
    """The type that `new`, a cast or a constructor gives away; everything else has a declared one, or `auto`."""
    if kind == "new_expression":
        made = _MADE.match(text)
        return f"{made[1]}*" if made else ""
    if kind == "compound_literal_expression":
        built = _BUILT.match(text)
        return built[1] if built else ""
    if kind == "call_expression":
        owned, cast = _OWNED.match(text), _CONVERTED.match(text)
        return f"std::{owned[1]}_ptr<{owned[2]}>" if owned else cast[1].strip() if cast else ""
    return ""


LANGUAGE = Language(
    id="cpp",
    own_members=True,
    grammar="tree_sitter_cpp:language",
    query=_DEFINITIONS + DEFINITIONS + ACTIONS + _ACTIONS,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=no_visibility,
    naming=_naming,
    parameters=parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    separators=(".", "->", "::"),
    receivers=frozenset({"this"}),
    # class EXPORT_API Shop : public Base, static FORCE_INLINE item *find(
    misleading=re.compile(
        rb"(?:(?<=class )|(?<=struct ))[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?"
        rb"(?= (?!final\b)\w+\s*(?:final\s*)?[:{])|" + MACRO_BEFORE_A_TYPE
    ),
    hidden=hidden_branches,
    guessed=macros_of_heads,
    restart=re.compile(
        rb"^(?:#define |(?:static|extern|inline|class|struct|enum|union|typedef|using|namespace|template|const"
        rb"|constexpr|void|int|char|bool|auto|std::\w+)\b)",
        re.MULTILINE,
    ),
    doc_signs=DOXYGEN,
)
