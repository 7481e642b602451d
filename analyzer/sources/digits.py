"""Numbers written as digits, as far as they are numbers: what stands in a broken file is not to be trusted."""

_DIGITS_MAX = 18


def is_whole(text: str) -> bool:
    """Whether the text is a whole number that fits into 64 bits, written in plain digits alone.

    `str.isdigit` is true of digits that `int` refuses, and `int` refuses texts of thousands of digits.
    """
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
