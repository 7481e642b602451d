"""Settings: what is meant, and one sentence with file and key for what cannot be."""

from pathlib import Path

import pytest

from exporters.config import ConfigError, Settings, read_settings, sections, settings_page


def written(folder: Path, text: str) -> Path:
    path = folder / "exporter.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, "")) == Settings()


def test_what_stands_in_the_file_counts(tmp_path: Path) -> None:
    settings = read_settings(
        written(tmp_path, '[web]\nlisten = "127.0.0.1:1"\n[collect]\non = ["ethtool"]\ninterval_s = 15\n')
    )
    assert settings.web.listen == "127.0.0.1:1"
    assert settings.collect.on == ("ethtool",)
    assert settings.collect.interval_s == 15.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[web]\nlistn = ":1"', "web.listn is no key of ours; did you mean listen?"),
        ("[webb]", "webb is no key of ours; did you mean web?"),
        ("[web]\nzzz = 1", "web.zzz is no key of ours; known are listen, config_file"),
        ("[web]\nlisten = 1", "web.listen: expected `str`, got `int`."),
        ("[collect]\non = [1]", "collect.on[0]: expected `str`, got `int`."),
        ("[collect]\ninterval_s = 0", "collect.interval_s is 0.0, and has to be above 0."),
        ("[limit]\nseries_max = -1", "limit.series_max is -1, and has to be above 0."),
        ("[collect]\ninterval_s = nan", "collect.interval_s is nan, and has to be above 0."),
        ("[web\n", "(at line 1"),
        ("web = 3", "web: expected `object`, got `int`."),
    ],
)
def test_what_cannot_be_meant_is_one_sentence_with_the_file(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        read_settings(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="absent cannot be read: no such file or directory"):
        read_settings(tmp_path / "absent")
    (tmp_path / "exporter.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is not a text in UTF-8"):
        read_settings(tmp_path / "exporter.toml")


def test_every_key_is_documented() -> None:
    page = settings_page()
    keys = [key for _, section in sections() for key in section.__struct_fields__]
    assert [key for key in keys if f"| `{key}` |" not in page] == []
