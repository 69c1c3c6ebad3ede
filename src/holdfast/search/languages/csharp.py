"""C#: its query and its rules. Namespaces are left out of names, as packages are in other languages."""

import re

from holdfast.search.languages.rules.definitions import access
from holdfast.search.languages.rules.language import DOC_COMMENTS, Import, Language, Parameter, every_field, words
from holdfast.search.languages.rules.lists import find_outside, split_typed

__all__ = ["LANGUAGE"]

_DEFINITIONS = """
(class_declaration name: (_) @name) @def.class
(class_declaration body: (_) @body)
(class_declaration (parameter_list) @params)
(struct_declaration name: (_) @name) @def.struct
(struct_declaration body: (_) @body)
(struct_declaration (parameter_list) @params)
(record_declaration name: (_) @name) @def.class
(record_declaration body: (_) @body)
(record_declaration (parameter_list) @params)
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(delegate_declaration type: (_) @result name: (_) @name parameters: (_) @params) @def.type
(method_declaration returns: (_) @result name: (_) @name parameters: (_) @params) @def.method
(method_declaration [body: (_) ";"] @body)
(constructor_declaration name: (_) @name parameters: (_) @params body: (_) @body) @def.method
(constructor_declaration (constructor_initializer) @body)
(destructor_declaration name: (_) @name body: (_) @body) @def.method
(local_function_statement type: (_) @result name: (_) @name parameters: (_) @params body: (_) @body) @def.function
(operator_declaration type: (_) @result operator: _ @name parameters: (_) @params body: (_) @body) @def.method
(conversion_operator_declaration "operator" @name type: (_) @result parameters: (_) @params body: (_) @body)
  @def.method
(indexer_declaration type: (_) @result "this" @name parameters: (_) @params) @def.method
(indexer_declaration [accessors: (_) value: (_)] @body)
(property_declaration name: (_) @name) @def.variable
(event_declaration name: (_) @name) @def.variable
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @def.variable
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name))) @def.variable
(field_declaration (modifier "static") (modifier "readonly")
  (variable_declaration (variable_declarator name: (_) @name))) @def.variable

(base_list [(identifier) (generic_name) (qualified_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))
(field_declaration (modifier)? @modifier (modifier "const") @modifier)
(field_declaration (modifier)? @modifier (modifier "static") @modifier (modifier "readonly") @modifier)
(method_declaration (modifier "async") @flag.async)
(local_function_statement (modifier "async") @flag.async)
[(compilation_unit (_) @access.internal) (namespace_declaration body: (declaration_list (_) @access.internal))
 (class_declaration body: (declaration_list (_) @access.private))
 (struct_declaration body: (declaration_list (_) @access.private))
 (record_declaration body: (declaration_list (_) @access.private))
 (interface_declaration body: (declaration_list (_) @access.public))]
[(method_declaration (explicit_interface_specifier)) (local_function_statement) (destructor_declaration)]
  @access.unsaid
"""

# Modifiers and attributes count where a definition has them: those of fields and parameters would be its own.
_MODIFIED = """
class_declaration struct_declaration record_declaration interface_declaration enum_declaration delegate_declaration
method_declaration constructor_declaration local_function_statement operator_declaration indexer_declaration
conversion_operator_declaration property_declaration event_field_declaration event_declaration
"""
_OF_DEFINITIONS = "\n".join(
    f"({definition} {part})"
    for definition in _MODIFIED.split()
    for part in ("(modifier) @modifier", "(attribute_list (attribute) @decorator)")
)

_ACTIONS = """
((invocation_expression function: [(identifier) (generic_name) (member_access_expression)
  (conditional_access_expression)] @call) (#not-match? @call "^(nameof$|await )"))
(invocation_expression function: (conditional_access_expression condition: (await_expression)
  (member_binding_expression name: (_) @call)))
(base_list [(identifier) (generic_name) (qualified_name)] @call . (argument_list))
(object_creation_expression type: [(identifier) (generic_name) (qualified_name)] @call)
(constructor_initializer ["this" "base"] @call)
(primary_constructor_base_type type: (_) @call)
(argument_list) @arguments
[(lambda_expression) (anonymous_method_expression)] @anonymous

(variable_declarator . name: (identifier) @assign.target . (_) @assign.value)
(variable_declarator . name: (identifier) @local .)
(variable_declarator . (tuple_pattern) @unpack.target . (_) @unpack.value)
(tuple_pattern name: (identifier) @bind)
(property_declaration name: (identifier) @assign.target "=" value: (_) @assign.value)
(assignment_expression left: (_) @update ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" ">>>=" "??="])
[(postfix_unary_expression (_) @update ["++" "--"]) (prefix_unary_expression ["++" "--"] (_) @update)]
(assignment_expression left: (member_access_expression expression: (element_access_expression)) @mutated)
(foreach_statement left: (identifier) @bind)
(argument "out" (identifier) @bind)
[(catch_declaration name: (_) @bind) (declaration_pattern name: (_) @bind) (recursive_pattern name: (_) @bind)
 (var_pattern name: (_) @bind) (declaration_expression name: (identifier) @bind)]
[(lambda_expression parameters: (implicit_parameter) @local) (from_clause name: (_) @local)
 (let_clause . (identifier) @local) (join_clause . (identifier) @local)]
(lambda_expression parameters: (parameter_list (parameter name: (_) @local)))
(anonymous_method_expression parameters: (parameter_list (parameter name: (_) @local)))
(type_parameter name: (_) @local)
(variable_declaration type: (_) @declared.type)
(variable_declaration (variable_declarator name: (identifier) @declared.name))
(property_declaration type: (_) @declared.type name: (_) @declared.name)

((await_expression (invocation_expression function: (member_access_expression
  expression: (invocation_expression function: [(identifier) (member_access_expression)] @await)
  name: (identifier) @_configured))) (#eq? @_configured "ConfigureAwait"))
(throw_statement [(identifier) @throw (member_access_expression) @throw
  (object_creation_expression type: (_) @throw)])
(throw_expression [(identifier) @throw (object_creation_expression type: (_) @throw)])
(yield_statement) @flag.generator
(return_statement) @return
(return_statement (_) @return.value)
((method_declaration returns: (_) @_type body: (arrow_expression_clause (_) @return.value)) (#not-eq? @_type
  "void"))
((local_function_statement type: (_) @_type body: (arrow_expression_clause (_) @return.value))
  (#not-eq? @_type "void"))
[(operator_declaration body: (arrow_expression_clause (_) @return.value))
 (conversion_operator_declaration body: (arrow_expression_clause (_) @return.value))
 (indexer_declaration value: (arrow_expression_clause (_) @return.value))]
[(if_statement) (conditional_expression) (catch_clause)] @branch
(switch_section "case") @branch
(switch_expression_arm . [(constant_pattern) (declaration_pattern) (recursive_pattern) (relational_pattern)
  (or_pattern)
  (and_pattern) (negated_pattern) (type_pattern) (var_pattern) (list_pattern) (tuple_pattern)
  (parenthesized_pattern)]) @branch
[(for_statement) (foreach_statement) (while_statement) (do_statement)] @loop
(break_statement) @break
(continue_statement) @continue
["&&" "||" "??"] @boolean

(using_directive) @import
(comment) @comment
[(string_literal_content) (string_content) (escape_sequence) (character_literal) (verbatim_string_literal)
 (raw_string_literal)] @opaque
[(predefined_type) (implicit_type) (modifier) (attribute_list) (preproc_region) (preproc_endregion)
  (preproc_pragma)
 (preproc_nullable) (preproc_if_in_attribute_list)] @label
[(interpolation_start) (interpolation_format_clause) (extern_alias_directive)] @label
(event_declaration name: (_) @label)
[(file_scoped_namespace_declaration name: (_) @label) (namespace_declaration name: (_) @label)]
[(property_declaration name: (_) @label) (accessor_declaration name: _ @label) (enum_member_declaration name:
  (_) @label)]
[(argument name: (_) @label) (subpattern . (identifier) @label)]
(anonymous_object_creation_expression (identifier) @label . "=")
(initializer_expression (assignment_expression left: (identifier) @label))
(explicit_interface_specifier) @label
[(goto_statement (identifier) @label) (labeled_statement . (identifier) @label)]
[(event_field_declaration "event" @label) (type_parameter_constraints_clause "where" @label)
 (when_clause "when" @label) (catch_filter_clause "when" @label) (with_expression "with" @label)]
["from" "select" "where" "orderby" "group" "by" "into" "let" "join" "on" "equals" "ascending" "descending" "yield"
 "record" "get" "set" "init" "add" "remove" "global" "unmanaged" "notnull"] @label
(ERROR) @error
(MISSING) @error
"""

# `new Item { Price = 3 }` writes nothing that has a name here, though it looks like an assignment.
_ASSIGNMENT = '(assignment_expression left: (_) @assign.target "=" right: _ @assign.value)'
_ASSIGNED = "\n".join(
    f"({node} {_ASSIGNMENT})"
    for node in (
        "expression_statement",
        "arrow_expression_clause",
        "lambda_expression",
        "parenthesized_expression",
        "assignment_expression",
        "for_statement",
        "argument",
    )
)

# What is called on a name is awaited by all of it, what is called on a call by its last name.
_AWAITED_CALL = """(invocation_expression function: [(identifier) @await (generic_name) @await
  (member_access_expression expression: [(identifier) "this" "base" (member_access_expression) (predefined_type)
    (generic_name)]) @await
  (member_access_expression expression: [(invocation_expression) (await_expression) (object_creation_expression)
    (parenthesized_expression)] name: (_) @await)])"""
_AWAITED = f"""
((await_expression {_AWAITED_CALL}) (#not-eq? @await "ConfigureAwait"))
(await_expression [(identifier) (member_access_expression)] @await)
(foreach_statement "await" right: {_AWAITED_CALL})
(foreach_statement "await" right: [(identifier) (member_access_expression)] @await)
"""

# The grammar calls types what it calls names: what they are is told by where they stand.
_TYPE = "[(identifier) (generic_name) (qualified_name) (nullable_type) (array_type)]"
_WITH_TYPES = """
parameter variable_declaration property_declaration object_creation_expression cast_expression declaration_pattern
recursive_pattern catch_declaration declaration_expression foreach_statement delegate_declaration
operator_declaration
indexer_declaration conversion_operator_declaration local_function_statement array_type nullable_type
typeof_expression
default_expression event_declaration type_parameter_constraint
"""
_TYPES = "\n".join(
    [
        *(f"({node} type: {_TYPE} @type)" for node in _WITH_TYPES.split()),
        f"(method_declaration returns: {_TYPE} @type)",
        f"(base_list {_TYPE} @type)",
        f"(as_expression right: {_TYPE} @type)",
        f"(is_expression right: {_TYPE} @type)",
        f"(type_argument_list {_TYPE} @type)",
    ]
)

_FIELDS = every_field(
    "params", "param_types", "param_defaults", "decorators", "modifiers", "extends", "return_types", "throws",
    "awaits", "calls", "uses", "reads", "writes", "mutations", "aliases", "inferred_types",
)  # fmt: skip

_KEYWORDS = words("""
_ abstract and as async await base bool break byte case catch char checked class const continue decimal default
delegate do double else enum event explicit extern false finally fixed float for foreach goto if implicit in int
interface internal is lock long nameof namespace new not null object operator or out override params private
protected
public readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw true try
typeof uint ulong unchecked unsafe ushort using var virtual void volatile while
""")

# Methods of the collections and of StringBuilder.
_MUTATORS = words("""
Add AddFirst AddLast AddRange Append AppendFormat AppendLine Clear Dequeue Enqueue ExceptWith Insert InsertRange
IntersectWith Pop Push Remove RemoveAll RemoveAt RemoveFirst RemoveLast RemoveRange RemoveWhere Replace Reverse
Sort
TryAdd TryDequeue TryPop TryRemove UnionWith
""")

_TYPES_OF_LITERALS = {
    "string_literal": "string",
    "verbatim_string_literal": "string",
    "interpolated_string_expression": "string",
    "raw_string_literal": "string",
    "character_literal": "char",
    "boolean_literal": "bool",
    "is_pattern_expression": "bool",
    "is_expression": "bool",
}
_SUFFIXES = {"l": "long", "u": "uint", "ul": "ulong", "lu": "ulong", "f": "float", "d": "double", "m": "decimal"}
_SUFFIX = re.compile(r"(?:0[xXbB][\da-fA-F_]+?|[\d_.]+(?:[eE][-+]?\d+)?)([a-zA-Z]*)\Z")
_USING = re.compile(r"(?:global\s+)?using\s+(static\s+|unsafe\s+)*(?:(@?\w+)\s*=\s*)?(.*?)\s*;?\s*\Z", re.DOTALL)
_MADE = re.compile(r"new\s+([\w.]+(?:<[^(){}]*>)?)\s*(\[[^\[\]]*\])?")
_CAST = re.compile(r"\(\s*+([\w.<>\[\], ?]+?)(?<!\s)\s*\)")
_ATTRIBUTE = re.compile(r"\[[^\[\]]*\]\s*(?=[\w@(\[])")
_PARAMETER = re.compile(
    r"(?:(?:this|ref|out|in|params|scoped|readonly)\s+)*(\S.*[\s>\])?*])\s*@?([^\W\d]\w*)\Z", re.DOTALL
)
_NAME = re.compile(r"[\w.]+\Z")


def _parameters(text: str, blanked: str) -> list[Parameter]:
    items = split_typed(text[1:-1], blanked[1:-1])
    return [found for item in items if (found := _parameter(item)).name]


def _parameter(item: str) -> Parameter:
    equals = find_outside(item, "=")
    item, default = (item[:equals], item[equals + 1 :].strip()) if equals >= 0 else (item, "")
    named = _PARAMETER.match(_ATTRIBUTE.sub("", item.strip()) if item.lstrip().startswith("[") else item.strip())
    return Parameter(named[2], named[1].strip(), default) if named else Parameter("")


def _imports(text: str) -> list[Import]:
    """A namespace, or the alias of one or of a type. Names of imported namespaces are not written down."""
    found = _USING.match(text)
    if found is None or not found[3]:
        return []
    target = "".join(found[3].split())
    if found[2]:
        return [Import(target if _NAME.match(target) else "", ((found[2], target),))]
    return [Import(target)]


def _infer(kind: str, text: str, _callee: str) -> str:
    """The type that a literal, a constructor or a cast gives away."""
    if kind in ("object_creation_expression", "array_creation_expression"):
        made = _MADE.match(text)
        return made[1] + ("[]" if made[2] else "") if made else ""
    if kind == "cast_expression":
        cast = _CAST.match(text)
        return cast[1] if cast else ""
    if kind == "as_expression":
        return text.rpartition(" as ")[2].strip()
    if kind in ("integer_literal", "real_literal"):
        suffix = _SUFFIX.match(text)
        plain = "int" if kind == "integer_literal" else "double"
        return _SUFFIXES.get(suffix[1].lower(), plain) if suffix else plain
    return _TYPES_OF_LITERALS.get(kind, "")


LANGUAGE = Language(
    id="csharp",
    own_members=True,
    grammar="tree_sitter_c_sharp:language",
    query=_DEFINITIONS + _OF_DEFINITIONS + _ACTIONS + _ASSIGNED + _AWAITED + _TYPES,
    fields=_FIELDS,
    keywords=_KEYWORDS,
    visibility=access(""),
    parameters=_parameters,
    imports=_imports,
    infer=_infer,
    mutators=_MUTATORS,
    receivers=frozenset({"this", "base"}),
    restart=re.compile(
        rb"^[ \t]*(?:public|internal|private|protected|static|abstract|sealed|namespace)\b", re.MULTILINE
    ),
    doc_signs=DOC_COMMENTS,
)
