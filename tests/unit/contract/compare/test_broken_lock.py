"""What is told of a lock that is not whole: a way out that the commands go along with."""

import datetime as dt

import pytest
from tests.unit.contract.compare.surfaces import snapshot

from holdfast.contract.canonical import canonical_json
from holdfast.contract.compare.reading import UnreadableError
from holdfast.contract.lock import next_lock, read_lock

WHOLE = canonical_json(next_lock(None, snapshot(None), [], dt.date(2020, 1, 1)).to_document())


@pytest.mark.parametrize(
    "data",
    [b"", WHOLE.replace(b"{\n", b"{\n<<<<<<< HEAD\n", 1), WHOLE.replace(b"1.0.0", b"1.0.1"), WHOLE[:-9]],
    ids=["empty", "merged", "edited", "cut"],
)
@pytest.mark.parametrize("name", ["contracts/shop.lock.json", "agreed.json"])
def test_a_broken_lock_is_not_told_to_be_written_by_a_command_that_refuses_it(name: str, data: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_lock(data, name)
    assert "git checkout" in caught.value.remedy
    assert "snapshot" not in caught.value.remedy
