"""Settings: file, environment, and what cannot be read."""

import tomllib
from pathlib import Path

import pytest

from kilonova.settings import Settings, SettingsError, load, render


def test_what_is_printed_reads_back_as_the_same_settings(tmp_path: Path):
    path = tmp_path / "kilonova.toml"
    path.write_text(render(Settings()))

    assert load(path, {}) == Settings()


def test_the_environment_wins_over_the_file(tmp_path: Path):
    path = tmp_path / "kilonova.toml"
    path.write_text('[quota]\ninstances = 3\n[fake]\ntraits = ["A", "B"]\n')
    settings = load(path, {"KILONOVA_QUOTA__INSTANCES": "7", "KILONOVA_COMPUTE__FORCE_CONFIG_DRIVE": "true", "HOME": "/"})

    assert settings.quota.instances == 7
    assert settings.compute.force_config_drive is True
    assert settings.fake.traits == ("A", "B")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[quotas]\n", "quotas"),
        ("[quota]\ninstance = 3\n", "instance"),
        ("[quota]\ninstances = true\n", "instances"),
        ('[api]\nport = "http"\n', "port"),
        ("[api\n", "kilonova.toml"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, named: str):
    path = tmp_path / "kilonova.toml"
    path.write_text(text)

    with pytest.raises(SettingsError, match=named):
        load(path, {})


def test_every_setting_says_what_it_means():
    printed = render(Settings())

    assert printed.count("\n# ") >= sum(len(section) for section in tomllib.loads(printed).values())
