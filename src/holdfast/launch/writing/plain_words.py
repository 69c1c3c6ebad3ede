"""The words that a sentence may gain without saying anything new: those that hold other words together.

None of them is an ability, a quality, a number, a negation or a degree of certainty.
"""

__all__ = ["PLAIN_WORDS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN_WORDS = _words(
    """
    a an the this that these those it its itself they them their there here you your we our us one ones
    to for with within when whenever where while once after before during if whether as by in into on onto at from
    of off over under between among through across against about per via out up down near
    and or but so also too then thus hence therefore however though although because since both either
    other others another some such same which who whom whose what how why than rather namely
    is are be been being am do does done has have having
    use uses used using call calls called calling see seen note say said name named mean means come comes
    make makes made making give gives given giving get gets getting go goes find found know known look put
    way ways thing things case cases part parts kind kinds example examples place turn
    instead otherwise besides moreover further furthermore together again now next short brief briefly
    likewise similarly accordingly respectively
    """
)
