"""The keys under which this package puts its own facts into `_meta`, where the protocol leaves room for them."""

__all__ = ["FOREIGN_EFFECT", "META_CONTRACT", "META_EFFECT", "META_ERROR", "META_SUPERVISION"]

META_CONTRACT = "io.holdfast/contract"  # of a tool: its versions
META_EFFECT = "io.holdfast/effect"  # of a tool: what repeating it would do
META_SUPERVISION = "io.holdfast/supervision"  # of a tool: its timeout, and how its server words a failure
META_ERROR = "io.holdfast/error"  # of a result: the code of the failure, whatever form its text has
FOREIGN_EFFECT = "io.libmcp/effect"  # of a tool of another toolkit: the same as META_EFFECT
