"""Risk: untrusted input, dangerous calls, and the paths between them.

Building: the rules are data (`rules/`, and a file of the user's own: `loading`); `analysis` writes what they find
in one function into the facts of its chunk, with a summary for those who call it. It reads call sites, assignments
and names, not types. Asking: `linking` puts paths through a call together from the summaries, so a change in one
file needs no new look at the others; `telling` shows them. Nothing is imported here: a question loads no rules.
"""
