"""From a plan to pages: blocks of cited sentences, made safe, in Markdown."""
