"""Known answers, and the same numbers by every way of running a scene."""

import gc
import signal
import threading
import weakref
from pathlib import Path

import numpy as np
import pliant
import pytest

FALLING = """
schema = 1
title = "A box falls"
description = "It falls freely, then lies on the ground."
[simulation]
time_step_s = 0.002
smoke_s = 0.2
full_s = 0.2
[[fixed]]
name = "ground"
shape = { half_space = {} }
[[bodies]]
name = "box"
shape = { box = { size = [0.2, 0.2, 0.1] } }
mass = 1.0
pose = { position = [0, 0, 1] }
"""


def falling(folder: Path) -> pliant.Scene:
    path = folder / "falling.toml"
    path.write_text(FALLING)
    return pliant.load(path)


def test_scene_of_dictionaries_is_that_of_its_text() -> None:
    box = {"name": "box", "shape": {"box": {"size": np.array([0.2, 0.2, 0.1])}}, "mass": 1.0, "pose": {"position": (0, 0, 1)}}
    tables = {
        "schema": 1,
        "title": 'A "box" falls\n',
        "parameters": {"half": np.float64(0.5)},
        "simulation": {"time_step_s": 0.002, "smoke_s": 0.2, "gravity": ["2*half - 1", 0, -9.81]},
        "fixed": [{"name": "ground", "shape": {"half_space": {}}}],
        "bodies": [box, {**box, "name": "other", "pose": {"position": [1, 0, 1]}}],
    }
    scene = pliant.parse(tables)
    assert scene.title == tables["title"] and scene.parameters == {"half": 0.5}
    simulation, by_text = scene.simulation(), pliant.parse(FALLING).simulation()
    for either in (simulation, by_text):
        either.step(10)
    assert simulation.bodies == ("box", "other")
    assert simulation.positions("box").tobytes() == by_text.positions("box").tobytes()
    with pytest.raises(TypeError, match=r"bodies\[0\].mass is None; a scene has numbers"):
        pliant.parse({"schema": 1, "bodies": [{"mass": None}]})
    with pytest.raises(pliant.SceneError, match="did you mean `mass`"):
        pliant.parse({**tables, "bodies": [{**box, "mas": 1}]})


def test_free_fall_is_that_of_the_implicit_step(tmp_path: Path) -> None:
    simulation = falling(tmp_path).simulation()
    simulation.step(100)
    speeds = simulation.velocities("box")
    assert simulation.time == pytest.approx(0.2)
    assert np.abs(speeds).max() == pytest.approx(9.81 * 0.2, rel=1e-9)
    assert len(simulation.contacts) == 0


def test_box_slides_as_coulomb_says() -> None:
    run = pliant.load("box-on-incline").run()
    assert run.as_expected and len(run.expectations) == 4
    angle = np.deg2rad(30)
    expected = 9.81 * (np.sin(angle) - 0.4 * np.cos(angle))
    assert run["box.speed"][-1] == pytest.approx(expected * run.times[-1], rel=1e-3)


def test_parameters_change_the_outcome() -> None:
    stuck = pliant.load("box-on-incline", angle="20*deg").run(until=0.2)
    assert abs(stuck["box.speed"][-1]) < 1e-3


def test_contact_forces_carry_the_weight() -> None:
    simulation = pliant.load("box-on-incline", angle=0).simulation()
    simulation.step(50)
    contacts = simulation.contacts
    geometries = simulation.geometries
    a_is_plane = geometries[int(contacts["a"][0])].startswith("plane")
    on_box = contacts["force"].sum(axis=0) * (-1 if a_is_plane else 1)
    assert on_box == pytest.approx([0, 0, 9.81], abs=1e-3)
    assert not contacts.flags.writeable


def test_saved_state_goes_on_with_the_same_bits() -> None:
    scene = pliant.load("box-on-incline")
    first = scene.simulation()
    first.step(20)
    saved = first.save()
    first.step(20)
    second = scene.simulation()
    second.load(saved)
    second.step(20)
    assert first.save() == second.save()


def test_arrays_outlive_their_simulation() -> None:
    simulation = pliant.load("box-on-incline").simulation()
    q = simulation.positions("box")
    before = q.tobytes()
    simulation.step(5)
    del simulation
    assert q.tobytes() == before


def test_views_of_a_snapshot_share_its_memory_and_keep_it() -> None:
    simulation = pliant.load("box-on-incline").simulation()
    simulation.step(5)
    state = simulation.snapshot()
    q, v = state.positions("box"), state.velocities("box")
    assert q.tobytes() == simulation.positions("box").tobytes() and v.tobytes() == simulation.velocities("box").tobytes()
    assert q.ctypes.data == state.positions("box").ctypes.data and not q.flags.owndata and not q.flags.writeable
    before, owner = q.tobytes(), weakref.ref(q.base)
    with pytest.raises(pliant.ControlError, match="no body 'ball'; there are: box"):
        state.positions("ball")
    simulation.step(5)
    del simulation, state
    gc.collect()
    assert q.tobytes() == before
    # The owner of the memory lives exactly as long as views of it, parts included.
    part = q[:3]
    del q
    gc.collect()
    assert owner() is not None and part.tobytes() == before[:24]
    del part
    gc.collect()
    assert owner() is None


def test_controller_changes_the_outcome() -> None:
    scene = pliant.load("box-on-incline", angle=0, mu=0.4)

    def push(simulation: pliant.Simulation) -> None:
        simulation.set_load("box", force=(0.4 * 9.81 + 1.0, 0, 0))

    free, pushed = scene.run(until=0.2), scene.run(until=0.2, on_step=push)
    assert abs(free["box.speed"][-1]) < 1e-6
    # 1 N beyond friction on 1 kg.
    assert pushed["box.speed"][-1] == pytest.approx(0.2, rel=0.02)


def test_stepping_gives_the_numbers_of_a_run() -> None:
    scene = pliant.load("box-on-incline")
    seen: list[bytes] = []
    scene.run(until=0.1, on_step=lambda simulation: seen.append(simulation.save()))
    simulation = scene.simulation()
    for state in seen:
        assert simulation.save() == state
        simulation.step()


def test_observables_are_those_of_a_run() -> None:
    scene = pliant.load("box-on-incline")
    run = scene.run(until=0.1)
    simulation = scene.simulation()
    simulation.step(50)
    assert set(simulation.observables) == set(run.table)
    assert all(simulation.observables[name] == run[name][-1] for name in run.table)


def test_errors_have_types_and_the_text_of_the_library(tmp_path: Path) -> None:
    with pytest.raises(pliant.SceneError, match="did you mean `box-stack`"):
        pliant.load("box-stak")
    with pytest.raises(pliant.SceneError, match="must look like name=value"):
        pliant.load("box-stack", keys={"": 1.0})
    simulation = falling(tmp_path).simulation()
    with pytest.raises(pliant.StateError, match="not a state"):
        simulation.load(b"{")
    with pytest.raises(pliant.StateError, match="10 bodies"):
        simulation.load(pliant.load("box-stack").simulation().save())
    with pytest.raises(pliant.ControlError, match="the body has 6 velocities"):
        simulation.set_control("box", effort=[1.0])
    with pytest.raises(pliant.ControlError, match="no body 'ball'; there are: box"):
        simulation.positions("ball")
    with pytest.raises(ValueError, match="until"):
        falling(tmp_path).run(until=-1.0)


def test_control_c_ends_a_run() -> None:
    # A shell starts background jobs with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            pliant.load("box-on-incline").run(until=1e4)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_image_has_colours_and_depths() -> None:
    simulation = pliant.load("box-on-incline", angle=0).simulation()
    image = simulation.image((5, 3), eye=[0, 0, 2], fov=0.1)
    assert image.colors.shape == (3, 5, 3) and image.depth.shape == (3, 5)
    # The box is 0.1 m high and orange.
    assert image.depth[:, 1:-1] == pytest.approx(1.9, abs=1e-4) and image.depth[1, 0] == pytest.approx(2.0, abs=1e-6)
    red, _, blue = image.colors[1, 2]
    assert red > 2 * blue and not image.colors.flags.writeable
    assert simulation.image().colors.shape == (240, 320, 3)
    with pytest.raises(pliant.ControlError, match="no camera 'top'; there are: main, beside-the-box".replace("'", '"')):
        simulation.image(camera="top")
    with pytest.raises(pliant.ControlError, match="either a camera of the scene or an eye"):
        simulation.image(camera="main", eye=[0, 0, 1])
    with pytest.raises(pliant.ControlError, match="does not look anywhere"):
        simulation.image(eye=[0, 0, 0])


def test_replay_is_a_page(tmp_path: Path) -> None:
    pliant.load("box-on-incline").run(until=0.05).save_replay(tmp_path / "replay.html")
    assert (tmp_path / "replay.html").read_text().lstrip().lower().startswith("<!doctype html")
    with pytest.raises(pliant.RecordingError):
        pliant.load("box-on-incline").run(until=0.01).save_csv(tmp_path / "none" / "table.csv")


@pytest.mark.parametrize("name", ["box-on-incline", "rolling-sphere"])
def test_bundled_scenes_are_listed(name: str) -> None:
    assert name in pliant.scene_names()
