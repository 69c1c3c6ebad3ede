"""The answer to a search, as types.

Dictionaries, not models: what a request did not ask for is absent from its answer rather than null, and an answer
that is a dictionary already is checked on its way out without being built a second time.
"""

from typing import Annotated, NotRequired

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

__all__ = ["Hit", "SearchAnswer"]

Warned = TypedDict(
    "Warned",
    {
        "code": Annotated[str, Field(description="A word that a program can rely on, such as stale.")],
        "message": Annotated[str, Field(description="The same for people.")],
    },
)

SnippetLine = TypedDict(
    "SnippetLine",
    {
        "line": Annotated[int, Field(description="Its number, from 1.")],
        "text": Annotated[str, Field(description="The line, without its end.")],
        "highlights": Annotated[
            list[list[int]], Field(description="Start and end of what matched, in characters from 0.")
        ],
    },
)

Snippet = TypedDict(
    "Snippet",
    {
        "startLine": Annotated[int, Field(description="The number of the first line.")],
        "lines": Annotated[list[SnippetLine], Field(description="The lines that match best.")],
        "truncated": Annotated[bool, Field(description="Whether lines of the chunk were left out.")],
    },
)

Around = TypedDict(
    "Around",
    {
        "before": Annotated[list[str], Field(description="Lines before the chunk.")],
        "after": Annotated[list[str], Field(description="Lines after it.")],
    },
)

Symbol = TypedDict(
    "Symbol",
    {
        "relation": Annotated[str, Field(description="What was asked for: definition, references, callers.")],
        "name": Annotated[str, Field(description="The name, as it stands there or as an import resolves it.")],
        "resolved": Annotated[bool, Field(description="Whether the code says that this symbol is meant.")],
        "by": Annotated[str, Field(description="How: import, file, package; name is a guess.")],
    },
)

Remark = TypedDict(
    "Remark",
    {
        "tool": Annotated[str, Field(description="The linter.")],
        "line": Annotated[int, Field(description="Where, from 1.")],
        "column": Annotated[int, Field(description="Where in the line, from 1.")],
        "rule": Annotated[str, Field(description="The rule of the linter.")],
        "severity": Annotated[str, Field(description="error, warning or info.")],
        "message": Annotated[str, Field(description="What it says.")],
    },
)

RiskPlace = TypedDict(
    "RiskPlace",
    {
        "name": Annotated[str, Field(description="The name of the rule.")],
        "line": Annotated[int, Field(description="Where, from 1.")],
        "category": NotRequired[Annotated[str, Field(description="Of a sink: such as sql-injection.")]],
        "severity": NotRequired[Annotated[str, Field(description="Of a sink: low, medium, high, critical.")]],
    },
)

RiskStep = TypedDict(
    "RiskStep",
    {
        "file": Annotated[str, Field(description="Path from the root of the repository.")],
        "line": Annotated[int, Field(description="Where, from 1.")],
        "text": Annotated[str, Field(description="The line.")],
    },
)

RiskFlow = TypedDict(
    "RiskFlow",
    {
        "source": Annotated[str, Field(description="The rule of the untrusted input.")],
        "sink": Annotated[str, Field(description="The rule of the dangerous call.")],
        "category": Annotated[str, Field(description="Of the sink.")],
        "severity": Annotated[str, Field(description="Of the sink: low, medium, high, critical.")],
        "scope": Annotated[str, Field(description="local, or cross-function: through one call.")],
        "confidence": Annotated[str, Field(description="high, medium; low: a callee is a guess by its name.")],
        "path": Annotated[list[RiskStep], Field(description="The lines from the source to the sink.")],
    },
)

Risk = TypedDict(
    "Risk",
    {
        "severity": Annotated[str | None, Field(description="The worst of its sinks and flows.")],
        "sources": Annotated[list[RiskPlace], Field(description="Untrusted input that it reads.")],
        "sinks": Annotated[list[RiskPlace], Field(description="Dangerous calls that it makes.")],
        "flows": Annotated[list[RiskFlow], Field(description="Paths of data from one to the other.")],
    },
)

Hit = TypedDict(
    "Hit",
    {
        "repo": NotRequired[Annotated[str, Field(description="Its repository, where several were searched.")]],
        "id": Annotated[str, Field(description="Stays the same while the chunk stays where it is.")],
        "file": Annotated[str, Field(description="Path from the root of the repository.")],
        "start": Annotated[int, Field(description="Where the chunk begins, in bytes of its decoded text.")],
        "end": Annotated[int, Field(description="Where it ends.")],
        "startLine": Annotated[int, Field(description="Its first line, from 1.")],
        "endLine": Annotated[int, Field(description="Its last line.")],
        "ext": Annotated[str, Field(description="The extension of the file, with its dot.")],
        "kind": Annotated[str, Field(description="Such as function, class, section, comment, record.")],
        "name": Annotated[str, Field(description="The qualified name of what is defined, if it has one.")],
        "headline": Annotated[str, Field(description="One line that says what it is.")],
        "score": Annotated[float, Field(description="The higher, the better; comparable within one answer.")],
        "scoreType": Annotated[str, Field(description="How the score was made.")],
        "sparseScore": Annotated[float | None, Field(description="The part of words in the score.")],
        "sparseType": Annotated[str | None, Field(description="How that part was made.")],
        "annScore": Annotated[float | None, Field(description="The part of vectors; null without them.")],
        "annSource": Annotated[str | None, Field(description="Where the vectors come from.")],
        "annType": Annotated[str | None, Field(description="How they were compared.")],
        "language": Annotated[str, Field(description="Its language; of embedded code, its own.")],
        "location": NotRequired[
            Annotated[dict[str, JsonValue], Field(description="Of a document: its page, or the headings above.")]
        ],
        "why": Annotated[list[str], Field(description="Why it was found.")],
        "snippet": Annotated[Snippet, Field(description="The lines that match best.")],
        "context": NotRequired[Annotated[Around, Field(description="Lines around it; with `context` only.")]],
        "scoreBreakdown": NotRequired[
            Annotated[dict[str, float], Field(description="The parts of the score; with `explain` only.")]
        ],
        "risk": NotRequired[
            Annotated[
                Risk,
                Field(description="What the risk rules found; in full answers, and with a filter on risk."),
            ]
        ],
        "symbol": NotRequired[
            Annotated[list[Symbol], Field(description="How it is tied to the names that were asked for.")]
        ],
        "lint": NotRequired[
            Annotated[list[Remark], Field(description="What linters say of it; in full answers, and with `lint`.")]
        ],
        "signature": NotRequired[Annotated[str, Field(description="As it is written; in full answers only.")]],
        "doc": NotRequired[Annotated[str, Field(description="Its documentation; in full answers only.")]],
        "visibility": NotRequired[Annotated[str | None, Field(description="Such as public; in full answers.")]],
        "async": NotRequired[Annotated[bool, Field(description="Whether it is async; in full answers only.")]],
        "generator": NotRequired[Annotated[bool, Field(description="Whether it yields; in full answers only.")]],
        "returns": NotRequired[
            Annotated[bool, Field(description="Whether it returns a value; in full answers only.")]
        ],
        "facts": NotRequired[
            Annotated[
                dict[str, JsonValue],
                Field(description="What it calls, raises, reads and so on; in full answers only."),
            ]
        ],
        "counts": NotRequired[
            Annotated[dict[str, int], Field(description="Branches, loops and the like; in full answers only.")]
        ],
        "lastModified": NotRequired[
            Annotated[str | None, Field(description="The last commit of the file; in full answers only.")]
        ],
        "lastAuthor": NotRequired[Annotated[str | None, Field(description="Its author; in full answers only.")]],
        "churn": NotRequired[
            Annotated[int | None, Field(description="Lines changed in the file; in full answers only.")]
        ],
        "churnCommits": NotRequired[
            Annotated[int | None, Field(description="Commits that changed it; in full answers only.")]
        ],
        "encoding": NotRequired[Annotated[str, Field(description="Of the file; in full answers only.")]],
        "record": NotRequired[
            Annotated[JsonValue, Field(description="The fields of a record; in full answers only.")]
        ],
    },
)

BundleHit = TypedDict(
    "BundleHit",
    {
        "mode": Annotated[str, Field(description="The list that the hit is in.")],
        "index": Annotated[int, Field(description="Its place there, from 0.")],
        "score": Annotated[float, Field(description="Its score.")],
        "scoreType": Annotated[str, Field(description="How the score was made.")],
        "id": Annotated[str, Field(description="The hit.")],
        "file": Annotated[str, Field(description="Its file.")],
        "start": Annotated[int, Field(description="Where it begins.")],
        "end": Annotated[int, Field(description="Where it ends.")],
    },
)

Bundle = TypedDict(
    "Bundle",
    {
        "repo": NotRequired[Annotated[str, Field(description="Its repository, where several were searched.")]],
        "bundleId": Annotated[str, Field(description="The same for the same file.")],
        "file": Annotated[str, Field(description="The file.")],
        "hitCount": Annotated[int, Field(description="How many hits are in it.")],
        "totalScore": Annotated[float, Field(description="Their scores together.")],
        "topScore": Annotated[float, Field(description="The best of them.")],
        "modeCount": Annotated[int, Field(description="In how many lists they are.")],
        "modes": Annotated[list[str], Field(description="These lists.")],
        "hits": Annotated[list[BundleHit], Field(description="The hits, the best first.")],
    },
)

Bundles = TypedDict(
    "Bundles",
    {
        "schemaVersion": Annotated[int, Field(description="The version of this part.")],
        "groups": Annotated[list[Bundle], Field(description="The hits by file, the weightiest file first.")],
    },
)

Totals = TypedDict(
    "Totals",
    {
        "code": Annotated[int, Field(description="Matches in code.")],
        "prose": Annotated[int, Field(description="Matches in prose.")],
        "extractedProse": Annotated[int, Field(description="Matches in comments and docstrings.")],
        "records": Annotated[int, Field(description="Matches in records.")],
    },
)

AboutIndex = TypedDict(
    "AboutIndex",
    {
        "build": Annotated[str, Field(description="The full build that was searched.")],
        "generation": Annotated[int, Field(description="Rises with every update of that build.")],
        "commit": Annotated[str | None, Field(description="The commit that was indexed.")],
        "branch": Annotated[str | None, Field(description="The branch that was indexed.")],
        "builtAt": Annotated[str, Field(description="When it was brought up to date.")],
        "changedFiles": Annotated[
            int | None, Field(description="Files and directories changed since; null: it was left half written.")
        ],
        "headMoved": Annotated[bool, Field(description="Whether another commit is checked out now.")],
    },
)

Resolved = TypedDict(
    "Resolved",
    {
        "type": Annotated[str, Field(description="Always latest.")],
        "commit": Annotated[str | None, Field(description="The commit that was indexed.")],
        "buildIdByMode": Annotated[dict[str, str], Field(description="The build that each mode was found in.")],
    },
)

AsOf = TypedDict(
    "AsOf",
    {
        "ref": Annotated[str, Field(description="Which state was asked for: the latest.")],
        "identityHash": Annotated[str, Field(description="Names that state.")],
        "resolved": Annotated[Resolved, Field(description="What it was found to be.")],
    },
)

OneOfSeveral = TypedDict(
    "OneOfSeveral",
    {
        "repo": Annotated[str, Field(description="Its name: hits of it say it too.")],
        "root": Annotated[str, Field(description="Its directory.")],
        "index": Annotated[AboutIndex | None, Field(description="Its index; null where it was not searched.")],
        "total": Annotated[Totals, Field(description="How many matches it has in each mode.")],
        "problem": Annotated[
            Warned | None, Field(description="Why it was not searched: an error code, and a message.")
        ],
        "elapsedMs": Annotated[float, Field(description="How long it took, in milliseconds.")],
    },
)

SearchedWorkspace = TypedDict(
    "SearchedWorkspace",
    {
        "path": Annotated[str, Field(description="The file.")],
        "name": Annotated[str | None, Field(description="What it calls itself.")],
        "repoSetId": Annotated[str, Field(description="The same for the same repositories.")],
    },
)

SearchAnswer = TypedDict(
    "SearchAnswer",
    {
        "backend": Annotated[str, Field(description="What the candidates came from.")],
        "query": Annotated[str, Field(description="The query, as it was asked.")],
        "code": Annotated[list[Hit], Field(description="Definitions, the best first.")],
        "prose": Annotated[list[Hit], Field(description="Sections of documents.")],
        "extractedProse": Annotated[list[Hit], Field(description="Comments and docstrings.")],
        "records": Annotated[list[Hit], Field(description="Records.")],
        "bundles": Annotated[Bundles, Field(description="The same hits by file.")],
        "total": Annotated[Totals, Field(description="How many matches there are in each mode.")],
        "truncated": Annotated[bool, Field(description="Whether there are more matches than are shown.")],
        "warnings": Annotated[list[Warned], Field(description="What to know about this answer.")],
        "index": Annotated[
            AboutIndex, Field(description="The index that was searched; several as one, as old as the oldest.")
        ],
        "asOf": Annotated[AsOf, Field(description="The state of the repository that was searched.")],
        "elapsedMs": Annotated[float, Field(description="How long the search took, in milliseconds.")],
        "repos": NotRequired[
            Annotated[
                list[OneOfSeveral],
                Field(description="The repositories, where several were searched, the most important first."),
            ]
        ],
        "workspace": NotRequired[
            Annotated[SearchedWorkspace, Field(description="The workspace file that was named.")]
        ],
        "stats": NotRequired[
            Annotated[
                dict[str, JsonValue], Field(description="Figures, with `explain`; or that the branch is another.")
            ]
        ],
    },
)
