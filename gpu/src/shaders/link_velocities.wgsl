// Velocities of the links from the impulses on them, V = V* + Lambda Gamma, in the memory of a workgroup.

var<workgroup> link_velocities: array<f32, 1536>;

fn link_velocity(i: u32) -> f32 {
    let n = 6u * P.n_links;
    var v = out[P.out_at + LINK * (i / 6u) + i % 6u + 14u];
    for (var l = 0u; l < P.n_links; l++) {
        let moment = out3(LINK * l + 20u);
        let force = out3(LINK * l + 23u);
        // Most links touch nothing.
        if all(moment == vec3<f32>(0.0)) && all(force == vec3<f32>(0.0)) {
            continue;
        }
        for (var k = 0u; k < 3u; k++) {
            v += number(P.response_at + i * n + 6u * l + k) * moment[k];
        }
        for (var k = 0u; k < 3u; k++) {
            v += number(P.response_at + i * n + 6u * l + 3u + k) * force[k];
        }
    }
    return v;
}

fn find_link_velocities(t: u32) {
    for (var i = t; i < 6u * P.n_links; i += LANES) {
        link_velocities[i] = link_velocity(i);
    }
    workgroupBarrier();
}

fn point_velocity_now(link: i32, arm: vec3<f32>) -> vec3<f32> {
    if link < 0 {
        return vec3<f32>(0.0);
    }
    let l = 6u * u32(link);
    let turn = vec3<f32>(link_velocities[l], link_velocities[l + 1u], link_velocities[l + 2u]);
    return vec3<f32>(link_velocities[l + 3u], link_velocities[l + 4u], link_velocities[l + 5u]) + cross(turn, arm);
}
