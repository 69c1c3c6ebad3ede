"""Every knob of Holdfast, declared once, and where its value comes from: flag, environment, file, default.

`load_settings` looks at no file; `load_configuration` does, and knows the rules for single tools too. Importing
this package is cheap: the TOML reader is loaded only when there is a file to read.
"""

from holdfast.settings.knobs import (
    FOREIGN_DEFAULTS,
    SETTINGS,
    Setting,
    Settings,
    default_cache_dir,
    default_state_dir,
)
from holdfast.settings.sources import Configuration, load_configuration, load_settings
from holdfast.settings.tools import ToolRule

__all__ = [
    "FOREIGN_DEFAULTS",
    "SETTINGS",
    "Configuration",
    "Setting",
    "Settings",
    "ToolRule",
    "default_cache_dir",
    "default_state_dir",
    "load_configuration",
    "load_settings",
]
