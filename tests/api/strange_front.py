"""A front to which this machine is a stranger, so that what is limited per address can be tested on loopback."""

import sys

import holdfast.api.connection
from holdfast.search.http import main

vars(holdfast.api.connection)["is_loopback_address"] = lambda _: False
sys.exit(main())
