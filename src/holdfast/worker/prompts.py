"""`prompts/get`: from a name and texts to the function that makes the messages, and to what is sent."""

from typing import Any

from holdfast.contract.binding import ArgumentsRejected
from holdfast.present.eras import content_for_revision
from holdfast.present.profile import shape_result
from holdfast.present.secrets import NO_SECRETS, Secrets
from holdfast.vocabulary.faults import fault
from holdfast.worker.offer_call import Asked, OfferCall, admit, refuse, refuse_arguments

__all__ = ["admit_prompt"]


def admit_prompt(asked: Asked) -> None:
    """Admit the request, or answer at once why not."""
    name, arguments = asked.params.get("name"), asked.params.get("arguments", {})
    is_texts = isinstance(arguments, dict) and all(isinstance(value, str) for value in arguments.values())
    if not isinstance(name, str) or not is_texts:
        text = "prompts/get needs the name of a prompt, and arguments that are texts"
        refuse(asked, "<malformed>", fault("INVALID_REQUEST", text), {})
        return
    prompt = asked.server.find_prompt(name)
    if prompt is None:
        refuse(asked, "<unknown>", fault("NOT_FOUND", f"there is no prompt {name[:120]!r}"), {})
        return
    secrets = Secrets(prompt.secrets, arguments) if prompt.secrets else NO_SECRETS
    try:
        keywords = prompt.bind(arguments)
    except ArgumentsRejected as error:
        refuse_arguments(asked, name, error, {}, secrets)
        return
    contract, revision = prompt.contract, asked.profile.revision

    def result(value: Any) -> dict[str, Any]:
        messages = [
            {**message, "content": content_for_revision(message["content"], revision)}
            for message in prompt.dump(value)
        ]
        told = {"description": contract.description, "messages": messages}
        return shape_result(told, asked.profile, asked.server.server_info)

    call = OfferCall(asked, prompt, name, keywords, result, timeout=contract.timeout, about={}, secrets=secrets)
    admit(call, asked, {})
