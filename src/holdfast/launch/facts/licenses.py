"""Which license a text is, by the phrases that only this one has, and one spelling for the many names of each."""

import re

__all__ = ["license_named", "license_of_text", "spoken_name"]

_TEXTS = (
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("EPL-2.0", ("eclipse public license", "v 2.0")),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software for any purpose",)),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "names of its contributors may not")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("MIT", ("permission is hereby granted, free of charge, to any person obtaining a copy",)),
    ("PSF-2.0", ("python software foundation license",)),
)
_NAMES = (
    (r"agpl", "AGPL-3.0"),
    (r"lgpl.*?2\.1|lesser general public license v2\.1", "LGPL-2.1"),
    (r"lgpl|lesser general public", "LGPL-3.0"),
    (r"gpl.*?(?<!\d)2|general public license.*?v?2", "GPL-2.0"),
    (r"gpl|general public license", "GPL-3.0"),
    (r"apache", "Apache-2.0"),
    (r"mpl|mozilla", "MPL-2.0"),
    (r"bsd[ -]?2|simplified bsd", "BSD-2-Clause"),
    (r"bsd[ -]?3|(?:new|modified|revised) bsd", "BSD-3-Clause"),
    (r"bsd", "BSD"),
    (r"\bisc\b", "ISC"),
    (r"\bmit\b|expat", "MIT"),
    (r"unlicense|public domain", "Unlicense"),
    (r"psf|python software foundation", "PSF-2.0"),
)
_COMPLEX = re.compile(r"\b(?:AND|OR|WITH)\b")


def license_of_text(text: str) -> str:
    """The identifier of the license whose text this is, or nothing."""
    flat = " ".join(text[:60_000].lower().split())
    return next((name for name, phrases in _TEXTS if all(phrase in flat for phrase in phrases)), "")


def license_named(name: str) -> str:
    """The identifier of a license by any of its names: `MIT License`, or a classifier."""
    if _COMPLEX.search(name) or len(name) > 200:  # an expression is its own name
        return " ".join(name.split())[:100] if len(name) <= 100 else ""
    lowered = name.rpartition("::")[2].strip().lower()
    return next((found for pattern, found in _NAMES if re.search(pattern, lowered)), "")


def spoken_name(identifier: str) -> str:
    """How the license is called in a sentence: `the MIT license`."""
    if _COMPLEX.search(identifier):
        return f"the terms of `{identifier}`"
    return f"the {identifier} license" if "licen" not in identifier.lower() else f"the {identifier}"
