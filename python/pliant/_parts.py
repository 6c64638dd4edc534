"""Materials, contact laws and quantities written in Python, which scenes name as they name built-in ones.

They are for study: each call costs some microseconds, where a built-in part takes nanoseconds. A program that needs speed registers its
parts in Rust (docs/tutorials).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _pliant
from ._arrays import Array, unpacked

Class = TypeVar("Class", bound=type[Any])
Function = TypeVar("Function", bound=Callable[..., float])
Default = float | None


class Snapshot:
    """A state and the contacts of the step that led to it, for quantities. Arrays are read-only copies."""

    def __init__(self, raw: _pliant.Snapshot) -> None:
        self._raw = raw
        self._bodies = {name: index for index, name in enumerate(raw.bodies())}

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._raw.time

    @property
    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy of everything, J."""
        return self._raw.kinetic_energy, self._raw.potential_energy

    def positions(self, body: str) -> Array:
        """Generalised positions q of a body, shape (n_q,)."""
        return unpacked(self._raw.positions(self._bodies[body]))

    def velocities(self, body: str) -> Array:
        """Generalised velocities v of a body, shape (n_v,)."""
        return unpacked(self._raw.velocities(self._bodies[body]))

    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last step, of dtype `CONTACT`; none at the start."""
        from ._simulation import CONTACT

        return np.frombuffer(self._raw.contacts(), CONTACT)


class Contact:
    """One contact of a step, as its law depends on it."""

    def __init__(self, raw: _pliant.ContactInputs) -> None:
        self._raw = raw
        self.normal: Array = np.array(raw.normal)
        """Unit normal from b into a, world axes."""
        self.time_step: float = raw.time_step
        """s."""
        self.signed_distance: float = raw.signed_distance
        """At the start of the step, m, negative in penetration."""
        self.start_velocity: float = raw.start_velocity
        """Normal velocity at the start of the step, m/s."""
        self.stiffness: float = raw.stiffness
        """N/m; may be infinite."""
        self.friction: float = raw.friction
        """Coefficient of friction."""
        self.stiction_speed: float = raw.stiction_speed
        """Slip below which a contact sticks, m/s."""
        self.inverse_inertia: float = raw.inverse_inertia
        """1/kg."""
        self.normal_impulse: float = raw.normal_impulse
        """Predicted normal impulse of the step, N·s: the friction bound is μ times it."""

    def lagged(self, normal_impulse: float | None = None) -> "BuiltInLaw":
        """The built-in law with friction bound μ times `normal_impulse` (N·s), by default the predicted one; 0 is without friction."""
        return BuiltInLaw(self._raw.lagged(self.normal_impulse if normal_impulse is None else normal_impulse))


class ContactLaw(ABC):
    """The law of one contact point: a convex potential of the contact velocity v (m/s, world axes, of a relative to b).

    `Parts.contact_law` registers a class whose instances are made from a `Contact` and the numbers of its keys.
    """

    @abstractmethod
    def cost(self, v: Array) -> float:
        """ℓ(v), J."""

    @abstractmethod
    def impulse(self, v: Array) -> Array:
        """γ = −∂ℓ/∂v, N·s, shape (3,)."""

    @abstractmethod
    def hessian(self, v: Array) -> Array:
        """∂²ℓ/∂v², kg, shape (3, 3), symmetric and positive semidefinite."""


class BuiltInLaw(ContactLaw):
    """The lagged law of the library, for laws that add to it."""

    def __init__(self, raw: _pliant.ContactLaw) -> None:
        self._raw = raw

    def cost(self, v: Array) -> float:
        return self._raw.cost(v.tolist())

    def impulse(self, v: Array) -> Array:
        return np.array(self._raw.impulse(v.tolist()))

    def hessian(self, v: Array) -> Array:
        return np.array(self._raw.hessian(v.tolist()))


class Material(ABC):
    """A material of `[[fem]]` and `[[material_points]]`; F is the elastic deformation gradient, shape (3, 3).

    `Parts.material` registers a class whose instances are made from the numbers of its keys.
    """

    lame: tuple[float, float]
    """λ and μ of Hooke's law at small strain, Pa."""
    needs_positive_volume: bool = True
    """Whether the law is defined only for det F > 0."""

    @abstractmethod
    def energy_density(self, F: Array) -> float:
        """Ψ(F), J per m³ of rest volume; zero at rest."""

    @abstractmethod
    def first_piola(self, F: Array) -> Array:
        """P = ∂Ψ/∂F, Pa, shape (3, 3)."""

    def tangent(self, F: Array) -> Array:
        """∂P/∂F, Pa, shape (3, 3, 3, 3): [i, j, k, l] is ∂P_ij/∂F_kl. By central differences unless overridden."""
        h = 6e-6 * max(1.0, float(np.abs(F).max()))
        columns = np.empty((3, 3, 3, 3))
        for k, l in np.ndindex(3, 3):
            step = np.zeros((3, 3))
            step[k, l] = h
            columns[:, :, k, l] = (self.first_piola(F + step) - self.first_piola(F - step)) / (2 * h)
        # The tangent is the second derivative of Ψ.
        symmetric: Array = (columns + columns.transpose(2, 3, 0, 1)) / 2
        return symmetric

    def flow(self, F: Array, plastic_strain: float) -> tuple[Array, float]:
        """Plastic flow at the end of a step, of material points only: F and the accumulated plastic strain after it, from both before.

        None unless overridden.
        """
        return F, plastic_strain


class Parts:
    """Parts written in Python, by the names that scenes use; pass it to `load` or `parse`.

    An exception in a part ends the step or the reading of the scene and is raised there.

    >>> parts = pliant.Parts()
    >>> @parts.quantity("kinetic", unit="J")
    ... def kinetic(snapshot): return snapshot.energy[0]
    """

    def __init__(self) -> None:
        self._raw = _pliant.Parts()

    def quantity(self, name: str, *, unit: str = "", **keys: Default) -> Callable[[Function], Function]:
        """Registers a function from a `Snapshot` and the numbers of `keys` to a number, for `[[observables]] quantity = name`.

        Each key has its default, or None if scenes must give it. NaN stands for no value.
        """

        def register(measure: Function) -> Function:
            self._raw.quantity(name, unit, list(keys.items()), lambda raw, **given: measure(Snapshot(raw), **given))
            return measure

        return register

    def contact_law(self, name: str, **keys: Default) -> Callable[[Class], Class]:
        """Registers a class of `ContactLaw`, made from a `Contact` and the numbers of `keys`, for `[contact] model = name`."""

        def register(law: Class) -> Class:
            def make(raw: _pliant.ContactInputs, **given: float) -> list[Callable[..., Any]]:
                made: ContactLaw = law(Contact(raw), **given)
                return [
                    lambda *v: float(made.cost(np.array(v))),
                    lambda *v: np.asarray(made.impulse(np.array(v)), np.float64).tolist(),
                    lambda *v: np.asarray(made.hessian(np.array(v)), np.float64).tolist(),
                ]

            self._raw.contact_law(name, list(keys.items()), make)
            return law

        return register

    def material(self, name: str, **keys: Default) -> Callable[[Class], Class]:
        """Registers a class of `Material`, made from the numbers of `keys`, for `constitutive_material = { law = name, ... }`."""

        def register(material: Class) -> Class:
            def make(**given: float) -> tuple[Any, ...]:
                made: Material = material(**given)
                return (
                    *map(float, made.lame),
                    made.needs_positive_volume,
                    lambda F: float(made.energy_density(np.array(F))),
                    lambda F: np.asarray(made.first_piola(np.array(F)), np.float64).tolist(),
                    lambda F: _columns(made.tangent(np.array(F))),
                    None if type(made).flow is Material.flow else lambda F, strain: _flowed(made, F, strain),
                )

            self._raw.material(name, list(keys.items()), make)
            return material

        return register


def _flowed(material: Material, F: list[list[float]], strain: float) -> tuple[list[list[float]], float]:
    kept, strain = material.flow(np.array(F), strain)
    rows: list[list[float]] = np.asarray(kept, np.float64).tolist()
    return rows, float(strain)


def _columns(tangent: Array) -> list[list[float]]:
    """The derivative for each entry of F, both matrices column by column."""
    columns: list[list[float]] = np.asarray(tangent, np.float64).transpose(3, 2, 1, 0).reshape(9, 9).tolist()
    return columns
