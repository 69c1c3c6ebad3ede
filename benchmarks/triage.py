"""Triage at its size: ten thousand findings taken in, taken in again, and a context pack in a large repository.

    python -m benchmarks.triage [--findings 10000] [--packs 20] [--reuse] [--json] [--no-bars]

Half of the findings are of Amazon Inspector, half are alerts of Dependabot, in the shapes that both really have.
The repository of the packs is the tree `django` of the other benchmarks, about 150,000 lines; packs are made in
this process with an index that was just opened, and by the command as a program. The ratio is to the bar, so more
is better. The exit code is 1 when a bar is missed; `--no-bars` only measures.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.search.bars import Bars, percentile, show_bars, verdict
from benchmarks.search.corpora import corpus_folder
from benchmarks.search.fetch import cache_folder, complain
from benchmarks.search.ours import build

INGEST_BAR, PACK_BAR = 20.0, 3.0
NAMES = (
    "sqlparse",
    "asgiref",
    "PyYAML",
    "Pillow",
    "psycopg2-binary",
    "argon2-cffi",
    "bcrypt",
    "redis",
    "Jinja2",
    "tzdata",
)


def finding(number: int) -> dict[str, Any]:
    """One finding of Amazon Inspector."""
    package = NAMES[number % len(NAMES)]
    cve = f"CVE-2024-{number + 1000}"
    return {
        "awsAccountId": "123456789012",
        "description": f"A flaw in {package} lets a request read more than it should. " * 8,
        "findingArn": f"arn:aws:inspector2:eu-west-1:123456789012:finding/{number:032x}",
        "inspectorScore": 7.5,
        "packageVulnerabilityDetails": {
            "cvss": [{"baseScore": 7.5, "scoringVector": "CVSS:3.1/AV:N", "source": "NVD", "version": "3.1"}],
            "referenceUrls": [f"https://advisories.example/{cve}/{part}" for part in range(4)],
            "source": "NVD",
            "vulnerabilityId": cve,
            "vulnerablePackages": [{"name": package, "version": "1.2.3", "packageManager": "PYTHONPKG"}],
        },
        "resources": [
            {"id": f"i-{number % 50:04x}", "type": "AWS_EC2_INSTANCE", "region": "eu-west-1", "tags": {}}
        ],
        "severity": "HIGH",
        "status": "ACTIVE",
        "title": f"{cve} - {package}",
        "type": "PACKAGE_VULNERABILITY",
    }


def alert(number: int) -> dict[str, Any]:
    """One alert of Dependabot."""
    package = {"ecosystem": "pip", "name": NAMES[number % len(NAMES)]}
    return {
        "number": number,
        "state": "open",
        "dependency": {"package": package, "manifest_path": "requirements.txt", "scope": "runtime"},
        "security_advisory": {
            "ghsa_id": f"GHSA-{number:04d}-aaaa-bbbb",
            "cve_id": f"CVE-2023-{number + 1000}",
            "summary": f"Denial of service in {package['name']}",
            "description": "A crafted request takes very long. " * 12,
            "severity": "high",
            "references": [{"url": f"https://advisories.example/{number}"}],
            "cwes": [{"cwe_id": "CWE-400"}],
        },
        "security_vulnerability": {"package": package, "severity": "high", "vulnerable_version_range": "< 2"},
        "html_url": f"https://github.com/octo/shop/security/dependabot/{number}",
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of some work, and what it gave."""
    began = time.perf_counter()
    given = work()
    return time.perf_counter() - began, given


def ingestion(count: int) -> dict[str, float]:
    """Seconds to take in so many findings, and the same findings in another order once more."""
    from holdfast.search.repository import find_repository
    from holdfast.search.triage import ingest

    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "shop"
        root.mkdir()
        listed = [finding(number) for number in range(count // 2)]
        alerts = [alert(number) for number in range(count - count // 2)]
        repository, cache = find_repository(root), Path(scratch) / "cache"

        def take(source: str, name: str) -> dict[str, Any]:
            return ingest(
                repository,
                cache,
                source=source,
                input_path=name,
                meta=None,
                progress=lambda *_: None,
                stop=lambda: False,
            )

        def both() -> tuple[dict[str, Any], dict[str, Any]]:
            (root / "findings.json").write_text(json.dumps({"findings": listed}))
            (root / "alerts.json").write_text(json.dumps(alerts))
            return take("aws_inspector", "findings.json"), take("dependabot", "alerts.json")

        processor = time.process_time()
        first, given = timed(both)
        processor = time.process_time() - processor
        listed.reverse()
        alerts.reverse()
        again, repeated = timed(both)
        written = sum(one["written"] for one in given)
        new = sum(one["written"] for one in repeated)
        records = len(list(cache.rglob("records/*.json")))
    if written != count or records != count:
        raise SystemExit(f"{written} of {count} findings were written, and {records} records are there")
    return {"first": first, "again": again, "new": float(new), "cpu": processor}


def packs(count: int, *, reuse: bool) -> dict[str, Any]:
    """Seconds per context pack: in this process, each with an index that was just opened; and as a program."""
    from holdfast.search.answering import answer
    from holdfast.search.repository import find_repository
    from holdfast.search.served import Served
    from holdfast.search.triage import context_pack, ingest

    cache = cache_folder()
    tree, indexes = corpus_folder("django", cache), cache / "indexes" / "triage"
    repository = find_repository(tree)
    if not reuse:
        complain("indexing django")
        build(tree, indexes)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "findings.json").write_text(json.dumps([finding(number) for number in range(count)]))
        known = ingest(
            repository,
            indexes,
            source="aws_inspector",
            input_path=f"{scratch}/findings.json",
            meta={"exposure.publicEndpoint": "/admin/login"},
            progress=lambda *_: None,
            stop=lambda: False,
        )["recordIds"]

        def one(name: str) -> dict[str, Any]:
            served = Served({}, indexes)
            made = context_pack(
                repository,
                indexes,
                record_id=name,
                out_path=f"{scratch}/{name}.json",
                search=lambda arguments: answer(served, arguments),
                progress=lambda *_: None,
                stop=lambda: False,
            )
            served.release()
            return made

        measured = [timed(lambda name=name: one(name)) for name in known]  # type: ignore[misc]
        words = ["triage", "pack", known[0], "--no-build", f"--repo={tree}", f"--cache-dir={indexes}", "--json"]
        command = [sys.executable, "-m", "holdfast", *words, "-o", f"{scratch}/program.json"]
        program, _ = timed(lambda: subprocess.run(command, check=True, capture_output=True))
    lines = sum(path.read_bytes().count(b"\n") for path in tree.rglob("*.py"))
    return {
        "lines": lines,
        "seconds": [seconds for seconds, _ in measured],
        "hits": sum(made["hits"] for _, made in measured) / len(measured),
        "program": program,
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--findings", type=int, default=10_000)
    parser.add_argument("--packs", type=int, default=20)
    parser.add_argument("--reuse", action="store_true", help="use the index of an earlier run")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true")
    options = parser.parse_args()
    taken = ingestion(options.findings)
    made = packs(options.packs, reuse=options.reuse)
    p50 = percentile(made["seconds"], 0.5)
    figures = {
        "findings": options.findings,
        "ingest s": taken["first"],
        "ingest, ratio to the bar": INGEST_BAR / taken["first"],
        "ingest CPU s": taken["cpu"],
        "ingest again s": taken["again"],
        "written again": taken["new"],
        "lines of the repository": made["lines"],
        "pack p50 s": p50,
        "pack max s": max(made["seconds"]),
        "pack, ratio to the bar": PACK_BAR / max(made["seconds"]),
        "pack as a program s": made["program"],
        "hits per pack": made["hits"],
    }
    if options.json:
        print(json.dumps(figures))
    else:
        for what, figure in figures.items():
            print(f"{what:28} {figure:12.3f}")
    bars: Bars = {
        f"{options.findings:,} findings taken in, seconds": (taken["first"], f"< {INGEST_BAR:g}"),
        "the same again, records written": (taken["new"], "<= 0"),
        "a context pack in 150,000 lines, slowest, seconds": (max(made["seconds"]), f"< {PACK_BAR:g}"),
        "the same as a program, seconds": (made["program"], f"< {PACK_BAR:g}"),
    }
    show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
