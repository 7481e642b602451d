"""Kubernetes quantities ("500m", "64Gi", "1e3") as whole numbers, rounded up as the scheduler rounds them.

Source: apimachinery `resource.Quantity` (`MilliValue` for cpu, `Value` for all else; both round up).
"""

from fractions import Fraction

_FACTORS: dict[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}

_EXPONENT_MAX = 40
"""Beyond any amount that a machine can have; also what keeps "1e999999999" from being computed."""


def _exact(text: str) -> Fraction:
    text = text.strip()
    end = len(text)
    while end and text[end - 1].isalpha():
        end -= 1
    digits, suffix = text[:end], text[end:]
    for letter in "eE":
        mantissa, sign, exponent = digits.partition(letter)
        if sign and not suffix:
            power = int(exponent)
            if abs(power) > _EXPONENT_MAX:
                raise ValueError(text)
            return Fraction(mantissa) * Fraction(10) ** power
    if "/" in digits or "_" in digits or "e" in digits or "E" in digits:
        raise ValueError(text)
    return Fraction(digits) * _FACTORS[suffix]


def _rounded_up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


_AMOUNTS: dict[tuple[bool, str], int] = {}
_AMOUNTS_MAX = 50_000


def units(kind: str, quantity: str | float) -> int:
    """How many units of this kind: thousandths of a core for `cpu` (also `requests.cpu`), else whole ones.

    What cannot be read, or is negative, counts as 0: less asked for means more silent.
    """
    milli = kind == "cpu" or kind.endswith(".cpu")
    text = quantity if isinstance(quantity, str) else str(quantity)
    key = (milli, text)
    found = _AMOUNTS.get(key)
    if found is None:
        try:
            found = max(0, _rounded_up(_exact(text) * (1000 if milli else 1)))
        except (ValueError, KeyError, ZeroDivisionError):
            found = 0
        if len(_AMOUNTS) < _AMOUNTS_MAX:
            _AMOUNTS[key] = found
    return found
