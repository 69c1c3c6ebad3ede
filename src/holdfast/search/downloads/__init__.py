"""Models, dictionaries and SQLite extensions from elsewhere: fetched, verified, unpacked with care, and noted.

Nothing here runs what it fetched, except `verify_extensions`, which is asked to. Nothing is fetched unasked.
"""

from holdfast.search.downloads.dictionaries import download_dictionaries
from holdfast.search.downloads.extensions import download_extensions
from holdfast.search.downloads.models import download_models
from holdfast.search.downloads.verify import verify_extensions

__all__ = ["download_dictionaries", "download_extensions", "download_models", "verify_extensions"]
