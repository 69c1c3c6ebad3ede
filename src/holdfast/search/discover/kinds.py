"""What a file is, by its name: its language, how it is searched, and whether it can be text at all.

Tables only, and how to look into them; nothing here opens a file. Where a name does not decide, `sniff` does.
"""

from dataclasses import dataclass

__all__ = [
    "AMBIGUOUS",
    "BINARY_EXTENSIONS",
    "DOCUMENTS",
    "INTERPRETERS",
    "LANGUAGES",
    "MINIFIABLE",
    "MINIFIED_NAMES",
    "MODES_OF_LANGUAGE",
    "TEXT",
    "Kind",
    "extension_of",
    "extensions_of",
    "kind_of_language",
    "kind_of_name",
    "language_id",
    "language_ids",
]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is searched as (of documents: extracted-prose), and the id of its language."""

    mode: str
    language: str


# Language ids and the extensions that mean them, without the dot.
_EXTENSIONS = {
    "ada": "adb ads",
    "asciidoc": "adoc asciidoc asc",
    "asm": "s asm nasm",
    "astro": "astro",
    "awk": "awk",
    "batch": "bat cmd",
    "bazel": "bzl bazel star",
    "c": "c h",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cobol": "cob cbl cpy cobol",
    "coffeescript": "coffee",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp txx cu cuh ino",
    "crystal": "cr",
    "csharp": "cs csx",
    "css": "css scss sass less pcss styl",
    "csv": "csv tsv psv",
    "cython": "pyx pxd pxi",
    "d": "d di",
    "dart": "dart",
    "diff": "diff patch",
    "dockerfile": "dockerfile containerfile",
    "elixir": "ex exs",
    "elm": "elm",
    "erlang": "erl hrl",
    "fish": "fish",
    "fortran": "f f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "glsl": "glsl vert frag geom comp hlsl wgsl metal",
    "go": "go",
    "gradle": "gradle",
    "graphql": "graphql gql graphqls",
    "groovy": "groovy gvy",
    "haskell": "hs lhs",
    "hcl": "hcl tf tfvars nomad",
    "html": "html htm xhtml shtml",
    "ini": "ini cfg conf cnf properties editorconfig desktop service socket timer env",
    "java": "java",
    "javascript": "js jsx mjs cjs es6",
    "json": "json json5 jsonc geojson webmanifest har map avsc",
    "jsonl": "jsonl ndjson",
    "julia": "jl",
    "kotlin": "kt kts",
    "latex": "tex latex ltx sty bib",
    "lean": "lean",
    "lisp": "lisp lsp cl el scm ss rkt",
    "lua": "lua luau rockspec",
    "makefile": "mk mak make",
    "markdown": "md markdown mdown mkd mdx mdc qmd rmd",
    "matlab": "matlab",
    "nim": "nim nims",
    "nix": "nix",
    "notebook": "ipynb",
    "objc": "m mm",
    "ocaml": "ml mll mly",
    "ocaml_interface": "mli",
    "org": "org",
    "pascal": "pas pp dpr",
    "perl": "pl pm t pod",
    "php": "php phtml php3 php4 php5 phps inc",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "prolog": "prolog pro",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "rst": "rst rest",
    "ruby": "rb rake gemspec ru erb podspec",
    "rust": "rs",
    "scala": "scala sc sbt",
    "shell": "sh bash zsh ksh bats ebuild",
    "solidity": "sol",
    "sql": "sql ddl dml psql plsql",
    "svelte": "svelte",
    "swift": "swift",
    "tcl": "tcl",
    "template": "j2 jinja jinja2 tmpl tpl mustache hbs handlebars ejs liquid twig njk",
    "text": "txt text",
    "textile": "textile",
    "thrift": "thrift",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vb": "vb vbs bas",
    "verilog": "v vh sv svh",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "vue": "vue",
    "wiki": "mediawiki wiki creole",
    "xml": "xml xsd xsl xslt svg plist csproj vbproj fsproj props targets resx xaml wsdl rss atom ui kml",
    "yaml": "yml yaml",
    "zig": "zig zon",
}

_NAMES = {
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "elixir": "mix.lock",
    "go": "go.mod go.sum go.work go.work.sum",
    "groovy": "jenkinsfile",
    "ini": ".editorconfig .gitconfig .gitmodules .npmrc .pylintrc .flake8 .coveragerc .env .env.example "
    "setup.cfg pip.conf",
    "javascript": "jakefile",
    "json": ".babelrc .eslintrc .prettierrc .swcrc composer.lock pipfile.lock flake.lock .jshintrc",
    "just": "justfile .justfile",
    "makefile": "makefile gnumakefile bsdmakefile",
    "python": "sconstruct sconscript wscript snakefile",
    "ruby": "gemfile rakefile vagrantfile podfile fastfile brewfile guardfile capfile dangerfile gemfile.lock",
    "shell": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile pkgbuild .envrc configure",
    "text": "readme license licence copying notice authors changelog changes news todo install contributing "
    "copyright contributors maintainers thanks history requirements.txt constraints.txt",
    "toml": "cargo.lock poetry.lock pipfile uv.lock pdm.lock",
    "vim": ".vimrc",
    "yaml": ".clang-format .clang-tidy .clangd yarn.lock",
    "ignore": ".gitignore .gitattributes .dockerignore .npmignore .holdfastignore .eslintignore .prettierignore "
    ".helmignore .gitkeep .mailmap codeowners owners",
}  # fmt: skip

# Names that mean something only as they are written: a file called `build` is somebody's script.
_EXACT_NAMES = {"BUILD": "bazel", "WORKSPACE": "bazel"}

_PROSE = frozenset({"asciidoc", "latex", "markdown", "org", "rst", "text", "textile", "wiki"})

_RECORD_EXTENSIONS = frozenset({"coverage", "dmp", "gcov", "lcov", "log", "out", "stack", "tap", "trace"})

# Text files that may be the output of a program: their first lines decide between prose and records.
AMBIGUOUS = frozenset({"txt", "text", "err", "stdout", "stderr"})

# Never opened: nothing to read for a text search. Formats that are sometimes text are not here.
BINARY_EXTENSIONS = frozenset({
    "7z", "a", "aac", "ai", "aif", "aiff", "apk", "ar", "arrow", "avi", "avif", "avro", "bin", "bmp", "br",
    "bz2", "cab", "class", "crx", "cur", "db", "db3", "deb", "dex", "dll", "dmg", "doc", "dylib", "ear",
    "egg", "eot", "epub", "exe", "feather", "flac", "flv", "gif", "gz", "h5", "hdf5", "heic", "icns", "ico",
    "ipa", "iso", "jar", "jks", "jpeg", "jpg", "jxl", "keystore", "ko", "lib", "lz", "lz4", "lzma", "m4a",
    "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "node", "npy", "npz", "o", "odp", "ods", "odt",
    "ogg", "ogv", "onnx", "opus", "orc", "otf", "p12", "parquet", "pch", "pdb", "pfx", "pickle", "pkl",
    "png", "ppt", "pptx", "psd", "pt", "pyc", "pyd", "pyo", "rar", "rlib", "rmeta", "rpm", "safetensors", "so",
    "sqlite", "sqlite3", "swf", "tar", "tflite", "tgz", "tif", "tiff", "ttc", "ttf", "txz", "war", "wasm",
    "wav", "webm", "webp", "whl", "wma", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
})  # fmt: skip

# Languages that are commonly packed into a few endless lines by a tool, and then no longer read by anybody.
MINIFIABLE = frozenset({"css", "html", "javascript", "json", "tsx", "typescript", "xml"})
MINIFIED_NAMES = (".min.js", ".min.mjs", ".min.cjs", ".min.css")

# Interpreters in the first line of a script, without their version numbers.
INTERPRETERS = {
    "ash": "shell", "awk": "awk", "bash": "shell", "bun": "javascript", "crystal": "crystal", "dash": "shell",
    "deno": "typescript", "elixir": "elixir", "escript": "erlang", "fish": "fish", "gawk": "awk",
    "groovy": "groovy", "julia": "julia", "kotlin": "kotlin", "ksh": "shell", "lua": "lua", "luajit": "lua",
    "make": "makefile", "mawk": "awk", "node": "javascript", "nodejs": "javascript", "perl": "perl", "php": "php",
    "pwsh": "powershell", "pypy": "python", "python": "python", "rscript": "r", "ruby": "ruby", "scala": "scala",
    "sh": "shell", "swift": "swift", "tclsh": "tcl", "ts-node": "typescript", "tsx": "typescript", "uv": "python",
    "zsh": "shell",
}  # fmt: skip

_ALIASES = {
    "adoc": "asciidoc", "assembly": "asm", "bash": "shell", "bat": "batch", "c#": "csharp", "c++": "cpp",
    "cc": "cpp", "clj": "clojure", "coffee": "coffeescript", "cs": "csharp", "cxx": "cpp", "docker": "dockerfile",
    "django": "template", "erl": "erlang", "f#": "fsharp", "golang": "go", "gql": "graphql", "hs": "haskell",
    "htm": "html", "ipynb": "notebook", "ipython": "python", "ipython3": "python", "jinja": "template",
    "jinja2": "template", "jl": "julia", "js": "javascript",
    "jsx": "javascript", "kt": "kotlin", "less": "css", "make": "makefile", "md": "markdown", "ml": "ocaml",
    "node": "javascript", "nodejs": "javascript", "obj-c": "objc", "objective-c": "objc", "objectivec": "objc",
    "pl": "perl", "plaintext": "text", "proto": "protobuf", "ps1": "powershell", "pwsh": "powershell",
    "py": "python", "python3": "python", "rb": "ruby", "restructuredtext": "rst", "rs": "rust", "sass": "css",
    "scss": "css", "sh": "shell", "shellscript": "shell", "starlark": "bazel", "terraform": "hcl", "tex": "latex",
    "tf": "hcl", "ts": "typescript", "txt": "text", "visualbasic": "vb", "yml": "yaml", "zsh": "shell",
}  # fmt: skip

_MEMBERS = {
    "typescript": {"typescript", "tsx"},
    "json": {"json", "jsonl"},
    "ocaml": {"ocaml", "ocaml_interface"},
}

TEXT = Kind("prose", "text")

# Read by libraries of their own, and searched by their text.
DOCUMENTS = {name: Kind("extracted-prose", name) for name in ("docx", "pdf")}

LANGUAGES: frozenset[str] = (
    frozenset(_EXTENSIONS) | frozenset(_NAMES) | frozenset(INTERPRETERS.values()) | {"log"} | frozenset(DOCUMENTS)
)
MODES_OF_LANGUAGE: dict[str, str] = {
    language: "prose" if language in _PROSE else "records" if language == "log" else "code"
    for language in LANGUAGES
}

_KINDS = {language: Kind(mode, language) for language, mode in MODES_OF_LANGUAGE.items()} | DOCUMENTS
_BY_EXTENSION = {end: _KINDS[language] for language, ends in _EXTENSIONS.items() for end in ends.split()}
_BY_EXTENSION |= dict.fromkeys(_RECORD_EXTENSIONS, _KINDS["log"])
_BY_NAME = {name: _KINDS[language] for language, names in _NAMES.items() for name in names.split()}


def extension_of(name: str) -> str:
    """The extension of a file name in lower case, without the dot; a leading dot does not start one."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def extensions_of(language: str) -> tuple[str, ...]:
    """The extensions that mean a language, without the dot."""
    return tuple(_EXTENSIONS.get(language, "").split())


def kind_of_language(language: str) -> Kind:
    """The kind of the files of one language."""
    return _KINDS[language]


def kind_of_name(name: str) -> Kind | None:
    """What a file is by its name alone; None when the name says nothing.

    The whole name comes first, then the extension, then what stands before the first dot: `Dockerfile.dev`.
    """
    if name in _EXACT_NAMES:
        return _KINDS[_EXACT_NAMES[name]]
    lower = name.lower()
    return _BY_NAME.get(lower) or _BY_EXTENSION.get(extension_of(name)) or _BY_NAME.get(lower.partition(".")[0])


def language_id(name: str) -> str:
    """The id of the one language that is called `py`, `C++` or `typescript`; "" for an unknown name."""
    wanted = name.strip().lower()
    language = wanted if wanted in LANGUAGES else _ALIASES.get(wanted, "")
    if not language and wanted.removeprefix(".") in _BY_EXTENSION:
        language = _BY_EXTENSION[wanted.removeprefix(".")].language
    return language


def language_ids(name: str) -> set[str]:
    """The ids of the languages that a person means by such a name, its kin included; empty for an unknown one."""
    language = language_id(name)
    return set(_MEMBERS.get(language, {language})) if language else set()
