"""Protocol Buffers: messages, enums, services and their calls."""

from holdfast.search.languages.rules.definitions import definitions_only, packed

__all__ = ["LANGUAGE"]

_QUERY = """
(package (full_ident) @name) @def.namespace
(message (message_name) @name (message_body) @body) @def.struct
(enum (enum_name) @name (enum_body) @body) @def.enum
(service (service_name) @name "{" @body) @def.interface
(rpc (rpc_name) @name) @def.method
(extend (full_ident) @name (message_body) @body) @def.impl
(comment) @comment
"""

LANGUAGE = definitions_only(
    "protobuf", packed("proto"), _QUERY, root="source_file", restart=rb"^(?:message|enum|service|extend|package) "
)
