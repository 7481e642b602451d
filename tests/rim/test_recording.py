"""A complaint is one printable line of bounded length, whatever it quotes."""

import pytest

from analyzer.sources.recording import Complaint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("this is no valid JSON.", "this is no valid JSON."),
        ('the key "schlüssel" is twice.', 'the key "schlüssel" is twice.'),
        ("two\n  lines\tand a tab", "two lines and a tab"),
        ("a \x1b[2J steers \x07 terminals \ud800", "a ?[2J steers ? terminals ?"),
    ],
)
def test_what_is_not_for_printing_is_not_printed(text: str, said: str) -> None:
    assert Complaint(3, text).text == said


def test_a_long_word_is_cut_in_the_middle() -> None:
    text = Complaint(0, f"the job {'9' * 100_000} is left out.").text
    assert len(text) < 320
    assert text.startswith("the job 999")
    assert text.endswith("999 is left out.")
