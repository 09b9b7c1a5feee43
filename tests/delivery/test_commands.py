"""`manage.py delivery`: render and check without a cluster."""

import json
from io import StringIO

import pytest
import yaml
from django.core.management import CommandError, call_command

from apps.delivery.management.commands.delivery import subcommand_modules
from tests.delivery.rows import make_app, make_environment

pytestmark = pytest.mark.django_db


def run(*arguments):
    output = StringIO()
    call_command("delivery", *arguments, stdout=output)
    return output.getvalue()


def test_every_part_has_its_help():
    modules = subcommand_modules()
    assert {"render", "check"} <= modules.keys()
    assert all(module.__doc__ and callable(module.handle) for module in modules.values())


def test_yaml_and_json_hold_the_same_objects():
    make_environment(make_app(writable_paths=["/run"]))
    objects = json.loads(run("render", "loja", "--format", "json"))
    assert list(yaml.safe_load_all(run("render", "loja"))) == objects
    assert objects[0]["kind"] == "Namespace"


def test_an_environment_and_a_digest_can_be_named():
    make_environment(make_app(), name="staging")
    text = run("render", "loja", "--environment", "staging", "--digest", "sha256:" + "cd" * 32)
    assert "namespace: loja-staging" in text
    assert "registry.example/team/loja@sha256:cdcd" in text


def test_an_unknown_app_is_one_line():
    with pytest.raises(CommandError, match="no environment 'main'"):
        run("render", "nope")


def test_a_sound_app_passes_the_check():
    make_environment()
    assert run("check", "loja") == ""


def test_findings_are_lines_and_errors_fail(settings):
    make_environment(make_app(pod_security="baseline"))
    assert "not-restricted" in run("check", "loja")
    with pytest.raises(CommandError, match="image_ref"):
        run("check", "loja", "--digest", "a\nb")
