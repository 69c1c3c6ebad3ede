"""The standard streams, the signals and the end of a process that serves one client on its stdin and stdout."""
