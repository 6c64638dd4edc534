// Workgroups of the stages that are dispatched for as many blocks, or contacts, as a substep turns out to have: three numbers of each, as indirect dispatches read
// them. They are those of the largest of the worlds.

@group(1) @binding(0) var<storage, read_write> dispatch_sizes: array<atomic<u32>, 6>;

const OF_BLOCKS = 0u;
const OF_CONTACTS = 3u;

// Workgroups along an axis.
override GROUPS_MAX = 65535u;
// Workgroups that share contacts, enough to fill a GPU.
override SHARING_MAX = 1024u;

fn clear_size(at: u32, n_worlds: u32) {
    atomicStore(&dispatch_sizes[at], 0u);
    atomicStore(&dispatch_sizes[at + 1u], 0u);
    atomicStore(&dispatch_sizes[at + 2u], n_worlds);
}

// Makes it so many workgroups at least, in rows of GROUPS_MAX if they are more.
fn extend_size(at: u32, groups: u32) {
    atomicMax(&dispatch_sizes[at], min(groups, GROUPS_MAX));
    atomicMax(&dispatch_sizes[at + 1u], (groups + GROUPS_MAX - 1u) / GROUPS_MAX);
}
