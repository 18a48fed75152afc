import { portChooser } from '../../lib/db/embedded/port.ts';

const SHARES = 16;

/**
 * Returns a port of 127.0.0.1 that is still free when the tested process listens on it: test workers have separate
 * shares, and embedded database servers choose from a separate range.
 */
export const freePort = portChooser({
  // fetch and browsers refuse port 10080 (https://fetch.spec.whatwg.org/#port-blocking).
  first: 10_100,
  limit: 15_000,
  shares: SHARES,
  // Absent outside of test workers, where 0 is the share of the main process.
  share: Number(process.env.VITEST_POOL_ID ?? 0) % SHARES,
});
