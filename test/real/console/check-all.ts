import type { ConsolePage } from './console-fixture.ts';

/**
 * Runs a check for many targets, in parallel over the given browser windows. Returns a line for each finding, page error and
 * failed check; a failure does not stop the checks of other targets.
 */
export async function checkAll<Target extends { name: string }>(
  pages: readonly ConsolePage[],
  targets: readonly Target[],
  check: (consolePage: ConsolePage, target: Target) => Promise<string[]>,
): Promise<string[]> {
  const lines: string[] = [];
  const left = targets.values();
  const walk = async (consolePage: ConsolePage) => {
    // The windows share the iterator, so each target is checked once.
    for (const target of left) {
      consolePage.consoleMessages.length = 0;
      const found = await check(consolePage, target).catch((error: Error) => [error.message]);
      lines.push(...[...found, ...consolePage.consoleMessages].map((line) => `${target.name}: ${line}`));
    }
  };
  await Promise.all(pages.map(walk));
  return lines;
}
