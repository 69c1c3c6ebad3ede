"""`resources/read`: from an address to the function that reads it, and to the contents that are sent."""

from typing import Any

from holdfast.contract.binding import ArgumentsRejected
from holdfast.contract.uri_template import UnsafeValue
from holdfast.present.profile import shape_list
from holdfast.vocabulary.faults import fault
from holdfast.worker.offer_call import Asked, OfferCall, admit, refuse, refuse_arguments
from holdfast.worker.offers import Found

__all__ = ["admit_read", "find_or_refuse"]

_SHOWN = 400  # characters of an address that is told back


def admit_read(asked: Asked) -> None:
    """Admit the read, or answer at once why not."""
    found = find_or_refuse(asked)
    if found is None:
        return
    resource, uri = found.resource, asked.params["uri"]
    contract, about = resource.contract, {"uri": uri[:_SHOWN]}
    try:
        keywords = resource.bind(found.values)
    except ArgumentsRejected as error:
        refuse_arguments(asked, str(contract.name), error, about)
        return

    def result(value: Any) -> dict[str, Any]:
        return shape_list(
            {"contents": resource.dump(value, uri)},
            asked.profile,
            asked.server.server_info,
            ttl_ms=round(contract.ttl * 1000),
            scope=contract.cache_scope,
        )

    name = str(contract.name)
    admit(OfferCall(asked, resource, name, keywords, result, timeout=contract.timeout, about=about), asked, about)


def find_or_refuse(asked: Asked) -> Found | None:
    """The resource that the request is about; None where the request was answered instead."""
    uri = asked.params.get("uri")
    if not isinstance(uri, str):
        problem = fault("INVALID_REQUEST", f"{asked.request.method} needs the uri of a resource")
        refuse(asked, "<malformed>", problem, {})
        return None
    about = {"uri": uri[:_SHOWN]}
    try:
        found = asked.server.find_resource(uri)
    except UnsafeValue as error:
        problem = fault("INVALID_REQUEST", f"the address is refused: {error}")
        refuse(asked, "<refused>", problem, about)
        return None
    if found is None:
        refuse(asked, "<unknown>", fault("NOT_FOUND", f"there is no resource {uri[:_SHOWN]!r}"), about)
    return found
