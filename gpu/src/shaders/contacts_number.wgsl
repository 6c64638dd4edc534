// Contacts, 2 of 6: numbers them by particle, by one workgroup. Too many for the buffer: none of this substep is kept, and the processor
// repeats the time step with larger buffers.
#include "common.wgsl"

const LANES = 256u;
var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) t: u32) {
    let share = (P.n_particles + LANES - 1u) / LANES;
    let first = min(t * share, P.n_particles);
    let last = min(first + share, P.n_particles);
    var own = 0u;
    for (var p = first; p < last; p++) {
        own += u32(particles[p].c2.w);
    }
    sums[t] = own;
    workgroupBarrier();
    for (var step = 1u; step < LANES; step *= 2u) {
        var before = 0u;
        if t >= step {
            before = sums[t - step];
        }
        workgroupBarrier();
        sums[t] += before;
        workgroupBarrier();
    }
    var next = sums[t] - own;
    for (var p = first; p < last; p++) {
        particles[p].s0.w = f32(next);
        next += u32(particles[p].c2.w);
    }
    if t == LANES - 1u {
        let n = sums[t];
        if n > P.contacts_max {
            atomicOr(&lists[STATUS], TOO_MANY_CONTACTS);
            atomicMax(&lists[CONTACTS_NEEDED], n);
        } else {
            atomicStore(&lists[N_CONTACTS], n);
            atomicAdd(&lists[CONTACTS_TOTAL], n);
            atomicMax(&lists[CONTACTS_MAX], n);
        }
    }
}
