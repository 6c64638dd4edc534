// Particles by workgroup, and sums over the invocations of one.

const GROUP = 128u;
var<workgroup> partial_sums: array<u32, 128>;

fn n_groups() -> u32 { return (P.n_particles + GROUP - 1u) / GROUP; }

// The sum of `value` over the invocations up to this one (Hillis and Steele 1986).
fn sum_to(t: u32, value: u32) -> u32 {
    partial_sums[t] = value;
    workgroupBarrier();
    for (var step = 1u; step < GROUP; step *= 2u) {
        var before = 0u;
        if t >= step {
            before = partial_sums[t - step];
        }
        workgroupBarrier();
        partial_sums[t] += before;
        workgroupBarrier();
    }
    return partial_sums[t];
}
