"""Names of countries and of the states of the USA behind their codes: Texas for `TX`. Babel (CLDR) has the former."""

from functools import lru_cache
from typing import Any

_PAIRS = (
    "AL:Alabama AK:Alaska AZ:Arizona AR:Arkansas CA:California CO:Colorado CT:Connecticut DE:Delaware "
    "FL:Florida GA:Georgia HI:Hawaii ID:Idaho IL:Illinois IN:Indiana IA:Iowa KS:Kansas KY:Kentucky "
    "LA:Louisiana ME:Maine MD:Maryland MA:Massachusetts MI:Michigan MN:Minnesota MS:Mississippi "
    "MO:Missouri MT:Montana NE:Nebraska NV:Nevada NH:New_Hampshire NJ:New_Jersey NM:New_Mexico "
    "NY:New_York NC:North_Carolina ND:North_Dakota OH:Ohio OK:Oklahoma OR:Oregon PA:Pennsylvania "
    "RI:Rhode_Island SC:South_Carolina SD:South_Dakota TN:Tennessee TX:Texas UT:Utah VT:Vermont "
    "VA:Virginia WA:Washington WV:West_Virginia WI:Wisconsin WY:Wyoming "
)
_STATES = {pair[:2]: pair[3:] for pair in _PAIRS.split()}
_SHORT = {"USA": ("US", "America"), "US": ("USA", "America"), "UK": ("Britain",), "GB": ("UK", "Britain")}
_LONGER = {"USA": "US", "UK": "GB"}


@lru_cache(maxsize=512)
def region_names(code: str) -> tuple[str, ...]:
    """The names that a code of two or three capitals stands for; none for anything else."""
    if not (code.isalpha() and code.isupper() and 2 <= len(code) <= 3):
        return ()
    from babel import Locale

    territories: Any = Locale("en").territories  # typed as a mapping of bytes
    country = territories.get(_LONGER.get(code, code), "")
    others = _SHORT.get(code, ())
    return tuple(name.replace("_", " ") for name in (_STATES.get(code, ""), country, *others) if name)
