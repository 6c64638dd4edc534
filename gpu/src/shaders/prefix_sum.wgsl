// Sums over the LANES invocations of a workgroup up to each, and places that all of them take from a counter at once: a counter that each invocation of a device
// added to by itself would be one after another.

var<workgroup> partial_sums: array<u32, LANES>;
var<workgroup> first_of_all: u32;

// The sum of `value` over the invocations up to this one (Hillis and Steele 1986).
fn sum_to(t: u32, value: u32) -> u32 {
    partial_sums[t] = value;
    workgroupBarrier();
    for (var step = 1u; step < LANES; step *= 2u) {
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

// The sum over all, after `sum_to`.
fn sum_of_all() -> u32 { return workgroupUniformLoad(&partial_sums[LANES - 1u]); }

// Adds to a counter of the world what all invocations take. Returns the first place of this one.
fn take_places(counter: u32, t: u32, count: u32) -> u32 {
    let sum = sum_to(t, count);
    if t == LANES - 1u {
        first_of_all = 0u;
        if sum > 0u {
            first_of_all = atomicAdd(&lists[P.lists_at + counter], sum);
        }
    }
    return workgroupUniformLoad(&first_of_all) + sum - count;
}
