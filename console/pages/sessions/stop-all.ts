export interface StopAllResult {
  stopped: number;
  /** The sessions that could not be stopped. */
  failedIds: string[];
  /** The error of the first session that could not be stopped. */
  error: unknown;
}

/** More requests would wait for a connection of the browser, and their time limit would expire meanwhile. */
const MAX_REQUESTS = 4;

/** Stops sessions. A failure does not keep the other sessions from being stopped. Never rejects. */
export async function stopAll(
  sessionIds: readonly string[],
  stop: (sessionId: string) => Promise<unknown>,
): Promise<StopAllResult> {
  const failures = new Map<string, unknown>();
  const waiting = sessionIds.values();
  async function stopWaiting(): Promise<void> {
    for (const id of waiting) await stop(id).catch((error: unknown) => failures.set(id, error));
  }
  await Promise.all(Array.from({ length: MAX_REQUESTS }, stopWaiting));
  return {
    stopped: sessionIds.length - failures.size,
    failedIds: [...failures.keys()],
    error: [...failures.values()][0],
  };
}

export const sessionCount = (count: number) => (count === 1 ? '1 session' : `${count} sessions`);
