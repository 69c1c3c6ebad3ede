"""The rules for specifications, as data: a stable id, how grave a breach is, what it enforces, what to do.

Checks are elsewhere; a check names its rule, and severity and remedy come from here. Ids are public: people
write them into waivers and reports, so a rule may be added but never renamed.
"""

from dataclasses import dataclass
from typing import Literal

from holdfast.contract.documents.findings import Finding, Severity

__all__ = ["RULES", "Rule", "Scope", "finding"]

# Where a rule applies: a document, a server, each of them, or a document beside its server.
Scope = Literal["document", "surface", "both", "verify"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `sentence` is the sentence of the specification format that it enforces."""

    id: str
    severity: Severity
    meaning: str
    sentence: str
    remedy: str
    scope: Scope = "document"


_EIGHT = "Every tool has the eight sections, each filled in."
_SCHEMAS = "Inputs and outputs are defined precisely, by JSON Schema, with types, formats and descriptions."
_EXAMPLES = "There is at least one complete, valid JSON call with tool_name and arguments."
_ERRORS = "Error conditions are specific, and errors are told in one consistent form."
_IDEMPOTENCY = "It is stated clearly whether a tool is idempotent, with the behaviour on repeated calls."
_SECURITY = "The security section is detailed and actionable for what the tool can touch."
_VERSION = "Each tool states its version."
_CLARITY = "Purpose, inputs, outputs and behaviour are understood at once by people and agents."
_NAMES = "The invocation name is unique, machine-readable and stable."
_GRANULAR = "A tool is one discrete, well-defined action."
_PARSABLE = "A specification can be read by machines."
_TEMPLATE = "A specification follows the canonical template."
_ACCURATE = "A specification is accurate and up to date with what the tool really does."

_TABLE: tuple[tuple[str, Severity, Scope, str, str, str], ...] = (
    # The document
    ("document-too-large", "error", "document", "The file is too large to be read.", _PARSABLE, "Split the file."),
    ("not-text", "error", "document", "The file holds characters that are not text.", _PARSABLE,
     "Save it as UTF-8 text."),
    ("fence-unclosed", "warning", "document", "A code fence is never closed and swallows the rest.", _PARSABLE,
     "Close the fence with the same marks that open it."),
    ("comment-unclosed", "warning", "document", "A comment is never closed and swallows the rest.", _PARSABLE,
     "Close the comment with -->."),
    ("nested-too-deep", "error", "document", "Lists or quotes are nested too deep to be read.", _PARSABLE,
     "Nest at most five deep."),
    ("marker-broken", "error", "document", "The comments around a generated region do not pair.", _PARSABLE,
     "Restore the pair of comments, or delete the region and generate it again."),
    ("no-tools-found", "error", "both", "There is no tool, and nothing says that there is none.", _EIGHT,
     "Describe each tool under a heading such as ## Tool: `name`, or write that the module exposes no tools."),
    # The structure of a tool
    ("section-missing", "error", "document", "One of the eight sections is missing.", _EIGHT,
     "Add the section with its canonical heading."),
    ("section-order", "warning", "document", "A section stands before one that should precede it.", _TEMPLATE,
     "Move the section to its place; the order is that of the template."),
    ("section-empty", "error", "document", "A section says nothing.", _EIGHT,
     "Fill it in; where there is nothing to say, say so: None."),
    ("section-duplicate", "warning", "document", "A section stands twice in one tool.", _TEMPLATE,
     "Put both into one section."),
    ("unknown-section", "note", "document", "A heading in a tool is none of the eight.", _TEMPLATE,
     "Move its text into one of the eight sections, or under the heading Further Notes."),
    ("placeholder", "error", "both", "A placeholder was left unfilled.", _TEMPLATE, "Write what belongs there."),
    # Names and words
    ("name-pattern", "error", "both", "The invocation name is not machine-readable.", _NAMES,
     "Use 1 to 128 of the characters A-Z a-z 0-9 _ . -"),
    ("name-duplicate", "error", "both", "Two tools have the same invocation name.", _NAMES, "Rename one of them."),
    ("name-differs", "warning", "document", "Heading and invocation name differ.", _NAMES,
     "Write the invocation name in the heading too."),
    ("tool-too-broad", "note", "both", "The name joins two actions.", _GRANULAR, "Make it two tools."),
    ("description-short", "warning", "both", "The description is too short to choose the tool by.", _CLARITY,
     "Say what the tool does and when to use it."),
    ("description-long", "note", "both", "The description is too long to be read when choosing.", _CLARITY,
     "Keep the purpose short; details belong into their sections."),
    ("version-missing", "warning", "both", "The tool states no version.", _VERSION,
     "Write a line such as Version: 1.0.0 under its purpose."),
    ("version-not-semver", "error", "both", "The version is not three numbers.", _VERSION,
     "Write a SemVer version such as 1.0.0."),
    # Schemas and tables
    ("schema-missing", "error", "both", "There is no JSON Schema.", _SCHEMAS,
     "Add a fenced JSON Schema below the table."),
    ("schema-invalid", "error", "both", "The JSON Schema is not valid.", _SCHEMAS, "Correct the schema."),
    ("schema-external-ref", "error", "both", "The schema refers to something outside of itself.", _SCHEMAS,
     "Copy what it refers to into $defs."),
    ("schema-not-object", "error", "both", "The schema of the arguments is not that of an object.", _SCHEMAS,
     'Write "type": "object" with the parameters as properties.'),
    ("table-missing", "note", "document", "There is a schema but no table for readers.", _TEMPLATE,
     "Add a table of the fields."),
    ("table-schema-differ", "error", "document", "Table and schema disagree.", _SCHEMAS,
     "Make the row and the property say the same."),
    ("table-type-unknown", "warning", "document", "The type of a field is missing or not a known word.", _SCHEMAS,
     "Use string, integer, number, boolean, array[string], object or enum[...]."),
    ("table-required-unstated", "warning", "document", "Whether a parameter is required is not stated.", _SCHEMAS,
     "Write Yes or No into the column Required."),
    ("table-example-missing", "note", "document", "No example shows a value of the field.", _SCHEMAS,
     "Write a value into the column Example Value, or use the field in an example."),
    ("table-example-invalid", "warning", "document", "The example value does not fit the field.", _SCHEMAS,
     "Write a value of the field's type."),
    ("property-undescribed", "warning", "both", "A field has no description.", _SCHEMAS,
     "Say what the field means."),
    ("property-untyped", "warning", "both", "A property of a schema has no type.", _SCHEMAS,
     "Give it a type, an enum or a reference."),
    ("format-unstated", "note", "both", "A date, time, URI or address has no stated format.", _SCHEMAS,
     'Add a "format" or a "pattern".'),
    ("json-invalid", "error", "document", "A JSON fence does not hold JSON.", _PARSABLE, "Correct the JSON."),
    ("json-with-comments", "warning", "document", "A JSON fence holds comments or trailing commas.", _PARSABLE,
     "Move the comments into the text; drop the trailing commas."),
    ("json-duplicate-key", "warning", "document", "A JSON object has the same key twice.", _PARSABLE,
     "Keep one of them."),
    # Examples
    ("example-missing", "error", "both", "There is no example of a call.", _EXAMPLES,
     'Add a fenced JSON call: {"tool_name": ..., "arguments": {...}}.'),
    ("example-not-json", "error", "document", "An example of a call is not JSON.", _EXAMPLES, "Correct the JSON."),
    ("example-incomplete", "error", "document", "An example lacks tool_name or arguments.", _EXAMPLES,
     'Write both: {"tool_name": ..., "arguments": {...}}.'),
    ("example-wrong-name", "error", "document", "An example calls another tool.", _EXAMPLES,
     "Write the invocation name of this tool."),
    ("example-invalid", "error", "both", "The arguments of an example do not fit the input schema.", _EXAMPLES,
     "Correct the example; it must be a call that works."),
    ("result-invalid", "error", "both", "An example of a result does not fit the output schema.", _SCHEMAS,
     "Correct the example or the schema."),
    # Errors
    ("error-none-declared", "warning", "document", "No error code is named, nor said that there is none.", _ERRORS,
     "List the codes with their meaning, or write None."),
    ("error-duplicate", "warning", "both", "An error code is declared twice.", _ERRORS, "Keep one of them."),
    ("error-undeclared", "error", "document", "An error code is used that is not declared.", _ERRORS,
     "Add the code to the section on errors."),
    ("error-unexplained", "warning", "both", "An error code has no meaning.", _ERRORS,
     "Say when it is returned and what the caller can do."),
    # Idempotency
    ("idempotency-unclear", "error", "both", "It is not stated whether the tool is idempotent.", _IDEMPOTENCY,
     "Begin with Idempotent: Yes, No or Partially."),
    ("idempotency-unexplained", "warning", "document", "The word on idempotency is not explained.", _IDEMPOTENCY,
     "Say what a repeated call with the same arguments does."),
    ("idempotency-contradiction", "error", "both", "The word on idempotency contradicts the effect.", _IDEMPOTENCY,
     "Yes: replay_safe or deduplicated. No: at_most_once. Partially: probe_required or at_most_once."),
    # Security
    ("security-undeclared", "error", "surface", "Nothing is said about security.", _SECURITY,
     "Say what the tool may read, change and reach, and what limits it."),
    ("security-missing-risk", "warning", "both", "A risk that the tool seems to have is not spoken of.", _SECURITY,
     "Name the risk in the security section and say what limits it."),
    # Beside the server
    ("tool-undocumented", "error", "verify", "The server has a tool that the document does not have.", _ACCURATE,
     "Generate the document again, or add the tool."),
    ("tool-unknown", "error", "verify", "The document has a tool that the server does not have.", _ACCURATE,
     "Remove it, or correct its invocation name."),
    ("schema-drift", "error", "verify", "A documented schema is not that of the server.", _ACCURATE,
     "Correct the schema, or generate the document again."),
    ("errors-drift", "error", "verify", "The documented errors are not those of the server.", _ACCURATE,
     "List exactly the declared codes, with what they mean."),
    ("idempotency-drift", "error", "verify", "The word on idempotency is not that of the server.", _ACCURATE,
     "Write the word that follows from the declared effect."),
    ("version-drift", "error", "verify", "The documented version is not that of the server.", _ACCURATE,
     "Write the version of the server."),
    ("declaration-drift", "error", "verify", "A fact on a tool is not what the server declares.", _ACCURATE,
     "Write what the server declares."),
    ("example-drift", "error", "verify", "An example would be refused by the server.", _ACCURATE,
     "Correct the example."),
    ("region-stale", "error", "verify", "A generated region is not what would be generated now.", _ACCURATE,
     "Generate the document again."),
    ("text-differs", "note", "verify", "A section that is not generated says nothing of what the code says.",
     _ACCURATE, "Compare it with the code; text that is generated stays in step by itself."),
)  # fmt: skip

RULES: dict[str, Rule] = {
    f"spec.{word}": Rule(f"spec.{word}", severity, meaning, sentence, remedy, scope)
    for word, severity, scope, meaning, sentence, remedy in _TABLE
}


def finding(
    rule: str,
    message: str,
    *,
    line: int,
    column: int = 1,
    tool: str | None = None,
    file: str = "",
    remedy: str = "",
) -> Finding:
    """A finding of one rule, with the severity and, where none is given, the remedy of its row."""
    row = RULES[rule]
    return Finding(rule, row.severity, message, line, column, tool, file, remedy or row.remedy)
