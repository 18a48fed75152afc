import { setFlagsFromString } from 'node:v8';

/** V8's default. */
const GROWTH_FACTOR = 2;

/**
 * Keeps V8's memory for young objects at its initial size. Loading modules lets it grow to many times that size, and an
 * idle process would keep this memory. Call letYoungGenerationGrow() after the start: under load, a small size would make
 * collections more frequent.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

export function letYoungGenerationGrow(): void {
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR}`);
}
