"""Vectors: what chunks mean, beside the words that they have; made by `holdfast index embed`, never unasked.

A model turns a text into a vector, and texts that mean the like have vectors that point the same way. Most modules
here need the extra `holdfast[vector]`; those that every search passes (`available`, `place`, `offered`, `fusion`,
`making`) load it only where there is something to use.
"""
