"""Configurations that are derived from two repositories: they fit, they are explained, and trouble is told."""

import os
import shlex
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.launch.language_products import product_files
from tests.launch.products import commit_all, git, make_product, make_repository, make_site

from holdfast.errors import UsageError
from holdfast.launch.deriving import derive, render_yaml
from holdfast.launch.run_config import checked, load_file
from holdfast.launch.states import SECTIONS
from holdfast.launch.token_grants import TokenGrants


@pytest.fixture
def repositories(tmp_path: Path) -> tuple[Path, Path]:
    make_product(tmp_path / "product")
    make_site(tmp_path / "site")
    return tmp_path / "product", tmp_path / "site"


def derived(product: Path | str, site: Path | str, **overrides: Any) -> tuple[dict[str, Any], list[str]]:
    told: list[str] = []
    config = derive(str(product), str(site), overrides=overrides, tell=told.append)
    return config, told


def test_both_are_pinned_and_only_folders_of_the_product_are_written(repositories: tuple[Path, Path]) -> None:
    product, site = repositories
    config, told = derived(product, site)

    assert (config["product_name"], config["product_slug"], config["target_platform"]) == (
        "tablekit", "tablekit", "python",
    )  # fmt: skip
    assert config["github_ref"] == git(product, "rev-parse", "HEAD")
    assert config["site_ref"] == git(site, "rev-parse", "HEAD")
    assert config["allowed_paths"][:2] == ["content/products/tablekit/", "content/docs/tablekit/"]
    assert config["llm"]["api_base_url"] == "none:"
    assert told == []
    assert checked(config)


def test_what_is_written_is_read_back(repositories: tuple[Path, Path], tmp_path: Path) -> None:
    config, _ = derived(*repositories, validation_profile="ci")
    text = render_yaml(config)
    (tmp_path / "run.yaml").write_text(text)

    assert load_file(tmp_path / "run.yaml") == config
    assert "max_runtime_s: each piece of work, not the run." in " ".join(text.replace("#", "").split())
    assert text.count("\n# ") >= 12
    assert max(map(len, text.splitlines())) <= 200


def test_relative_paths_become_absolute(repositories: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    product, site = repositories
    monkeypatch.chdir(product)
    config, _ = derived(".", "../site")

    assert config["github_repo_url"] == str(product)
    assert config["site_repo_url"] == str(site)


def test_a_remote_one_is_looked_at_and_nothing_is_left(
    repositories: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    product, site = repositories
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    config, _ = derived(f"file://{product}", f"file://{site}")

    assert config["github_repo_url"] == f"file://{product}"
    assert config["github_ref"] == git(product, "rev-parse", "HEAD")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_bare_repository_will_do(repositories: tuple[Path, Path], tmp_path: Path) -> None:
    product, site = repositories
    git(tmp_path, "clone", "--quiet", "--bare", str(product), "kit.git")
    config, told = derived(tmp_path / "kit.git", site)

    assert config["github_repo_url"] == str(tmp_path / "kit.git")
    assert told == []


def test_changes_that_are_not_committed_are_told(repositories: tuple[Path, Path]) -> None:
    product, site = repositories
    (product / "new.py").write_text("x = 1\n")
    _, told = derived(product / "src", site)

    assert len(told) == 2
    assert "taken as a whole" in told[0]
    assert "not committed" in told[1]


def test_notes_go_to_stderr_by_default(
    repositories: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    product, site = repositories
    (product / "new.py").write_text("x = 1\n")
    derive(str(product), str(site))

    assert capsys.readouterr().err.startswith("holdfast: note: ")


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ("missing", "is no directory"), ("no repository", "is no git repository"), ("unborn", "has no commit yet"),
        ("empty", "is empty"), ("nul", "is no directory"), ("ext::sh -c id", "is no directory"),
        ("https://me:s3cret@127.0.0.1:1/x", "cannot be fetched"), ("ext://x", "cannot be fetched"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("side", ["product", "site"])
def test_trouble_is_told_on_one_line(
    repositories: tuple[Path, Path], tmp_path: Path, trouble: str, told: str, side: str
) -> None:
    given = tmp_path / "given"
    if trouble == "no repository":
        given.mkdir()
    elif trouble == "unborn":
        given.mkdir()
        git(given, "init", "--quiet")
    elif trouble == "empty":
        make_repository(given, {})
    address = trouble if ":" in trouble else f"{given}\0" if trouble == "nul" else str(given)
    product, site = (address, str(repositories[1])) if side == "product" else (str(repositories[0]), address)

    with pytest.raises(UsageError, match=told) as caught:
        derive(product, site)

    assert "\n" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("files", "name", "slug", "platform"),
    [
        ({"setup.py": "from setuptools import setup\nsetup(name='My.Kit')\n"}, "My.Kit", "my-kit", "python"),
        ({"setup.cfg": "[metadata]\nname = kit_two\n"}, "kit_two", "kit-two", "python"),
        ({"package.json": '{"name": "@a/three"}'}, "three", "three", "javascript"),
        ({"Cargo.toml": '[package]\nname = "four"\n'}, "four", "four", "rust"),
        ({"go.mod": "module x.example/five\n"}, "five", "five", "go"),
        ({"a.rb": "puts 1\n"}, "product", "product", "ruby"),
        ({"pyproject.toml": '[project]\nname = "日本"\n'}, "product", "product", "python"),
        ({"pyproject.toml": f'[project]\nname = "{"a" * 80}"\n'}, "a" * 80, "a" * 48, "python"),
    ],
    ids=range(8),
)
def test_the_name_and_platform_come_from_the_manifest_or_the_folder(
    tmp_path: Path, files: dict[str, str], name: str, slug: str, platform: str
) -> None:
    make_repository(tmp_path / "product", {path: text.encode() for path, text in files.items()})
    make_site(tmp_path / "site", 0)
    config, _ = derived(tmp_path / "product", tmp_path / "site")

    assert (config["product_name"], config["product_slug"], config["target_platform"]) == (name, slug, platform)


def test_a_product_without_code_is_told(tmp_path: Path) -> None:
    make_repository(tmp_path / "product", {"README": b"x"})
    make_site(tmp_path / "site", 0)
    config, told = derived(tmp_path / "product", tmp_path / "site")

    assert config["target_platform"] == "python"
    assert "which platform" in told[0]


@pytest.mark.parametrize(
    ("files", "content", "sections", "docs"),
    [
        (["content/docs/a.md", "content/posts/b.md"], "content", ["docs", "blog"], "content/docs"),
        (["content/Documentation/a.md"], "content", ["docs"], "content/Documentation"),
        (["content/about.md"], "content", ["products", "docs", "reference", "kb", "blog"], "content/docs"),
        (["pages/guide/a.md"], "pages", ["docs"], "pages/guide"),
    ],
    ids=["some", "other names", "none", "other root"],
)
def test_sections_are_those_that_the_site_has(
    tmp_path: Path, files: list[str], content: str, sections: list[str], docs: str
) -> None:
    make_product(tmp_path / "product")
    hugo = f'contentDir = "{content}"\n'.encode()
    make_repository(tmp_path / "site", {"hugo.toml": hugo, **dict.fromkeys(files, b"---\ntitle: a\n---\n")})
    config, told = derived(tmp_path / "product", tmp_path / "site")

    assert config["site_layout"]["content_root"] == content
    assert config["required_sections"] == sections
    missing = [name for name in SECTIONS if name not in sections]
    notes = [note for note in told if "has no section for" in note]
    assert len(notes) == bool(missing)
    assert all(f"no section for {', '.join(missing)}: " in note for note in notes)
    assert config["site_layout"]["subdomain_roots"]["docs"] == docs


def test_the_language_of_the_site_is_kept_with_its_folder(tmp_path: Path) -> None:
    make_product(tmp_path / "product")
    hugo = b'defaultContentLanguage = "de"\n[languages.de]\ncontentDir = "content/de"\n[languages.en]\n'
    make_repository(tmp_path / "site", {"hugo.toml": hugo, "content/de/docs/a.md": b"x"})
    config, _ = derived(tmp_path / "product", tmp_path / "site")

    assert (config["locale"], config["site_layout"]["content_root"]) == ("de", "content/de")
    assert config["allowed_paths"] == ["content/de/docs/tablekit/"]


def test_a_site_without_hugo_is_told_and_a_broken_one_refused(tmp_path: Path) -> None:
    make_product(tmp_path / "product")
    make_repository(tmp_path / "site", {"index.html": b"x"})
    _, told = derived(tmp_path / "product", tmp_path / "site")
    (tmp_path / "site" / "hugo.toml").write_text("a = \n")
    commit_all(tmp_path / "site")

    assert "no configuration of Hugo" in told[0]
    with pytest.raises(UsageError, match=r"hugo\.toml, line 1"):
        derived(tmp_path / "product", tmp_path / "site")


def test_an_override_that_does_not_fit_is_refused(repositories: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="no configuration can be derived"):
        derived(*repositories, locale="EN")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_a_repository_of_another_user_is_told_with_what_lets_git_read_it(
    repositories: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    product, site = repositories
    os.chown(product, 12345, 12345)
    os.chown(product / ".git", 12345, 12345)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="belongs to another user") as refused:
        derived(product, site)
    for command in refused.value.remedy.split(" && "):
        subprocess.run(shlex.split(command), check=True)

    assert derived(product, site)[0]["product_name"] == "tablekit"


def test_a_site_that_can_show_nothing_is_told(repositories: tuple[Path, Path], tmp_path: Path) -> None:
    make_repository(tmp_path / "bare", {"hugo.toml": b'title = "New"\n', "content/docs/_index.md": b"# Docs\n"})
    make_repository(tmp_path / "themed", {"hugo.toml": b'theme = "some"\n', "content/docs/_index.md": b"# Docs\n"})

    (sections,) = derived(repositories[0], tmp_path / "themed")[1]
    told, also = derived(repositories[0], tmp_path / "bare")[1]
    assert "neither layouts nor a theme" in told
    assert "has no section for" in sections
    assert "has no section for" in also


@pytest.mark.parametrize(
    ("folder", "platform", "name"),
    [
        ("javascript", "typescript", "queues"), ("go", "go", "rings"), ("rust", "rust", "weigh-in"),
        ("java", "java", "units"), ("dotnet", "dotnet", "Example.Tabular"),
    ],
)  # fmt: skip
def test_the_ecosystem_of_a_product_is_found_out(folder: str, platform: str, name: str, tmp_path: Path) -> None:
    make_repository(tmp_path / "product", product_files(folder))
    make_site(tmp_path / "site")
    config, _ = derived(tmp_path / "product", tmp_path / "site")
    assert (config["target_platform"], config["product_name"]) == (platform, name)


def test_a_core_in_rust_behind_a_python_package_is_a_python_product(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": b'[package]\nname = "fast_core"\nversion = "1.0.0"\n[lib]\ncrate-type = ["cdylib"]\n',
        "pyproject.toml": b'[build-system]\nbuild-backend = "maturin"\n[project]\nname = "fastkit"\n',
        "src/lib.rs": b"//! The core.\n" + b"pub fn go() {}\n" * 200,
        "python/fastkit/__init__.py": b'"""Fast."""\n',
    }
    make_repository(tmp_path / "product", files)
    make_site(tmp_path / "site")
    config, _ = derived(tmp_path / "product", tmp_path / "site")
    assert (config["target_platform"], config["product_name"]) == ("python", "fastkit")


FORGES = [
    (
        "https://github.com/acme/site",
        "auto",
        {"forge": "github", "github_token_env": "GITHUB_TOKEN"},
        "GITHUB_TOKEN",
    ),
    (
        "https://codeberg.org/acme/site",
        "auto",
        {"forge": "gitea", "github_token_env": "GITEA_TOKEN"},
        "codeberg.org",
    ),
    (
        "git@git.example:acme/site.git",
        "gitea",
        {"forge": "gitea", "github_token_env": "GITEA_TOKEN"},
        "git.example",
    ),
    (
        "https://git.example/acme/site",
        "gitea",
        {"forge": "gitea", "github_token_env": "GITEA_TOKEN"},
        "HOLDFAST_LAUNCH_TOKENS=GITEA_TOKEN=git.example",
    ),
    ("https://git.example/acme/site", "auto", {}, "it is not known what git.example is"),
    ("https://git.example/acme/site", "git", {"forge": "git"}, ""),
]


@pytest.mark.parametrize(("address", "kind", "settings", "said"), FORGES)
def test_the_configuration_of_a_site_on_a_forge_can_open_pull_requests(
    repositories: tuple[Path, Path], address: str, kind: str, settings: dict[str, str], said: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    here = (
        f'[url "file://{repositories[1]}"]\n\tinsteadOf = {address}\n'  # the address as it is, without a network
    )
    (tmp_path / ".gitconfig").write_text(here, "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    told: list[str] = []
    config = derive(str(repositories[0]), address, forge=kind, tell=told.append)
    made = config["commit_service"]
    assert config["site_repo_url"] == address
    assert made["github_token_env"] == settings.get("github_token_env", "LAUNCH_COMMIT_TOKEN")
    assert said in " ".join(told)
    assert checked(config)["commit_service"].get("forge") == settings.get("forge")


class _Private(BaseHTTPRequestHandler):
    """A server that wants a name and a password, and keeps what it was given."""

    given: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.given.append(self.headers.get("Authorization", ""))
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=x")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_host_that_the_operator_does_not_allow_gets_no_token_from_init(
    repositories: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITEA_TOKEN", "the-token-of-the-operator")
    _Private.given.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Private) as server:
        threading.Thread(target=server.serve_forever).start()
        host = f"127.0.0.1:{server.server_port}"
        try:
            for allowed in ("", f"GITEA_TOKEN={host}"):
                with pytest.raises(UsageError, match="cannot be fetched"):
                    derive(
                        str(repositories[0]), f"http://{host}/acme/site.git", forge="gitea",
                        grants=TokenGrants(allowed), tell=lambda _: None,
                    )  # fmt: skip
                assert any(_Private.given) is bool(allowed)
        finally:
            server.shutdown()


def test_a_forge_that_the_site_cannot_be_on_is_told(repositories: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="on no forge"):
        derive(str(repositories[0]), str(repositories[1]), forge="github", tell=lambda _: None)


NOTHING_TO_REFER_TO = {
    "a list of links": {"README.md": b"# kit\n\nLinks.\n"},
    "private names alone": {"pyproject.toml": b'[project]\nname = "kit"\n', "kit.py": b"def _made():\n    pass\n"},
    "a platform that nobody described": {"Gemfile": b"", "kit.rb": b"def made\nend\n"},
}


@pytest.mark.parametrize("files", NOTHING_TO_REFER_TO.values(), ids=NOTHING_TO_REFER_TO)
def test_a_product_without_a_public_interface_gets_no_reference_and_that_is_told(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    make_repository(tmp_path / "kit", files)
    make_site(tmp_path / "site")
    config, told = derived(tmp_path / "kit", tmp_path / "site")

    assert config["required_sections"] == [name for name in SECTIONS if name != "reference"]
    assert not any("reference" in path for path in config["allowed_paths"])
    assert "no public interface was found in the product: reference is left out of required_sections" in told


def test_a_tree_that_names_what_lies_elsewhere_is_looked_at_and_nothing_is_written_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    kit = tmp_path / "kit"
    make_repository(kit, {"out.py": b"def made():\n    pass\n"})
    make_site(tmp_path / "site")
    inner = git(kit, "rev-parse", "HEAD^{tree}")
    made = subprocess.run(
        ["git", "mktree"], cwd=kit, input=f"040000 tree {inner}\t..\n", text=True, capture_output=True, check=True
    )
    commit = git(kit, "commit-tree", "-m", "by hand", made.stdout.strip())
    git(kit, "update-ref", "HEAD", commit)
    _, told = derived(kit, tmp_path / "site")

    assert list((tmp_path / "temporary").iterdir()) == []
    assert any("no public interface" in one for one in told)
