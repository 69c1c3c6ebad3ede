"""Which forge a repository is on, and where its token is: whoever runs the service decides, not who asks it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.launch.documents import sha256
from holdfast.launch.forge_places import AUTO, ForgeAddressError, belongs_to, place_of, usual_variable
from holdfast.launch.publishing.allowance import Allowance
from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.forge_token import ForgeToken
from holdfast.launch.publishing.forges import Forge, Proposal, PullRequest
from holdfast.launch.publishing.mirror import Mirror
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.rest_forge import RestForge

__all__ = ["ChosenForge", "ForgeRule"]


class ForgeRule(NamedTuple):
    """What is known of a forge: `variable` holds its token (by default the usual one), `url` is where it is."""

    kind: str = AUTO
    variable: str = ""
    url: str = ""


class ChosenForge:
    """The forge of whichever repository a mirror follows: of the first rule that fits its address.

    Below `memory` it is remembered which forge wants to be left alone, and until when.
    """

    def __init__(
        self, rules: Sequence[ForgeRule], memory: Path, *, pause: float = 0.5, timeout: float = 20.0
    ) -> None:
        self._rules = (*rules, ForgeRule())
        self._memory = memory
        self._pause = pause
        self._timeout = timeout
        self._plain = BareForge()

    def prepare(self, mirror: Mirror) -> None:
        """Tell the mirror how git gets to the site."""
        self._of(mirror.address).prepare(mirror)

    def publish(self, mirror: Mirror, proposal: Proposal) -> PullRequest:
        """Open the pull request, or find the one that is there."""
        return self._of(mirror.address).publish(mirror, proposal)

    def pulls(self, mirror: Mirror) -> list[dict[str, Any]]:
        """All pull requests, by number."""
        return self._of(mirror.address).pulls(mirror)

    def _of(self, address: str) -> Forge:
        rule = next(one for one in self._rules if not one.url or belongs_to(address, one.url))
        try:
            place = place_of(address, rule.kind, rule.url)
        except ForgeAddressError as error:
            raise Refusal("INVALID_REQUEST", str(error), details={"field": "repo_url"}) from error
        if place is None:
            return self._plain
        token = ForgeToken(rule.variable or usual_variable(place.kind))
        whose = sha256(f"{place.api} {token.variable}".encode())[:32]
        allowance = Allowance(self._memory / whose)
        return RestForge(place, token, allowance, pause=self._pause, timeout=self._timeout)
