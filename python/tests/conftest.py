"""Scenes that several tests begin from."""

import pliant
import pytest


@pytest.fixture
def ball() -> pliant.Scene:
    """A ball of 2 kg and radius 0.1 m in free space, in steps of 0.01 s."""
    return pliant.parse("""
schema = 1
title = "A ball in free space"
[simulation]
time_step_s = 0.01
smoke_s = 0.1
gravity = [0, 0, 0]
[[bodies]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
mass = 2.0
""")


@pytest.fixture
def pendulum() -> pliant.Scene:
    """A double pendulum under its weight, in steps of 0.001 s."""
    return pliant.parse("""
schema = 1
title = "A double pendulum"
[simulation]
time_step_s = 0.001
smoke_s = 0.1
[[models]]
name = "pendulum"
file = "robots/double_pendulum.urdf"
""")
