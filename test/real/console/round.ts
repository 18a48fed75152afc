import type { Scene } from './stage.ts';

/**
 * Goes through many things, as many at a time as there are windows. A line for each that is not as it should be, or does not
 * come at all: what is wrong with one says nothing about the others.
 */
export async function goRound<Sight extends { name: string }>(
  scenes: readonly Scene[],
  sights: readonly Sight[],
  look: (scene: Scene, sight: Sight) => Promise<string[]>,
): Promise<string[]> {
  const lines: string[] = [];
  const left = sights.values();
  const walk = async (scene: Scene) => {
    // One after the other: each takes what nobody has taken yet.
    for (const sight of left) {
      scene.complaints.length = 0;
      const found = await look(scene, sight).catch((error: Error) => [error.message]);
      lines.push(...[...found, ...scene.complaints].map((line) => `${sight.name}: ${line}`));
    }
  };
  await Promise.all(scenes.map(walk));
  return lines;
}
