"""The files of a plain Hugo site with its own layouts, and with pages of products that are already on it."""

__all__ = ["site_files"]

_SECTIONS = ("products", "docs", "reference", "kb", "blog")
_TITLES = {
    "products": "Products", "docs": "Documentation", "reference": "API reference", "kb": "Knowledge base",
    "blog": "Blog",
}  # fmt: skip

_CONFIG = """\
baseURL = "https://launch.example/"
title = "Launch Example"
locale = "en-us"
defaultContentLanguage = "en"
disableKinds = ["rss", "sitemap"]

[taxonomies]
  tag = "tags"

[markup.highlight]
  noClasses = true
"""

_BASE = """\
<!doctype html>
<html lang="{{ site.Language.Lang }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ if .IsHome }}{{ site.Title }}{{ else }}{{ .Title }} | {{ site.Title }}{{ end }}</title>
{{ with .Description }}<meta name="description" content="{{ . }}">{{ end }}
<link rel="canonical" href="{{ .Permalink }}">
<style>
:root { color-scheme: light; --ink: #1c2430; --soft: #5b6778; --line: #e1e6ed; --accent: #2457c5; }
body { margin: 0; color: var(--ink); font: 16px/1.6 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif; }
header { border-bottom: 1px solid var(--line); padding: 1rem 2rem; }
header a { margin-right: 1.25rem; color: var(--ink); text-decoration: none; }
header a.brand { font-weight: 700; }
main { max-width: 46rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.25rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
a { color: var(--accent); }
pre { padding: 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: .9em; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .4rem .7rem; text-align: left; }
.lead { color: var(--soft); font-size: 1.1rem; }
footer { color: var(--soft); border-top: 1px solid var(--line); margin-top: 3rem; padding: 1rem 2rem; }
</style>
</head>
<body>
<header><a class="brand" href="{{ site.Home.RelPermalink }}">{{ site.Title }}</a>
{{ range site.Sections }}<a href="{{ .RelPermalink }}">{{ .Title }}</a>{{ end }}</header>
<main>{{ block "main" . }}{{ end }}</main>
<footer>{{ site.Title }}</footer>
</body>
</html>
"""

_SINGLE = """\
{{ define "main" }}<h1>{{ .Title }}</h1>
{{ with .Description }}<p class="lead">{{ . }}</p>{{ end }}
{{ .Content }}{{ end }}
"""

_LIST = """\
{{ define "main" }}<h1>{{ .Title }}</h1>
{{ with .Description }}<p class="lead">{{ . }}</p>{{ end }}
{{ .Content }}
<ul>{{ range .Pages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul>{{ end }}
"""


def site_files(pages: int) -> dict[str, bytes]:
    """Every file of the site; `pages` pages of other products are spread over the sections."""
    files = {
        ".gitignore": "public/\nresources/\n.hugo_build.lock\n",
        "README.md": "# Launch Example\n\nThe website. Build it with `hugo`.\n",
        "archetypes/default.md": '---\ntitle: "{{ .Name }}"\ndate: {{ .Date }}\n---\n',
        "content/_index.md": "---\ntitle: Launch Example\ndescription: Libraries that are worth knowing.\n---\n",
        "hugo.toml": _CONFIG,
        "layouts/_default/baseof.html": _BASE,
        "layouts/_default/list.html": _LIST,
        "layouts/_default/single.html": _SINGLE,
        "static/robots.txt": "User-agent: *\nAllow: /\n",
    }
    for section in _SECTIONS:
        title = _TITLES[section]
        files[f"content/{section}/_index.md"] = f"---\ntitle: {title}\ndescription: All of {title.lower()}.\n---\n"
    for number in range(pages):
        section = _SECTIONS[number % len(_SECTIONS)]
        files[f"content/{section}/inkpot/topic-{number:04d}.md"] = _page(section, number)
    return {path: text.encode() for path, text in sorted(files.items())}


def _page(section: str, number: int) -> str:
    lines = [f"title: Inkpot topic {number}", f"description: What to know about topic {number} of Inkpot."]
    lines += [f"weight: {number + 1}"] if section in ("docs", "reference", "kb") else []
    lines += [f"date: 2024-01-{number % 28 + 1:02d}", "author: The Inkpot team"] if section == "blog" else []
    lines += ["tags:", "  - inkpot", "draft: false"]
    body = f"Inkpot writes letters. This is topic {number}.\n\n## More\n\nBack to [the start](/).\n"
    return "---\n" + "\n".join(lines) + "\n---\n\n" + body
