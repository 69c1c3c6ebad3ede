"""The configuration of a searched repository: what its own files may say, and what they say.

It comes with the project, so it may tune and never harm: no key loads code or chooses where we write.
"""

from holdfast.search.configuration.keys import KEYS, Key
from holdfast.search.configuration.loading import CONFIGURATION_FILES, load_configuration
from holdfast.search.configuration.model import CacheLimits, Indexing, SearchConfiguration
from holdfast.search.configuration.refusals import is_refused

__all__ = [
    "CONFIGURATION_FILES",
    "KEYS",
    "CacheLimits",
    "Indexing",
    "Key",
    "SearchConfiguration",
    "is_refused",
    "load_configuration",
]
