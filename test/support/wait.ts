const SOON_MS = 5;
const LATE_MS = 40;

/**
 * Asks again until the answer is neither undefined nor false; fails after `limitMs`. The longer it takes, the
 * longer are the pauses: who asks all the time takes the machine away from what is asked about.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 10_000,
): Promise<T> {
  const start = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = Date.now() - start;
    if (waited > limitMs) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    const pause = Math.min(LATE_MS, SOON_MS + waited / 8);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** What is under way in this process has come a little further then. */
const MOMENT_MS = 2;

/**
 * Moves a clock that stands still, step by step and a moment apart, until the answer is neither undefined nor
 * false; fails after `limitMs` of real time.
 */
export async function passing<T>(
  what: string,
  pass: () => void,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 10_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`time passed for ${limitMs} ms in vain until ${what}`);
    pass();
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS));
  }
}
