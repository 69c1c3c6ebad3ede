"""Interfaces of OCaml (`.mli`): what they declare. Their grammar is one of its own, with the same nodes."""

from holdfast.search.languages.ocaml import OCAML_COMMENTS, SIGNATURES
from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

LANGUAGE = definitions_only(
    "ocaml_interface",
    packed("ocaml_interface"),
    SIGNATURES + "(module_binding module_type: (signature) @body)",
    root="compilation_unit",
    fields="extends",
    comment_signs=OCAML_COMMENTS,
    restart=rb"^(?:val|type|module|exception|class|external) ",
)
