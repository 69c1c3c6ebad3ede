"""What scanners write, in the shapes that they really have, and the tools called as a test wants them."""

import json
from pathlib import Path
from typing import Any

from holdfast.search.repository import Repository, find_repository
from holdfast.search.triage import decide, ingest

__all__ = ["ALERT", "FINDING", "Desk", "no_progress"]

ALERT: dict[str, Any] = {
    "number": 12,
    "state": "open",
    "dependency": {
        "package": {"ecosystem": "pip", "name": "PyYAML"},
        "manifest_path": "api/requirements.txt",
        "scope": "runtime",
        "version_requirement": "= 5.3",
    },
    "security_advisory": {
        "ghsa_id": "GHSA-8q59-q68h-6hv4",
        "cve_id": "CVE-2020-14343",
        "summary": "Improper Input Validation in PyYAML",
        "description": "A vulnerability was discovered.\n\n# Details\n<script>alert(1)</script>",
        "severity": "critical",
        "identifiers": [{"type": "GHSA", "value": "GHSA-8q59-q68h-6hv4"}],
        "references": [{"url": "https://nvd.nist.gov/vuln/detail/CVE-2020-14343"}],
        "cvss": {"vector_string": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "score": 9.8},
        "cvss_severities": {
            "cvss_v3": {"vector_string": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "score": 9.8},
            "cvss_v4": {"vector_string": None, "score": 0.0},
        },
        "cwes": [{"cwe_id": "CWE-20", "name": "Improper Input Validation"}],
    },
    "security_vulnerability": {
        "package": {"ecosystem": "pip", "name": "PyYAML"},
        "severity": "critical",
        "vulnerable_version_range": "< 5.4",
        "first_patched_version": {"identifier": "5.4"},
    },
    "url": "https://api.github.com/repos/octo/shop/dependabot/alerts/12",
    "html_url": "https://github.com/octo/shop/security/dependabot/12",
}

FINDING: dict[str, Any] = {
    "awsAccountId": "123456789012",
    "description": "A flaw in openssl.",
    "findingArn": "arn:aws:inspector2:eu-west-1:123456789012:finding/0123456789abcdef0123456789abcdef",
    "fixAvailable": "YES",
    "inspectorScore": 7.5,
    "inspectorScoreDetails": {"adjustedCvss": {"score": 7.1, "scoringVector": "CVSS:3.1/AV:L", "version": "3.1"}},
    "packageVulnerabilityDetails": {
        "cvss": [
            {"baseScore": 5.0, "scoringVector": "AV:N/AC:L/Au:N/C:N/I:N/A:P", "source": "NVD", "version": "2.0"},
            {"baseScore": 6.5, "scoringVector": "CVSS:3.1/AV:N/V", "source": "REDHAT", "version": "3.1"},
            {"baseScore": 7.5, "scoringVector": "CVSS:3.1/AV:N/N", "source": "NVD", "version": "3.1"},
        ],
        "referenceUrls": ["https://www.openssl.org/news/secadv/20220315.txt"],
        "source": "NVD",
        "sourceUrl": "https://nvd.nist.gov/vuln/detail/CVE-2022-0778",
        "vulnerabilityId": "CVE-2022-0778",
        "vulnerablePackages": [
            {
                "name": "openssl",
                "version": "1.0.2k",
                "release": "16.amzn2",
                "epoch": 1,
                "packageManager": "OS",
                "fixedInVersion": "1:1.0.2k-24.amzn2",
            },
            {
                "name": "openssl-libs",
                "version": "1.0.2k",
                "packageManager": "OS",
                "fixedInVersion": "NotAvailable",
            },
        ],
    },
    "resources": [
        {
            "id": "i-0abc",
            "type": "AWS_EC2_INSTANCE",
            "region": "eu-west-1",
            "tags": {"Name": "shop-1", "empty": ""},
            "details": {"awsEc2Instance": {"platform": "AMAZON_LINUX_2"}},
        }
    ],
    "severity": "HIGH",
    "status": "ACTIVE",
    "title": "CVE-2022-0778 - openssl, openssl-libs",
    "type": "PACKAGE_VULNERABILITY",
}


def no_progress(_stage: str, _done: int, _total: int | None, _detail: str) -> None:
    """Nobody looks."""


class Desk:
    """One repository with a cache, and the tools with the arguments that a test does not care about."""

    def __init__(self, place: Path, name: str = "shop") -> None:
        (place / name).mkdir(exist_ok=True)
        self.repository: Repository = find_repository(place / name)
        self.cache = place / "cache"

    def write(self, value: Any, name: str = "input.json") -> str:
        """Put an input into the repository: text and bytes as they are, anything else as JSON."""
        path = self.repository.root / name
        data = value.encode() if isinstance(value, str) else value
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return name

    def ingest(self, value: Any, source: str = "generic", **arguments: Any) -> dict[str, Any]:
        """Ingest a value, or with `input_path` a file."""
        given = {"meta": None, "progress": no_progress, "stop": lambda: False, **arguments}
        if "input_path" not in given:
            given["input_path"] = self.write(value)
        return ingest(self.repository, self.cache, source=source, **given)

    def record(self, value: Any, source: str = "generic", **arguments: Any) -> dict[str, Any]:
        """The record that is made of one finding."""
        answer = self.ingest(value, source, **arguments)
        return dict(json.loads(Path(answer["records"][0]["jsonPath"]).read_bytes()))

    def decide(self, finding: str, **arguments: Any) -> dict[str, Any]:
        """Decide something about a finding."""
        nothing = dict.fromkeys(("justification", "reviewer", "expires", "meta"))
        given: dict[str, Any] = {"status": "accept", **nothing, "codes": [], "evidence": [], **arguments}
        return decide(self.repository, self.cache, finding=finding, **given)
