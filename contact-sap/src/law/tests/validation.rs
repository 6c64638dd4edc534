//! Rejection of invalid parameters.

use nalgebra::Vector3;

use super::{models, parameters};
use crate::law::*;

#[test]
fn each_bad_number_is_rejected_by_name() {
    let good = parameters(-1e-3, 1e4);
    let nan = f64::NAN;
    for (p, named) in [
        (
            ContactParameters {
                friction: -0.1,
                ..good
            },
            "friction",
        ),
        (
            ContactParameters {
                friction: nan,
                ..good
            },
            "friction",
        ),
        (
            ContactParameters {
                stiffness: -1.0,
                ..good
            },
            "stiffness",
        ),
        (
            ContactParameters {
                stiffness: nan,
                ..good
            },
            "stiffness",
        ),
        (
            ContactParameters {
                signed_distance: nan,
                ..good
            },
            "signed distance",
        ),
        (
            ContactParameters {
                inverse_inertia: 0.0,
                ..good
            },
            "inverse inertia",
        ),
        (
            ContactParameters {
                stiction_speed: 0.0,
                ..good
            },
            "stiction speed",
        ),
        (
            ContactParameters {
                time_step: 0.0.into(),
                ..good
            },
            "time step",
        ),
        (
            ContactParameters {
                dissipation: Dissipation::HuntCrossley(-1.0),
                ..good
            },
            "dissipation",
        ),
        (
            ContactParameters {
                dissipation: Dissipation::RelaxationTime(nan),
                ..good
            },
            "relaxation",
        ),
    ] {
        let error = p.validate(|| "contact 7".into()).unwrap_err().to_string();
        assert!(
            error.contains(named) && error.contains("contact 7"),
            "{error}"
        );
    }
    // Laws made from unvalidated parameters are rejected by their own validation.
    for p in [
        ContactParameters {
            friction: -0.1,
            ..good
        },
        ContactParameters {
            friction: nan,
            ..good
        },
        ContactParameters {
            stiffness: -1.0,
            ..good
        },
        ContactParameters {
            stiffness: nan,
            inverse_inertia: nan,
            ..good
        },
        ContactParameters {
            signed_distance: nan,
            ..good
        },
        ContactParameters {
            inverse_inertia: 0.0,
            stiffness: f64::INFINITY,
            ..good
        },
        ContactParameters {
            time_step: nan.into(),
            ..good
        },
    ] {
        for law in models(&p, Vector3::z(), 0.3) {
            assert!(law.validate(String::new).is_err(), "{law:?} from {p:?}");
        }
    }
    for law in models(&good, Vector3::z() * 1.01, 0.3) {
        let error = law.validate(String::new).unwrap_err().to_string();
        assert!(error.contains("normal"), "{error}");
    }
    assert!(
        Lagged::new(&good, Vector3::z(), nan)
            .impulse(&Vector3::x())
            .x
            .is_nan()
    );
    let law = ContactLaw::Lagged(Lagged::new(&good, Vector3::z(), nan));
    assert!(law.validate(String::new).is_err());
}
