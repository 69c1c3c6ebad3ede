"""The ecosystems, one row each. A new one is a folder with its rules and a row here."""

from holdfast.launch.facts.ecosystems.dotnet import ECOSYSTEM as DOTNET
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem
from holdfast.launch.facts.ecosystems.go import ECOSYSTEM as GO
from holdfast.launch.facts.ecosystems.java import ECOSYSTEM as JAVA
from holdfast.launch.facts.ecosystems.javascript import ECOSYSTEM as JAVASCRIPT
from holdfast.launch.facts.ecosystems.python import ECOSYSTEM as PYTHON
from holdfast.launch.facts.ecosystems.rust import ECOSYSTEM as RUST

__all__ = ["ECOSYSTEMS", "ecosystem_of"]

ECOSYSTEMS: tuple[Ecosystem, ...] = (PYTHON, JAVASCRIPT, GO, RUST, JAVA, DOTNET)


def ecosystem_of(platform: str) -> Ecosystem | None:
    """The ecosystem of a target platform; None where nobody has described it yet."""
    return next((one for one in ECOSYSTEMS if platform in one.platforms), None)
