"""Ways to get stuck that other objects than pods and quotas tell of, one file each; `MECHANISMS` lists them.

Each sees what it asks for and says, whenever it is looked at, all that it has to say (`Look` in `mechanism.py` one
folder up): actors of its own, units, and burdens on pods. None knows another.
"""

from collections.abc import Callable

from analyzer.sources.kubernetes.mechanism import Mechanism

MECHANISMS: tuple[Callable[[], Mechanism], ...] = ()
"""Each of them, to be made anew for every cluster."""
