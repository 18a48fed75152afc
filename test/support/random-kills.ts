import type { Fleet } from './fleet.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Kills one of the programs at random and restarts it, again and again until the time. Returns how often. */
export async function killUntil(
  time: number,
  fleet: Fleet,
  victims: readonly [string, ...string[]],
  random: () => number,
): Promise<number> {
  let kills = 0;
  while (Date.now() < time) {
    await pause(300 + random() * 2_000);
    const victim = victims[Math.floor(random() * victims.length)] ?? victims[0];
    await fleet.end(victim, 'SIGKILL');
    kills++;
    await pause(random() * 1_500);
    await fleet.run(victim);
  }
  return kills;
}
