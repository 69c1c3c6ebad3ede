"""One search over several repositories: which ones (members), all asked (asking), one list (fusing, telling)."""
