"""What no claim may contain, by rule: remains of markup, pointers to elsewhere, talk among contributors, promises.

Patterns are looked for in a sentence whose code has been taken out. Each has a name, which is the reason.
"""

import re

from holdfast.launch.facts.roles import LOST, REFERENCE

__all__ = ["DANGLING", "ENTRY", "LEANING_PHRASES", "POINTING", "PRONOUN", "REFUSED"]


def _any(*phrases: str) -> re.Pattern[str]:
    """Any of these phrases as whole words."""
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


REFUSED = (
    ("lost_words", re.compile(f"[{LOST}{REFERENCE}\ufffd\u0000-\u001f]")),
    (
        "residue",
        re.compile(
            r"<[a-zA-Z/!][^>]*>|\{[%{\w]|\|\s|::|\]\(|\[\[|\*\*|__|`|~~|\\\w|&\w+;|^[>#|]|\.\.\s|\]\[|"
            r":\w+:$|--\s?$|\[\w*\]\s*$"
        ),
    ),
    ("address", re.compile(r"https?://|www\.|(?<!\S)\S[^\s@]*+@\S+\.\w|\bmailto:", re.IGNORECASE)),
    ("ellipsis", re.compile(r"^\s*(?:\.\.\.|…)|(?:\.\.\.|…)\s*$")),
    ("shell", re.compile(r"^\s*(?:\$|%|>>>|>|C:\\)\s")),
    (
        "pointer",
        _any(
            "below", "above", "see also", "(?:as )?follow(?:s|ing)", "previous(?:ly)?", "next section", "earlier",
            "aforementioned", "(?:this|these|those)",
            "(?:the|our|an?|last|first|second|next) (?:\\w+ )?(?:example|snippet|"
            "section|tutorial|chapter|question|answer)s?", "latter", "former", "in our case",
            "for (?:more|further|full|additional) (?:\\w+ )?(?:information|details|examples|options|info)",
            "more details",
            "read on", "click here", "see the", "see code", "refer to", "check out", "have a look",
            "take a look", "on the (?:left|right)",
            "shown here", "mentioned", "described (?:here|in)", "documented (?:here|in)", "you can see",
            "you have seen",
            "so far", "you wrote", "we saw", "as seen", "discussed", "explained", "be sure to",
            "make sure to read", "up to you",
            "in a moment", "later on", "at the (?:top|bottom|end) of", "listed here", "from here",
            "to read more", "learn more",
            "more about", "more on", "keep in mind", "in question", "such an?", "the same is true", "likewise",
            "the above",
            "respectively", "steps? \\d+", "said \\w+s", "the docs", "api docs", "if that", "when that",
            "because of that", "than that", "that way", "do that", "later means", "looks? like", "written so",
            "example output", "instead of that", "the second",
        ),
    ),
    (
        "speaker",
        re.compile(r"\b(?:I|I'm|I've|I'd|me|my|[Ww]e(?:['’](?:re|ve|ll|d))?|[Oo]urs?|us|[Ll]et['’]s)\b(?![./-])"),
    ),
    (
        "contributor_talk",
        _any(
            "donat\\w*", "sponsor\\w*", "patreon", "open collective", "tidelift", "contribut\\w*",
            "pull requests?", "bug reports?",
            "issue tracker", "mailing list", "discord", "gitter", "slack channel", "chat room", "stack overflow",
            "star(?:s|red)? (?:us|the)", "code of conduct", "maintainers?", "copyright", "all rights reserved",
            "thank(?:s| you)",
            "credits?", "badges?", "coverage report", "pre-commit",
            "github (?:issues?|discussions?|actions?|repository)", "welcome", "hiring",
            "for enterprise", "vulnerabilit(?:y|ies) (?:to|via)", "changelog", "release notes",
            "table of contents", "generated with",
            "todo", "fixme", "xxx", "feel free", "happy to", "cookiecutter", "tox", "nox", "the repository",
            "editable mode", "git clone",
            "fork", "hall of fame", "open an issue", "file an issue", "readthedocs", "read the docs",
        ),
    ),
    (
        "future",
        _any(
            "coming soon", "planned", "roadmap", "not yet", "in the future", "future (?:version|release)s?",
            "will be (?:added|removed|dropped)",
            "work in progress", "upcoming", "eventually", "someday", "until now", "at the moment",
        ),
    ),
    (
        "chatter",
        re.compile(
            r"\b(?:oh|wow|yay|hooray|awesome|cool|hey|hello|hi|lol|btw|imo|imho|of course|obviously|"
            r"unfortunately|sadly|hopefully|"
            r"honestly|basically|actually|stuff|guys|folks|pretty|nasty|weird|hopefully|kind of|sort of|"
            r"magic(?:al)?ly)\b|!|\bto be honest\b",
            re.IGNORECASE,
        ),
    ),
    ("quotation", re.compile(r"^[“\"][^”\"]*[.!?…][”\"]")),
    ("reference", re.compile(r"\[\d+\]|\[\w+\]$|#\d{1,6}\b|\(\d{1,2}\)$|\b(?:PR|GH|issue)[ -]?#?\d+")),
    (
        "filler",
        re.compile(
            r"^(?:Sometimes|Often|Occasionally|Maybe|Perhaps|In (?:some|many|most|certain|"
            r"such) (?:situation|case|environment)s?|You (?:may|might|will|probably|should)"
            r"(?: (?:also|already))? (?:want|wish|have|need|find|notice|wonder|think|ask|know|be)|"
            r"For (?:this|that|most|now)|May|Can|Will|Should|Must|Is|Are|"
            r"Has|Have|Does|Do|Be|Being|Been|Was|Were|Would|Could|Might|Also|Not|Yes|No|Where|Whatever|How|"
            r"What|Why|Notably|One might|Just (?:an?|the|some)|"
            r"If (?:true|false|so|too))\b|^(?:Note|Warning|Tip|Example|Hint|"
            r"Important|NB|Default):"
        ),
    ),
)  # fmt: skip

POINTING = frozenset(
    [
        "see",
        "look",
        "check",
        "refer",
        "read",
        "visit",
        "please",
        "try",
        "consult",
        "click",
        "imagine",
        "suppose",
        "say",
        "consider",
        "recall",
        "remember",
        "notice",
        "find",
        "assuming",
        "assume",
        "ok",
        "okay",
        "well",
        "now",
        "today",
        "currently",
        "recently",
        "once",
        "given",
    ]
)

DANGLING = re.compile(
    r"\b(?:such as|and|or|the|a|an|like|e\.g\.|i\.e\.|including|for example)\s*\.$", re.IGNORECASE
)

ENTRY = re.compile(r"`[^`]*`(?:\s*(?::|--?|–|—)\s| to \w)|[\w.]+\s+[–—]\s")
"""`name`: what it is. In its list it is good; alone nobody knows what it is a name of."""

PRONOUN = re.compile(
    r"(?:(?:It|They|Its|Their|This|These|That|Both)\b(?!(?: is|'s|’s) (?:(?:also|often|even|not|then) )?"
    r"(?:possible|important|recommended|necessary|useful|common|safe|best|easy)\b)|"
    r"(?:[\w,']+ ){1,3}(?:it|they|them|its|their)\b)"
)

LEANING_PHRASES = re.compile(
    r"(?:for (?:example|instance)|in (?:addition|other words|contrast|fact|particular|general|short|"
    r"summary|both cases|case)|"
    r"on the (?:other|one) hand|as (?:an? |the name|you|we|well|such|before|mentioned|expected|usual|"
    r"opposed|long)|at (?:this|that) point|"
    r"after (?:that|this|which)|if (?:so|not)\b|even (?:so|then)|of these|one of|one (?:such|more|way|"
    r"common|thing|option)|"
    r"the (?:first|second|third|last|other|others|same|result|resulting|rest|output|only|reason|difference|"
    r"remaining|idea|"
    r"point|problem|downside|advantage|main difference|easiest|answer|new|old|latter|former)\b|in any case|"
    r"in the simplest|on top of|the (?:main|chosen|most|simplest|best|better|more|highlight|goal|focus|"
    r"helper|trick|benefit|default is|middle|left|right|table) |each of|all (?:of )?(?:this|that|these|"
    r"those|other)|"
    r"by (?:doing|contrast)|in (?:this|that|these|such|which) |with (?:this|that|these)\b|to do (?:this|"
    r"that|so)|to (?:this|that) end|"
    r"not only|no longer|some of|most of|more(?:over| on)|like (?:this|that)|note how|until then|under the hood|"
    r"(?:older|newer|other|additional|further|more|many|several|few|most|some|certain) (?!than)|regardless|"
    r"depending on|internally)",
    re.IGNORECASE,
)
