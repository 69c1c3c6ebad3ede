"""The list of all exchanges; `test_exchanges.py` runs each of them in every mode."""

from tests.contract import (
    exchanges_asking,
    exchanges_calls,
    exchanges_ends,
    exchanges_hostile,
    exchanges_lifetime,
    exchanges_offers,
    exchanges_session,
    exchanges_tools,
    exchanges_trees,
)
from tests.contract.exchange import Exchange, Scene

SCENES: dict[str, Scene] = {**exchanges_session.SCENES, **exchanges_asking.SCENES}

EXCHANGES: tuple[Exchange, ...] = (
    *exchanges_session.EXCHANGES,
    *exchanges_calls.EXCHANGES,
    *exchanges_tools.EXCHANGES,
    *exchanges_hostile.EXCHANGES,
    *exchanges_offers.EXCHANGES,
    *exchanges_lifetime.EXCHANGES,
    *exchanges_trees.EXCHANGES,
    *exchanges_ends.EXCHANGES,
    *exchanges_asking.EXCHANGES,
)
