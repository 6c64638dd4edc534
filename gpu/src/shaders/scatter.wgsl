// Mass and momentum of a node, its free motion, and walls:
//
//   m = sum w m_p,   m v* = sum w (a + A k) + S grad w + m dt g,   S = -dt V tau
//   a = m_p (v - C f h) + j,   A = m_p C h
//
// f: place of the particle in its cell, k: the node as seen from the cell, in cells; j: impulse of cloth and loads. Source: docs/theory/yu-2025.md; APIC of
// Jiang et al. (2015).
//
// A workgroup has a block of nodes, one for each invocation. The particles of the 6 x 6 x 6 cells that reach the block come into its memory once, 128 at a
// time; each node takes those of its own 27 cells from there. Without this a node would load each of its particles from the memory of the device: 27 times
// 208 bytes for a particle instead of 3.4 times. No float is added atomically, and the order of every sum is that of cells and of the sort.
#include "common.wgsl"
#include "blocks.wgsl"
#include "cells.wgsl"

const LANES = 64u;
#include "prefix_sum.wgsl"

const CELLS_OF_TILE = 216u;
// Cells for which an invocation counts.
const SHARE = 4u;
const AT_A_TIME = 128u;

// The place of the first particle of each cell among those of the tile, and in the order of the sort.
var<workgroup> tile_starts: array<u32, 257>;
var<workgroup> order_starts: array<u32, 216>;
// f and m; a and S_00; columns of A and S_10, S_20, S_01; S_11, S_21, S_02, S_12. With S_22 less than the 16 KiB that every device has.
var<workgroup> loaded: array<vec4<f32>, 768>;
var<workgroup> loaded_s22: array<f32, 128>;

// A cell of the tile as one of the grid.
fn cell_of_tile(block: u32, i: u32) -> u32 {
    let place = vec3<i32>(vec3<u32>(i / 36u, (i / 6u) % 6u, i % 6u)) - 2;
    return shifted(64u * block, place);
}

// Counts the particles of all cells of the tile.
fn open_tile(block: u32, t: u32) {
    var own = 0u;
    for (var i = SHARE * t; i < SHARE * (t + 1u); i++) {
        if i < CELLS_OF_TILE {
            let places = places_of(cell_of_tile(block, i));
            order_starts[i] = places.x;
            own += places.y - places.x;
        }
        // Without those of the invocations before.
        tile_starts[i + 1u] = own;
    }
    let before = sum_to(t, own) - own;
    for (var i = SHARE * t; i < SHARE * (t + 1u); i++) {
        tile_starts[i + 1u] += before;
    }
    if t == 0u {
        tile_starts[0] = 0u;
    }
}

// The cell of a particle of the tile: the last one that starts with it or before, and is not empty.
fn cell_with(particle: u32) -> u32 {
    var low = 0u;
    var high = CELLS_OF_TILE;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if tile_starts[middle] <= particle {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

fn load(particle: u32, slot: u32) {
    let cell = cell_with(particle);
    let number = atomicLoad(&lists[P.lists_at + order_starts[cell] + particle - tile_starts[cell]]);
    let p = particles[P.particles_at + number];
    let at = stress_at(number);
    let s0 = nodes[at].xyz;
    let s1 = nodes[at + 1u].xyz;
    let s2 = nodes[at + 2u].xyz;
    let f = p.fraction;
    let scale = p.mass * P.spacing;
    let a = p.mass * p.v - scale * (p.c0.xyz * f.x + p.c1.xyz * f.y + p.c2.xyz * f.z) + nodes[applied_impulse_at(number)].xyz;
    loaded[slot] = vec4<f32>(f, p.mass);
    loaded[AT_A_TIME + slot] = vec4<f32>(a, s0.x);
    loaded[2u * AT_A_TIME + slot] = vec4<f32>(scale * p.c0.xyz, s0.y);
    loaded[3u * AT_A_TIME + slot] = vec4<f32>(scale * p.c1.xyz, s0.z);
    loaded[4u * AT_A_TIME + slot] = vec4<f32>(scale * p.c2.xyz, s1.x);
    loaded[5u * AT_A_TIME + slot] = vec4<f32>(s1.y, s1.z, s2.x, s2.y);
    loaded_s22[slot] = s2.z;
}

// (m v*, m) of a loaded particle at the node k of its cell.
fn contribution(slot: u32, k: vec3<i32>) -> vec4<f32> {
    let of_mass = loaded[slot];
    let f = of_mass.xyz;
    let w = vec3<f32>(weights(f.x)[k.x], weights(f.y)[k.y], weights(f.z)[k.z]);
    let s = vec3<f32>(slopes(f.x)[k.x], slopes(f.y)[k.y], slopes(f.z)[k.z]);
    let weight = w.x * w.y * w.z;
    let gradient = vec3<f32>(s.x * w.y * w.z, w.x * s.y * w.z, w.x * w.y * s.z);
    let at = vec3<f32>(k);
    let a = loaded[AT_A_TIME + slot];
    let a0 = loaded[2u * AT_A_TIME + slot];
    let a1 = loaded[3u * AT_A_TIME + slot];
    let a2 = loaded[4u * AT_A_TIME + slot];
    let rest = loaded[5u * AT_A_TIME + slot];
    let stress = mat3x3<f32>(a.w, a0.w, a1.w, a2.w, rest.x, rest.y, rest.z, rest.w, loaded_s22[slot]) * gradient;
    return vec4<f32>(weight * (a.xyz + a0.xyz * at.x + a1.xyz * at.y + a2.xyz * at.z) + stress, weight * of_mass.w);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let is_open = open_world(group.z);
    let block = group.x + group.y * groups.x;
    if !is_open || block >= n_blocks() {
        return;
    }
    open_tile(block, t);
    let all = sum_of_all();
    var sum = vec4<f32>(0.0);
    for (var first = 0u; first < all; first += AT_A_TIME) {
        let end = min(first + AT_A_TIME, all);
        for (var i = first + t; i < end; i += LANES) {
            load(i, i - first);
        }
        workgroupBarrier();
        for (var n = 0; n < 27; n++) {
            let k = below(n);
            let place = vec3<u32>(within(t) + 2 - k);
            let cell = 36u * place.x + 6u * place.y + place.z;
            for (var i = max(tile_starts[cell], first); i < min(tile_starts[cell + 1u], end); i++) {
                sum += contribution(i - first, k);
            }
        }
        workgroupBarrier();
    }
    let index = 64u * block + t;
    var velocity = vec3<f32>(0.0);
    if sum.w > 1e-30 {
        velocity = (sum.xyz / sum.w + P.gravity * P.dt) * freedom(node_place(index));
    } else {
        sum.w = 0.0;
    }
    nodes[P.nodes_at + index] = vec4<f32>(velocity, sum.w);
    nodes[P.nodes_at + n_nodes_max() + index] = vec4<f32>(velocity, 0.0);
}
