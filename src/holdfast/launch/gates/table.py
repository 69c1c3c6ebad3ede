"""The gates, in the order in which they look. One that needs what another leaves behind comes after it."""

from holdfast.launch.gates.consistency import GATE as CONSISTENCY
from holdfast.launch.gates.distribution import GATE as DISTRIBUTION
from holdfast.launch.gates.external_links import GATE as EXTERNAL_LINKS
from holdfast.launch.gates.frontmatter import GATE as FRONTMATTER
from holdfast.launch.gates.gate import Gate
from holdfast.launch.gates.hugo_build import GATE as HUGO_BUILD
from holdfast.launch.gates.hugo_config import GATE as HUGO_CONFIG
from holdfast.launch.gates.internal_links import GATE as INTERNAL_LINKS
from holdfast.launch.gates.markdown_lint import GATE as MARKDOWN_LINT
from holdfast.launch.gates.policy import GATE as POLICY
from holdfast.launch.gates.rollback import GATE as ROLLBACK
from holdfast.launch.gates.schema import GATE as SCHEMA
from holdfast.launch.gates.secrets import GATE as SECRETS
from holdfast.launch.gates.snippets import GATE as SNIPPETS
from holdfast.launch.gates.template_tokens import GATE as TEMPLATE_TOKENS
from holdfast.launch.gates.truthlock import GATE as TRUTHLOCK
from holdfast.launch.gates.universality import GATE as UNIVERSALITY

__all__ = ["GATES"]

GATES: tuple[Gate, ...] = (
    SCHEMA, FRONTMATTER, MARKDOWN_LINT, TEMPLATE_TOKENS, HUGO_CONFIG, HUGO_BUILD, INTERNAL_LINKS, EXTERNAL_LINKS,
    SNIPPETS, TRUTHLOCK, SECRETS, CONSISTENCY, UNIVERSALITY, DISTRIBUTION, POLICY, ROLLBACK,
)  # fmt: skip
