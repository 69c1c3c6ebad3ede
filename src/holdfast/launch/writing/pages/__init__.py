"""One module per kind of page: functions from what is known to blocks."""
