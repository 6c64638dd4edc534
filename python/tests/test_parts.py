"""Quantities, contact laws, materials and force fields that are written in Python, against known answers."""

import numpy as np
import pliant
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]

SLIDING = """
schema = 1
title = "A box slides"
[simulation]
time_step_s = 0.002
smoke_s = 1.0
[contact]
MODEL
[[fixed]]
name = "floor"
shape = { half_space = {} }
[[bodies]]
name = "box"
shape = { box = { size = [0.2, 0.2, 0.1] } }
mass = 1.0
pose = { position = [0, 0, 0.05] }
velocity = [1, 0, 0]
"""

OBSERVED = """
[[observables]]
name = "value"
quantity = "QUANTITY"
"""

CUBE = """
schema = 1
title = "A cube of foam under its own weight"
[simulation]
time_step_s = 0.01
smoke_s = 0.5
[[fem]]
name = "cube"
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [2, 2, 2] } }
constitutive_material = { law = "LAW" }
element = "linear"
density = 300
stiffness_damping = 0.05
regions.base = { half_space = { point = [0, 0, -0.05], normal = [0, 0, 1] } }
fixed = [{ region = "base" }]
"""

HOOKE = 'law = "linear", youngs_modulus = 1e5, poissons_ratio = 0.25'


def sliding(model: str = "", more: str = "") -> str:
    return SLIDING.replace("MODEL", model) + more


def test_quantity_measures_the_energy() -> None:
    parts = pliant.Parts()

    @parts.quantity("lost", unit="J", initial=None, factor=1.0)
    def lost(snapshot: pliant.Snapshot, initial: float, factor: float) -> float:
        return factor * (initial - snapshot.energy[0])

    observed = OBSERVED.replace("QUANTITY", "lost") + "initial = 0.5\n"
    run = pliant.parse(sliding(more=observed), parts=parts).run()
    assert run.units["value"] == "J"
    # All of m v²/2 is lost where the box has stopped.
    assert run["value"][0] == pytest.approx(0.0) and run["value"][-1] == pytest.approx(0.5, abs=1e-6)
    scaled = pliant.parse(sliding(more=observed + "factor = 2\n"), parts=parts).run()
    assert scaled["value"] == pytest.approx(2 * run["value"])
    with pytest.raises(pliant.SceneError, match="initial"):
        pliant.parse(sliding(more=OBSERVED.replace("QUANTITY", "lost")), parts=parts)


def test_quantity_sees_positions_velocities_and_contacts() -> None:
    parts = pliant.Parts()
    seen: list[tuple[float, float, float, int]] = []

    @parts.quantity("seen")
    def look(snapshot: pliant.Snapshot) -> float:
        q, v = snapshot.positions("box"), snapshot.velocities("box")
        seen.append((snapshot.time, q[2], v[3], len(snapshot.contacts)))
        return snapshot.time

    run = pliant.parse(sliding(more=OBSERVED.replace("QUANTITY", "seen")), parts=parts).run(until=0.1)
    assert run["value"] == pytest.approx(run.times)
    assert seen[0] == (0.0, 0.05, 1.0, 0) and seen[-1][3] == 4


def test_exception_of_a_part_is_raised_by_the_step() -> None:
    parts = pliant.Parts()

    @parts.quantity("broken")
    def broken(snapshot: pliant.Snapshot) -> float:
        raise LookupError("no such thing")

    scene = pliant.parse(sliding(more=OBSERVED.replace("QUANTITY", "broken")), parts=parts)
    with pytest.raises(LookupError, match="no such thing"):
        scene.run(until=0.1)
    scene.simulation().step()  # measures nothing


def lubricated(parts: pliant.Parts) -> None:
    @parts.contact_law("lubricated", drag=None)
    class Film(pliant.ContactLaw):
        """A film of oil: no friction, and a drag of `drag` N·s/m in the contact plane."""

        def __init__(self, contact: pliant.Contact, drag: float) -> None:
            self.base = contact.lagged(0.0)
            n = contact.normal
            self.drag: Array = (np.eye(3) - np.outer(n, n)) * drag * contact.time_step

        def cost(self, v: Array) -> float:
            return self.base.cost(v) + 0.5 * float(v @ self.drag @ v)

        def impulse(self, v: Array) -> Array:
            return self.base.impulse(v) - self.drag @ v

        def hessian(self, v: Array) -> Array:
            return self.base.hessian(v) + self.drag


def test_contact_law_slows_a_box_as_oil_does() -> None:
    parts = pliant.Parts()
    lubricated(parts)
    scene = pliant.parse(sliding('model = "lubricated"\ndrag = 0.5'), parts=parts)
    simulation = scene.simulation()
    simulation.step(100)
    # Four corners: m dv/dt = −4 c v, by implicit steps.
    expected = (1 + 4 * 0.5 * 0.002) ** -100
    assert simulation.velocities("box")[3] == pytest.approx(expected, rel=1e-4)
    with pytest.raises(pliant.SceneError, match="lubricated"):
        pliant.parse(sliding('model = "lubricatd"'), parts=parts)


def test_exception_of_a_contact_law_is_raised() -> None:
    parts = pliant.Parts()

    @parts.contact_law("broken")
    class Broken(pliant.ContactLaw):
        def __init__(self, contact: pliant.Contact) -> None:
            self.base = contact.lagged()

        def cost(self, v: Array) -> float:
            return self.base.cost(v)

        def impulse(self, v: Array) -> Array:
            raise ZeroDivisionError("of the law")

        def hessian(self, v: Array) -> Array:
            return self.base.hessian(v)

    simulation = pliant.parse(sliding('model = "broken"'), parts=parts).simulation()
    with pytest.raises(ZeroDivisionError, match="of the law"):
        simulation.step()


class Hooke(pliant.Material):
    """Ψ = μ ε:ε + λ/2 tr(ε)², with E = 1e5 Pa and ν = 1/4."""

    lame = (4e4, 4e4)
    needs_positive_volume = False

    def energy_density(self, F: Array) -> float:
        e = (F + F.T) / 2 - np.eye(3)
        return float(self.lame[1] * np.sum(e * e) + self.lame[0] / 2 * np.trace(e) ** 2)

    def first_piola(self, F: Array) -> Array:
        e = (F + F.T) / 2 - np.eye(3)
        stress: Array = 2 * self.lame[1] * e + self.lame[0] * np.trace(e) * np.eye(3)
        return stress


def test_material_deforms_as_the_built_in_one() -> None:
    parts = pliant.Parts()
    parts.material("own-hooke")(Hooke)
    own = pliant.parse(CUBE.replace("LAW", "own-hooke"), parts=parts).simulation()
    built_in = pliant.parse(CUBE.replace('law = "LAW"', HOOKE)).simulation()
    for simulation in (own, built_in):
        simulation.step(20)
    q, expected = own.positions("cube"), built_in.positions("cube")
    sunk = np.abs(expected - pliant.parse(CUBE.replace('law = "LAW"', HOOKE)).simulation().positions("cube")).max()
    assert sunk > 5e-5 and np.abs(q - expected).max() < 1e-3 * sunk


def test_wrong_constants_of_a_material_are_refused() -> None:
    parts = pliant.Parts()

    @parts.material("negative")
    class Negative(Hooke):
        lame = (4e4, -1.0)

    with pytest.raises(pliant.SceneError, match="mu"):
        pliant.parse(CUBE.replace("LAW", "negative"), parts=parts)


class FixedCorotated(pliant.Material):
    """Ψ = μ Σ(σ − 1)² + λ/2 (J − 1)², with E = 1e5 Pa and ν = 1/4."""

    lame = (4e4, 4e4)

    def energy_density(self, F: Array) -> float:
        s = np.linalg.svd(F, compute_uv=False)
        return float(self.lame[1] * np.sum((s - 1) ** 2) + self.lame[0] / 2 * (np.prod(s) - 1) ** 2)

    def first_piola(self, F: Array) -> Array:
        U, s, Vt = np.linalg.svd(F)
        J = np.prod(s)
        stress: Array = U @ np.diag(2 * self.lame[1] * (s - 1) + self.lame[0] * (J - 1) * J / s) @ Vt
        return stress


BLOCK = """
schema = 1
title = "A block of material points sinks onto a floor"
[simulation]
time_step_s = 0.005
smoke_s = 0.05
[grid]
spacing = 0.1
[[fixed]]
name = "floor"
shape = { half_space = {} }
[[material_points]]
name = "block"
shape = { box = { size = [0.1, 0.1, 0.1] } }
density = 1000
pose = { position = [0, 0, 0.05] }
constitutive_material = { LAW }
[[observables]]
name = "flowed"
quantity = "plastic-strain"
of = "block"
"""


def test_material_points_deform_as_those_of_the_built_in_law() -> None:
    parts = pliant.Parts()
    parts.material("own")(FixedCorotated)
    own = pliant.parse(BLOCK.replace("LAW", 'law = "own"'), parts=parts).simulation()
    law = 'law = "fixed-corotated", youngs_modulus = 1e5, poissons_ratio = 0.25'
    built_in = pliant.parse(BLOCK.replace("LAW", law)).simulation()
    start = built_in.points("block")[0]
    for simulation in (own, built_in):
        simulation.step(10)
    sunk = built_in.points("block")[0] - start
    assert np.abs(sunk).max() > 1e-4
    assert own.points("block")[0] - start == pytest.approx(sunk, abs=1e-3 * float(np.abs(sunk).max()))
    assert np.isnan(own.observables["flowed"])


def test_plastic_flow_of_material_points() -> None:
    parts = pliant.Parts()

    @parts.material("fluid")
    class Fluid(FixedCorotated):
        """Only the volume is elastic."""

        def flow(self, F: Array, plastic_strain: float) -> tuple[Array, float]:
            kept = np.cbrt(np.linalg.det(F)) * np.eye(3)
            return kept, plastic_strain + float(np.linalg.norm(F - kept))

    flowing = pliant.parse(BLOCK.replace("LAW", 'law = "fluid"'), parts=parts).simulation()
    parts.material("solid")(FixedCorotated)
    solid = pliant.parse(BLOCK.replace("LAW", 'law = "solid"'), parts=parts).simulation()
    for simulation in (flowing, solid):
        simulation.step(10)
    assert flowing.observables["flowed"] > 1e-4
    # Without resistance to shear the block spreads and sinks more.
    assert flowing.points("block")[0][:, 2].mean() < solid.points("block")[0][:, 2].mean()


def test_error_in_plastic_flow_is_raised() -> None:
    parts = pliant.Parts()

    @parts.material("broken")
    class Broken(FixedCorotated):
        def flow(self, F: Array, plastic_strain: float) -> tuple[Array, float]:
            raise ZeroDivisionError("of the flow")

    simulation = pliant.parse(BLOCK.replace("LAW", 'law = "broken"'), parts=parts).simulation()
    with pytest.raises(ZeroDivisionError, match="of the flow"):
        simulation.step()


def test_default_tangent_is_symmetric_and_that_of_the_stress() -> None:
    tangent = Hooke().tangent(np.eye(3) + 0.1 * np.arange(9).reshape(3, 3))
    assert tangent == pytest.approx(tangent.transpose(2, 3, 0, 1))
    lam, mu = Hooke.lame
    d = np.eye(3)
    expected = lam * np.einsum("ij,kl->ijkl", d, d) + mu * (
        np.einsum("ik,jl->ijkl", d, d) + np.einsum("il,jk->ijkl", d, d)
    )
    assert tangent == pytest.approx(expected, abs=1.0)


def wind(time: float, p: Array, v: Array, m: Array) -> Array:
    return np.outer(m, [3.0, 0.0, 0.0])


ROD = """
[[rods]]
name = "soft"
section = { circle = { radius = 0.01 } }
youngs_modulus = 1e6
centreline = { curve = { edges = 5, point = ["0.05*n", 0, 0] } }
"""

SAND = """
[grid]
spacing = 0.05
[[material_points]]
name = "soft"
shape = { box = { size = [0.1, 0.1, 0.1] } }
constitutive_material = "pizza-dough"
"""


@pytest.mark.parametrize("soft", [ROD, SAND], ids=["rod", "material points"])
def test_field_accelerates_soft_bodies(soft: str) -> None:
    header = 'schema = 1\ntitle = "t"\n[simulation]\ntime_step_s = 0.01\nsmoke_s = 0.1\ngravity = [0, 0, 0]\n'
    simulation = pliant.parse(header + soft).simulation()
    simulation.set_field(wind)
    simulation.step(10)
    p, v, m = simulation.points("soft")
    assert p.shape == v.shape == (len(m), 3)
    assert m @ v / m.sum() == pytest.approx([3.0 * 0.1, 0.0, 0.0], abs=1e-9)


def test_field_is_felt_for_as_long_as_it_acts() -> None:
    text = sliding().replace("[0, 0, 0.05]", "[0, 0, 5]").replace("velocity = [1, 0, 0]", "")
    scene = pliant.parse(text.replace("smoke_s", "gravity = [0, 0, 0]\nsmoke_s"))
    simulation = scene.simulation()
    simulation.set_field(wind)
    simulation.step(50)
    assert simulation.velocities("box")[3] == pytest.approx(3.0 * 0.1)
    saved = simulation.save()
    simulation.step(10)
    other = scene.simulation()
    other.load(saved)
    other.set_field(wind, ["box"])
    other.step(10)
    assert other.save() == simulation.save()
    without = scene.simulation()
    without.load(saved)
    without.step(10)
    assert without.velocities("box")[3] == pytest.approx(3.0 * 0.1)


def test_field_stands_beside_other_loads() -> None:
    text = sliding().replace("smoke_s", "gravity = [0, 0, 0]\nsmoke_s").replace("[0, 0, 0.05]", "[0, 0, 5]")
    simulation = pliant.parse(text).simulation()
    simulation.set_field(wind)
    simulation.set_field(wind)
    simulation.set_load("box", force=(0, 1, 0))
    simulation.step(50)
    assert simulation.velocities("box")[3:5] == pytest.approx([1.0 + 6.0 * 0.1, 1.0 * 0.1])


def test_field_acts_on_a_soft_body_as_gravity_does() -> None:
    still = CUBE.replace('law = "LAW"', HOOKE).replace("smoke_s", "gravity = [0, 0, 0]\nsmoke_s")
    pulled, weighed = pliant.parse(still).simulation(), pliant.parse(CUBE.replace('law = "LAW"', HOOKE)).simulation()
    pulled.set_field(lambda time, p, v, m: np.outer(m, [0, 0, -9.81]))
    pulled.step(10)
    weighed.step(10)
    assert pulled.positions("cube") == pytest.approx(weighed.positions("cube"), abs=1e-12)


@pytest.mark.parametrize(
    ("force", "message"),
    [(np.zeros(3), "has shape"), (np.full((1, 3), np.nan), "must be finite")],
)
def test_wrong_forces_of_a_field_are_refused(force: Array, message: str) -> None:
    simulation = pliant.parse(sliding()).simulation()
    simulation.set_field(lambda *_: force)
    with pytest.raises(pliant.ControlError, match=message):
        simulation.step()
