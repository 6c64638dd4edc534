// The lagged contact law (Castro, Han, Masterjohn 2023): gamma = n(v_n) n - mu n0 v_t/sqrt(v_t^2 + eps^2), with
//
//   n = (a + s x)(g + d x),   x = release - v_n,   eps = max(v_s, mu sigma w n0)
//
// as in pliant-contact-sap; and the local solution of a contact, gamma = law(v + w (gamma - gamma_last)). By Coulomb's law n0 is the normal impulse of
// the same local solution.

fn impulse_at(force: vec4<f32>, d: f32, x: f32) -> f32 {
    return (force.y + force.z * x) * (force.w + d * x);
}

fn implicit_impulse(force: vec4<f32>, d: f32, w: f32, v_ref: f32, last: f32) -> f32 {
    let r = force.x - (v_ref - w * last);
    if !(r > 0.0) {
        return 0.0;
    }
    let p = w * force.z * d;
    let q = 1.0 + w * (force.y * d + force.z * force.w);
    return impulse_at(force, d, 2.0 * r / (q + sqrt(q * q + 4.0 * p * r)));
}

// The root t of t + a t/sqrt(t^2 + eps^2) = s: Newton's method from the left.
fn slip_speed(s: f32, a: f32, softening: f32) -> f32 {
    var t = max(s - a, s / (1.0 + a / softening));
    for (var i = 0; i < 20; i++) {
        let r = sqrt(t * t + softening * softening);
        let excess = t + a * t / r - s;
        t -= excess / (1.0 + a * softening * softening / (r * r * r));
        // A step that is short next to s may be long next to t where friction holds.
        if abs(excess) <= 1e-6 * s {
            break;
        }
    }
    return max(t, 0.0);
}

fn local_impulse(c: u32, w: f32, v: vec3<f32>, last: vec3<f32>) -> vec3<f32> {
    let normal = contacts[P.contacts_at + c].normal;
    let v_n = dot(normal, v);
    let last_n = dot(normal, last);
    let n = implicit_impulse(contacts[P.contacts_at + c].force, contacts[P.contacts_at + c].dissipation, w, v_n, last_n);
    let free = (v - normal * v_n) - (last - normal * last_n) * w;
    let speed = length(free);
    let bound = contacts[P.contacts_at + c].friction * n;
    if bound == 0.0 || speed == 0.0 {
        return normal * n;
    }
    let softening = max(P.stiction_speed, contacts[P.contacts_at + c].softening_per_impulse * n);
    let slip = slip_speed(speed, w * bound, softening);
    return normal * n - free * (bound * slip / (sqrt(slip * slip + softening * softening) * speed));
}
