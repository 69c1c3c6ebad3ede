"""HTTP in front of a host: guards, limits, envelopes, server-sent events, metrics and the description of it all.

It runs in a process of its own and knows the host only as the other end of a pipe, so a host that serves stdio
alone never loads it. Which routes there are is said by the server whose tools they call.
"""
