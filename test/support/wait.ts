/** The time limit of a wait, only against waiting for ever: a busy machine needs up to ten times longer than usual. */
const LIMIT_MS = 120_000;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 40;

/**
 * Calls `ask` until it returns neither undefined nor false, and returns that value. Fails after `limitMs`. The pauses grow with
 * the elapsed time, so that polling does not take CPU from the code under test.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const start = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = Date.now() - start;
    if (waited > limitMs) throw new Error(`timed out after ${limitMs} ms waiting until ${what}`);
    const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS + waited / 8);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Real time between two steps, so that pending work of this process makes progress. */
const STEP_PAUSE_MS = 2;
/**
 * Turns of the event loop between two steps. On a busy machine the pause ends after a single turn, and a call over a
 * connection within this process takes several.
 */
const STEP_TURNS = 20;

/** Advances a manual clock in steps until `ask` returns neither undefined nor false. Fails after `limitMs` of real time. */
export async function advanceUntil<T>(
  what: string,
  pass: () => void,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`timed out after ${limitMs} ms of real time waiting until ${what}`);
    pass();
    await new Promise((resolve) => setTimeout(resolve, STEP_PAUSE_MS));
    for (let turn = 0; turn < STEP_TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
