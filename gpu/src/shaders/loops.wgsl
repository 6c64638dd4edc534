// Whether the loops of this invocation ran to their ends. llvmpipe ends every loop at its next turn once the loops of an invocation have taken 65,535
// turns in all; a short loop at the end of the stage then ends early, too.

fn check_loops() {
    var turns = 0u;
    for (var i = 0u; i < P.n_obstacles + 1u; i++) {
        // Not known before the loop runs.
        turns += select(0u, 1u, contacts[P.contacts_at + i % P.contacts_max].padding0 == 0.0);
    }
    if turns != P.n_obstacles + 1u {
        atomicOr(&lists[P.lists_at + STATUS], LOOP_CUT);
    }
}
