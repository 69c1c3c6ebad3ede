"""The tools of the search server: its whole public face, as thin functions over the engine.

The rest of what each promises is in `promises`, the words about its arguments in `arguments`, what it answers in
`answers`. Long ones run in a process of their own: no search waits for them, and a cancellation ends them at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from holdfast.errors import HoldfastError, ToolError
from holdfast.search import arguments as given
from holdfast.search.answers import bootstrap as bootstrap_answers
from holdfast.search.answers import downloads as download_answers
from holdfast.search.answers import portable as portable_answers
from holdfast.search.answers import status as status_answers
from holdfast.search.answers import triage as triage_answers
from holdfast.search.answers import upkeep as upkeep_answers
from holdfast.search.answers.build import BuildAnswer
from holdfast.search.answers.config import ConfigStatus
from holdfast.search.answers.files import ShownFile
from holdfast.search.answers.search import SearchAnswer
from holdfast.search.answers.workspace import WorkspaceStatus
from holdfast.search.capabilities import announced_capabilities
from holdfast.search.configuration import SearchConfiguration, load_configuration
from holdfast.search.following import followed
from holdfast.search.home import IndexHome
from holdfast.search.promises import PROMISES
from holdfast.search.repository import Repository, index_home
from holdfast.search.request_schema import input_schema
from holdfast.search.served import served
from holdfast.search.version import SCHEMA_VERSION
from holdfast.version import __version__
from holdfast.worker.context import SyncContext
from holdfast.worker.server import Server

__all__ = [
    "bootstrap",
    "build_index",
    "build_sqlite_index",
    "cache_gc",
    "check_status",
    "clean_artifacts",
    "compact_sqlite_index",
    "config_status",
    "download_dictionaries",
    "download_extensions",
    "download_models",
    "index_status",
    "limit_as_configured",
    "report_artifacts",
    "search",
    "server",
    "show_file",
    "triage_context_pack",
    "triage_decision",
    "triage_ingest",
    "verify_extensions",
    "workspace_status",
]

Function = TypeVar("Function", bound=Callable[..., Any])

server = Server(
    "pairofcleats",
    version=__version__,
    surface_version=SCHEMA_VERSION,
    dialect="poc",
    render="json",
    protocol="pinned",
    presentation="meta",
    instructions="Search code by words and by what it means: begin with `search`, then `show_file` for the lines "
    "around a hit. Where `search` answers NO_INDEX, call `build_index` once.",
    capabilities=announced_capabilities(served().cache_dir),
    logging=False,
)


def _tool(name: str, **more: Any) -> Callable[[Function], Function]:
    return server.tool(**PROMISES[name].declared(), **more)


def limit_as_configured() -> None:
    """Give the tools the times that the first repository that is served says; a broken file says nothing here."""
    try:
        limits = load_configuration(served().find()).mcp
    except HoldfastError:
        return
    for name in PROMISES:
        milliseconds = limits.timeout_ms(name)
        if milliseconds is not None:
            server.limit(name, milliseconds / 1000)


def _settled(repo_path: str | None) -> tuple[Repository, SearchConfiguration]:
    """The repository that is meant, and its configuration; a broken one is told by every tool."""
    repository = served().find(repo_path)
    return repository, load_configuration(repository)


def _place(repository: Repository, path: str | None) -> Path | None:
    """A path that a caller names; one that is not absolute begins at the root of the repository."""
    return None if path is None else repository.root / path


# --- reading -----------------------------------------------------------------------------------------------------


@_tool("search", input_schema=input_schema())
def search(arguments: dict[str, Any], ctx: SyncContext) -> SearchAnswer:
    """Find code, prose, comments and records by words, phrases, AND OR NOT, /regex/ and by what the code means.

    All filters must hold at once. Hits carry file, lines, symbol, why they matched and the lines themselves; the
    answer says how fresh the index is.
    """
    from holdfast.search.answering import answer

    def report(message: str, done: int, total: int, hits: list[dict[str, Any]]) -> None:
        data = {"hits": hits} if hits else None
        numbers = (done, total) if total > 1 else (None, None)  # one repository has no steps
        ctx.progress(message, progress=numbers[0], total=numbers[1], phase="search", data=data)

    found: Any = answer(served(), arguments, lambda: ctx.stopped, report if ctx.is_followed else None)
    return found  # type: ignore[no-any-return]  # it is held to its type on its way out


@_tool("show_file")
def show_file(
    path: given.FilePath,
    start_line: given.StartLine = None,
    end_line: given.EndLine = None,
    max_bytes: given.MaxBytesShown = None,
    repo_path: given.RepoPath = None,
) -> ShownFile:
    """Show lines of one file of the repository, as text."""
    from holdfast.search import show_file as showing

    repository, _ = _settled(repo_path)
    shown = showing.show_file(
        repository,
        path=path,
        start_line=start_line,
        end_line=end_line,
        max_bytes=max_bytes,
        records=IndexHome(index_home(repository, served().cache_dir)).records,
    )
    return ShownFile.model_validate(shown)


@_tool("index_status")
def index_status(repo_path: given.RepoPath = None) -> status_answers.IndexStatus:
    """Tell what is in the index of a repository, how fresh it is, and what was left out."""
    from holdfast.search import index_report

    repository, _ = _settled(repo_path)
    return status_answers.IndexStatus.model_validate(index_report.index_status(repository, served().cache_dir))


@_tool("config_status")
def config_status(repo_path: given.RepoPath = None) -> ConfigStatus:
    """Tell the configuration of a repository, where each value comes from, and what this machine can do."""
    from holdfast.search import config_status as status

    repository, _ = _settled(repo_path)
    place = served()
    return ConfigStatus.model_validate(status.config_status(repository, place.cache_dir, server=place.server))


@_tool("check_status")
def check_status(repo_path: given.RepoPath = None) -> status_answers.Checkup:
    """Look for whatever keeps searches from being good: in the index, the configuration, the machine."""
    from holdfast.search import checkup
    from holdfast.search import config_status as configured

    repository, _ = _settled(repo_path)
    place = served()
    status = configured.config_status(repository, place.cache_dir, server=place.server)
    found = checkup.check_status(
        repository, place.cache_dir, capabilities=status["capabilities"], warnings=status["warnings"]
    )
    return status_answers.Checkup.model_validate(found)


@_tool("workspace_status")
def workspace_status(ctx: SyncContext, workspace_path: given.WorkspacePath = None) -> WorkspaceStatus:
    """Tell the state of every repository in a workspace file."""
    from holdfast.search import workspace

    place = served()
    repository, _ = _settled(None)
    found = workspace.find_workspace(workspace_path, place.workspace, repository.root)
    told = workspace.workspace_status(found, place.cache_dir, stop=lambda: ctx.stopped)
    return WorkspaceStatus.model_validate(told)


@_tool("report_artifacts")
def report_artifacts(repo_path: given.RepoPath = None) -> status_answers.ArtifactReport:
    """Tell what an index and the cache take up on disk, and whether something is wrong with it."""
    from holdfast.search import artifacts

    repository, _ = _settled(repo_path)
    report = artifacts.report_artifacts(repository, served().cache_dir)
    return status_answers.ArtifactReport.model_validate(report)


# --- building ----------------------------------------------------------------------------------------------------


@_tool("build_index")
def build_index(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    mode: given.BuildMode = "all",
    sqlite: given.WithSqlite = False,
    incremental: given.Incremental = False,
    stub_embeddings: given.StubEmbeddings = False,
    use_artifacts: given.UseArtifacts = False,
    artifacts_dir: given.ArtifactsDir = None,
    vectors: given.WithVectors = False,
    linters: given.WithLinters = None,
) -> BuildAnswer:
    """Build the index of a repository, or bring it up to date; searches go on meanwhile."""
    from holdfast.search.building import build, refuse_stubs
    from holdfast.settings import load_settings

    if stub_embeddings:
        refuse_stubs()
    repository, _ = _settled(repo_path)
    built = build(
        repository,
        served().cache_dir,
        mode=mode,
        sqlite=sqlite,
        incremental=incremental,
        use_artifacts=use_artifacts,
        artifacts_dir=artifacts_dir,
        vectors=vectors,
        linters=linters or (),
        code_linters=load_settings().code_linters.split(","),
        **followed(ctx),
    )
    return BuildAnswer.model_validate(built)


@_tool("build_sqlite_index")
def build_sqlite_index(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    mode: given.PortableMode = "all",
    incremental: given.Incremental = False,
    compact: given.Compact = False,
    out: given.Out = None,
) -> portable_answers.PortableIndex:
    """Write the index into one portable SQLite file, which answers like the index itself (sqlite, sqlite-fts)."""
    from holdfast.search.portable import build_portable

    repository, _ = _settled(repo_path)
    built = build_portable(
        repository,
        served().cache_dir,
        mode=mode,
        incremental=incremental,
        compact=compact,
        out=_place(repository, out),
        **followed(ctx),
    )
    return portable_answers.PortableIndex.model_validate(built)


@_tool("compact_sqlite_index")
def compact_sqlite_index(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    mode: given.PortableMode = "all",
    dry_run: given.DryRun = False,
    keep_backup: given.KeepBackup = False,
) -> portable_answers.CompactedPortable:
    """Make the portable SQLite file of an index as small as possible."""
    from holdfast.search.portable import compact_portable

    repository, _ = _settled(repo_path)
    compacted = compact_portable(
        repository,
        served().cache_dir,
        mode=mode,
        dry_run=dry_run,
        keep_backup=keep_backup,
        **followed(ctx),
    )
    return portable_answers.CompactedPortable.model_validate(compacted)


@_tool("bootstrap")
def bootstrap(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    skip_install: given.SkipInstall = True,
    skip_dicts: given.SkipDicts = False,
    skip_index: given.SkipIndex = False,
    skip_artifacts: given.SkipArtifacts = True,
    skip_tooling: given.SkipTooling = False,
    with_sqlite: given.WithSqliteToo = False,
    incremental: given.Incremental = False,
) -> bootstrap_answers.BootstrapAnswer:
    """Set a repository up: dictionaries, a look at what is missing, the index itself; an exported one if asked to.

    Dictionaries that cannot be fetched are told in their step and keep nothing else from being done.
    """
    from holdfast.search import bootstrapping

    repository, _ = _settled(repo_path)
    done = bootstrapping.set_up(
        repository,
        served().cache_dir,
        skip_install=skip_install,
        skip_dicts=skip_dicts,
        skip_index=skip_index,
        skip_artifacts=skip_artifacts,
        skip_tooling=skip_tooling,
        with_sqlite=with_sqlite,
        incremental=incremental,
        **followed(ctx),
    )
    return bootstrap_answers.BootstrapAnswer.model_validate(done)


# --- downloads ---------------------------------------------------------------------------------------------------


@_tool("download_models")
def download_models(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    model: given.Model = None,
    cache_dir: given.CacheDir = None,
    url: given.Url = None,
    sha256: given.Sha256 = None,
    update: given.Update = False,
    force: given.Force = False,
) -> download_answers.DownloadedModel:
    """Fetch a model into the cache directory, verified."""
    from holdfast.search import downloads

    repository, configuration = _settled(repo_path)
    fetched = downloads.download_models(
        served().cache_dir,
        model=model,
        source=url,
        sha256=sha256,
        target=_place(repository, cache_dir),
        update=update,
        force=force,
        sources=configuration.model_sources,
        **followed(ctx),
    )
    return download_answers.DownloadedModel.model_validate(fetched)


@_tool("download_dictionaries")
def download_dictionaries(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    lang: given.Languages = None,
    directory: given.Directory = None,
    url: given.WordLists = None,
    sha256: given.Digests = None,
    update: given.Update = False,
    force: given.Force = False,
) -> download_answers.DownloadedDictionaries:
    """Fetch word lists into the cache directory, verified. Nothing reads them yet: searches need none."""
    from holdfast.search import downloads

    repository, configuration = _settled(repo_path)
    fetched = downloads.download_dictionaries(
        served().cache_dir,
        lang=lang,
        target=_place(repository, directory),
        url=url,
        sha256=sha256,
        update=update,
        force=force,
        sources=configuration.dictionary_sources,
        **followed(ctx),
    )
    return download_answers.DownloadedDictionaries.model_validate(fetched)


@_tool("download_extensions")
def download_extensions(
    ctx: SyncContext,
    repo_path: given.RepoPath = None,
    provider: given.Provider = None,
    directory: given.Directory = None,
    url: given.Url = None,
    sha256: given.Sha256 = None,
    out: given.Out = None,
    platform: given.Platform = None,
    arch: given.Arch = None,
    update: given.Update = False,
    force: given.Force = False,
) -> download_answers.DownloadedExtension:
    """Fetch an extension of SQLite into the cache directory, verified; it is not loaded."""
    from holdfast.search import downloads

    repository, _ = _settled(repo_path)
    fetched = downloads.download_extensions(
        served().cache_dir,
        provider=provider,
        target=_place(repository, directory),
        url=url,
        sha256=sha256,
        out=_place(repository, out),
        platform=platform,
        arch=arch,
        update=update,
        force=force,
        **followed(ctx),
    )
    return download_answers.DownloadedExtension.model_validate(fetched)


@_tool("verify_extensions")
def verify_extensions(
    repo_path: given.RepoPath = None,
    provider: given.Provider = None,
    directory: given.ExtensionDirectory = None,
    path: given.ExtensionPath = None,
    platform: given.Platform = None,
    arch: given.Arch = None,
    module: given.Alike = None,
    table: given.Alike = None,
    column: given.Alike = None,
    encoding: given.Encoding = None,
    options: given.Options = None,
    ann_mode: given.AnnMode = None,
    load: given.Load = True,
) -> download_answers.ExtensionReport:
    """Tell whether an extension of SQLite is there, can be loaded, and works."""
    from holdfast.search import downloads

    for name, value in (("path", path), ("dir", directory)):
        if value is not None:
            hint = "On the command line: holdfast index verify-extension"
            raise ToolError("FORBIDDEN", f"{name} is reserved: a client names no code that is loaded", hint=hint)
    _settled(repo_path)
    verified = downloads.verify_extensions(
        served().cache_dir,
        provider=provider,
        platform=platform,
        arch=arch,
        module=module,
        table=table,
        column=column,
        encoding=encoding,
        options=options,
        ann_mode=ann_mode,
        load=load,
    )
    return download_answers.ExtensionReport.model_validate(verified)


# --- upkeep ------------------------------------------------------------------------------------------------------


@_tool("cache_gc")
def cache_gc(
    repo_path: given.RepoPath = None,
    dry_run: given.DryRun = False,
    max_bytes: given.MaxBytesKept = None,
    max_gb: given.MaxGb = None,
    max_age_days: given.MaxAgeDays = None,
) -> upkeep_answers.Collected:
    """Remove indexes that nobody uses: old builds, and with limits also what was not used for long."""
    from holdfast.search import cleaning

    repository, configuration = _settled(repo_path)
    if max_bytes is not None and max_gb is not None:
        raise ToolError("INVALID_REQUEST", "maxBytes and maxGb say the same", hint="Give one of them.")
    kept = max_bytes if max_gb is None else round(max_gb * 1024**3)
    place = served()
    place.release()  # what is open but unused here must not look used
    report = cleaning.cache_gc(
        place.cache_dir,
        None if repo_path is None else repository,
        dry_run=dry_run,
        max_bytes=kept,
        max_age_days=max_age_days,
        own=(repository, configuration.cache),
    )
    return upkeep_answers.Collected.model_validate(report)


@_tool("clean_artifacts")
def clean_artifacts(
    repo_path: given.RepoPath = None, every: given.Every = False, dry_run: given.DryRun = False
) -> upkeep_answers.Cleaned:
    """Remove the index of a repository, or of all of them, from the cache directory."""
    from holdfast.search import cleaning

    repository, _ = _settled(repo_path)
    place = served()
    place.release()
    report = cleaning.clean_artifacts(place.cache_dir, repository, all_repositories=every, dry_run=dry_run)
    return upkeep_answers.Cleaned.model_validate(report)


# --- triage ------------------------------------------------------------------------------------------------------


@_tool("triage_ingest")
def triage_ingest(
    ctx: SyncContext,
    source: given.FindingSource,
    input_path: given.InputPath,
    repo_path: given.RepoPath = None,
    meta: given.Meta = None,
    build_index: given.BuildIndexToo = False,
    incremental: given.Incremental = False,
) -> triage_answers.IngestResult:
    """Take in findings of a scanner as records of the repository; taking in the same again changes nothing."""
    from holdfast.search import building, triage

    if incremental and not build_index:
        raise ToolError("INVALID_REQUEST", "incremental is given without buildIndex", hint="Set buildIndex too.")
    repository, _ = _settled(repo_path)
    cache_dir, watched = served().cache_dir, followed(ctx)
    report = triage.ingest(repository, cache_dir, source=source, input_path=input_path, meta=meta, **watched)
    if build_index:
        building.refresh_index(repository, cache_dir, full=not incremental, **watched)
    return triage_answers.IngestResult.model_validate(report)


@_tool("triage_decision")
def triage_decision(
    finding: given.Finding,
    status: given.Status,
    justification: given.Justification = None,
    reviewer: given.Reviewer = None,
    expires: given.Expires = None,
    meta: given.Meta = None,
    codes: given.Codes = None,
    evidence: given.Evidence = None,
    repo_path: given.RepoPath = None,
) -> triage_answers.DecisionResult:
    """Write down what was decided about a finding; the same decision again is the same record."""
    from holdfast.search import triage

    repository, _ = _settled(repo_path)
    report = triage.decide(
        repository,
        served().cache_dir,
        finding=finding,
        status=status,
        justification=justification,
        reviewer=reviewer,
        expires=expires,
        meta=meta,
        codes=codes or (),
        evidence=evidence or (),
    )
    return triage_answers.DecisionResult.model_validate(report)


@_tool("triage_context_pack")
def triage_context_pack(
    ctx: SyncContext,
    record_id: given.RecordId,
    out_path: given.OutPath = None,
    ann: given.Ann = None,
    repo_path: given.RepoPath = None,
) -> triage_answers.ContextPackResult:
    """Gather what the repository says about a finding: its decisions so far, and where the code is concerned."""
    from holdfast.search import triage
    from holdfast.search.answering import answer

    repository, _ = _settled(repo_path)
    more = {"repoPath": str(repository.root)} | ({} if ann is None else {"ann": ann})
    watched = followed(ctx)
    report = triage.context_pack(
        repository,
        served().cache_dir,
        record_id=record_id,
        out_path=out_path,
        search=lambda arguments: answer(served(), {**arguments, **more}, watched["stop"]),
        **watched,
    )
    return triage_answers.ContextPackResult.model_validate(report)
