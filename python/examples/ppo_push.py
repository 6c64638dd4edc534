"""Learns to push a box to a goal, in minutes on two cores.

    python ppo_push.py --samples 200000 --curve curve.csv
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pliant.gym
from ppo import Iteration, Policy, train

TASK = "pliant/PushBoxes-v0"


def learn(samples: int, environments: int = 8, threads: int = 2, seed: int = 0) -> tuple[Policy, list[Iteration]]:
    """A policy for one box, and how the updates went."""
    envs = pliant.gym.make_vec(TASK, environments, threads=threads, boxes=1)
    history = []
    begin = time.monotonic()
    for policy, iteration in train(envs, samples, seed):
        history.append(iteration)
        if len(history) % 20 == 0:
            ended = [success for entry in history[-20:] for success in entry.successes]
            share = np.mean(ended) if ended else float("nan")
            print(f"{iteration.samples:8d} actions, {time.monotonic() - begin:5.0f} s, solved {share:4.0%}", flush=True)
    envs.close()
    return policy, history


def solved(policy: Policy, episodes: int, seed: int = 1000) -> float:
    """The share of episodes that the policy solves without noise."""
    env = pliant.gym.PushBoxes(boxes=1)
    count = 0
    for episode in range(episodes):
        observation, info = env.reset(seed=seed + episode)
        ended = False
        while not ended:
            action = policy.act(observation[None].astype(np.float64))[0]
            observation, _, terminated, truncated, info = env.step(action.astype(np.float32))
            ended = terminated or truncated
        count += info["success"]
    return count / episodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200_000, help="actions to learn from [200000]")
    parser.add_argument("--environments", type=int, default=8, help="environments that step at once [8]")
    parser.add_argument("--threads", type=int, default=2, help="threads that step them [2]")
    parser.add_argument("--seed", type=int, default=0, help="of starts and exploration [0]")
    parser.add_argument("--curve", type=Path, help="writes the learning curve into this CSV file")
    arguments = parser.parse_args()
    begin = time.monotonic()
    policy, history = learn(arguments.samples, arguments.environments, arguments.threads, arguments.seed)
    print(f"learnt in {time.monotonic() - begin:.0f} s; solves {solved(policy, 100):.0%} of 100 new episodes")
    if arguments.curve is not None:
        lines = ["actions,episodes,mean_return,solved"]
        for entry in history:
            if entry.returns:
                mean, share = np.mean(entry.returns), np.mean(entry.successes)
                lines.append(f"{entry.samples},{len(entry.returns)},{mean:.4f},{share:.4f}")
        arguments.curve.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
