// Bending across an edge, as in pliant-mpm: -dE/dx of the ends of the edge and of the two vertices beside it, for their places relative to the first
// end. `numbers`: rest angle, stiffness, twice the areas at rest.
//
//   E = 1/2 c phi_1 phi_2 (theta - theta_0)^2
//
// Gradient of theta: Bridson, Marino, Fedkiw (2003); Tamstorf, Grinspun (2013).

// The angle of (x, y), by the polynomial of the Cephes library: `atan2` may err by 4096 units in the last place.
fn angle_of(y: f32, x: f32) -> f32 {
    let larger = max(abs(x), abs(y));
    if !(larger > 0.0) {
        return 0.0;
    }
    var t = min(abs(x), abs(y)) / larger;
    var angle = 0.0;
    if t > 0.41421356 {
        t = (t - 1.0) / (t + 1.0);
        angle = 0.78539816;
    }
    let z = t * t;
    angle += ((((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1) * z) * t + t;
    if abs(y) > abs(x) {
        angle = 1.57079633 - angle;
    }
    if x < 0.0 {
        angle = 3.14159265 - angle;
    }
    return select(angle, -angle, y < 0.0);
}

fn hinge_forces(edge: vec3<f32>, first: vec3<f32>, second: vec3<f32>, numbers: vec4<f32>) -> array<vec3<f32>, 4> {
    var forces = array<vec3<f32>, 4>();
    let size = length(edge);
    let n1 = cross(edge, first);
    let n2 = cross(second, edge);
    let squares = vec2<f32>(dot(n1, n1), dot(n2, n2));
    if !(size > 0.0 && squares.x > 0.0 && squares.y > 0.0) {
        return forces;
    }
    // Angle between the normals about the edge, less that at rest, in (-pi, pi].
    var bending = angle_of(dot(cross(n1, n2), edge), dot(n1, n2) * size) - numbers.x;
    if bending > 3.14159265 {
        bending -= 6.28318531;
    } else if bending <= -3.14159265 {
        bending += 6.28318531;
    }
    let phi1 = fading(sqrt(squares.x) / numbers.z);
    let phi2 = fading(sqrt(squares.y) / numbers.w);
    let moment = numbers.y * bending * phi1.x * phi2.x;
    let g1 = n1 * (-size / squares.x);
    let g2 = n2 * (-size / squares.y);
    let g_to = -(g1 * (dot(first, edge) / (size * size)) + g2 * (dot(second, edge) / (size * size)));
    forces[0] = (g1 + g2 + g_to) * moment;
    forces[1] = g_to * -moment;
    forces[2] = g1 * -moment;
    forces[3] = g2 * -moment;
    if phi1.x < 1.0 || phi2.x < 1.0 {
        // Twice an area grows by its unit normal times the opposite edge.
        let energy = 0.5 * numbers.y * bending * bending;
        let u1 = n1 * (energy * phi1.z * phi2.x / (numbers.z * sqrt(squares.x)));
        let u2 = n2 * (energy * phi2.z * phi1.x / (numbers.w * sqrt(squares.y)));
        forces[0] -= cross(u1, first - edge) + cross(u2, edge - second);
        forces[1] -= cross(u1, -first) + cross(u2, second);
        forces[2] -= cross(u1, edge);
        forces[3] -= cross(u2, -edge);
    }
    return forces;
}
