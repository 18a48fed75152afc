import { setFlagsFromString } from 'node:v8';

/**
 * The factor after a limited start. V8's default is 2, with which several thousand requests pass before collections are as
 * rare as in a process without a limit.
 */
const GROWTH_FACTOR = 8;

let isLimited = false;

/**
 * Keeps V8's memory for young objects at its present size, which is 8 MiB when the entry point has loaded. Loading the
 * modules of a target lets it grow to 64 MiB, and an idle process would keep this memory. At the initial size of 2 MiB, the
 * start would need four times as many collections. Call letYoungGenerationGrow() after the start: under load, a small size
 * would make collections more frequent.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  isLimited = true;
}

/** Ends the limit. Without one, V8's own policy stays. */
export function letYoungGenerationGrow(): void {
  if (!isLimited) return;
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR}`);
  isLimited = false;
}
