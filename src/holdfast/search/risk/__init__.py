"""Risk: untrusted input, dangerous calls, and the paths between them inside of one function.

The rules are data (`rules.toml`, and a file of the user's own); `analyse` writes what they find into the facts of
a chunk. It reads call sites, assignments and names, not types, and never looks into another function.
"""

from holdfast.search.risk.analysis import analyse
from holdfast.search.risk.loading import load_rules, rules_digest

__all__ = ["analyse", "load_rules", "rules_digest"]
