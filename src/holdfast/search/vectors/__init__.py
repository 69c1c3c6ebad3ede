"""Vectors: what chunks mean, beside the words that they have; made by `holdfast index embed`, never unasked.

A model turns a text into a vector, and texts that mean the like have vectors that point the same way. Most modules
here need the extra `holdfast[vector]`; those that every search passes (`available`, `place`, `offered`, `fusion`,
`making`) load it only where there is something to use.
"""

import os

__all__: list[str] = []

# On import, onnxruntime 1.31 writes a device id below the home directory and reports to its maker over the
# network, unless this is set; its own `disable_telemetry_events()` comes too late.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
