"""Lists of algorithms: as text, and which collective has them."""

from __future__ import annotations

import pytest

from collsim.choose.predict import predict
from collsim.choose.specs import having, spec_list, split_specs
from collsim.core.cluster import Cluster
from collsim.errors import InputError, UnknownNameError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"),
        ("ring,,mst", "'ring,,mst'"),
        (",".join(["ring"] * 9) + ",", "'ring,ring,ring,ring,ring,ring,ring,ring,'..."),
    ],
)
def test_a_name_that_is_missing(text: str, shown: str) -> None:
    """What was given is shown, as far as it fits a line."""
    with pytest.raises(InputError) as caught:
        split_specs(text)
    assert str(caught.value) == f"got {shown}, expected names of algorithms"


@pytest.mark.parametrize("given", [[], ["ring", 3], 7])
def test_what_is_no_list_of_names(given: object) -> None:
    """None of them, a number among them, no list."""
    with pytest.raises(InputError, match=r"algorithms: got .*, expected names of some"):
        spec_list(given)


def test_options_that_no_collective_has() -> None:
    """The one that takes options says which."""
    with pytest.raises(UnknownNameError, match="option of all_to_all/bruck 'rdix'"):
        having(["bruck:rdix=8"])
    with pytest.raises(InputError, match="takes no options, got 'radix=8'"):
        having(["ring:radix=8"])


def test_nccls_tree_is_understood() -> None:
    """By its name there, wherever algorithms are typed; a protocol is no part of a name."""
    cluster = Cluster.ideal(8, "1us", "1GB/s")
    (row,) = predict("all_reduce", cluster, 1024, "tree").rows
    assert row.algorithm == "double_binary_tree"
    with pytest.raises(UnknownNameError, match="did you mean 'double_binary_tree'"):
        predict("all_reduce", cluster, 1024, "tree/ll")
