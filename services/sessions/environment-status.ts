import { Semaphore } from '../../lib/semaphore.ts';
import { changeEnvironmentStatus } from './domain/environment.ts';
import type { Changes } from './store/changes.ts';
import type { SandboxStore } from './store/sandboxes.ts';
import { sessionEnvironments } from './store/session-environments.ts';

/** Thousands of sessions can share a sandbox. Their updates must leave connections for other work. */
const CONCURRENT_UPDATES = 4;

/** Sets the environment status of sessions to the status of these sandboxes where the two differ. */
export async function updateEnvironmentStatuses(
  sandboxIds: readonly string[],
  { sandboxes, changes }: { sandboxes: SandboxStore; changes: Changes },
): Promise<void> {
  if (sandboxIds.length === 0) return;
  const outdated = await sandboxes.outdatedEnvironments(sandboxIds);
  const permits = new Semaphore(CONCURRENT_UPDATES);
  const update = ({ sessionId, sandboxId }: { sessionId: string; sandboxId: string }) =>
    changes.inOwnTransaction(sessionId, async (state, tx) => {
      const environment = await sessionEnvironments.read(tx, sessionId);
      const sandbox = await sandboxes.lock(tx, sandboxId);
      // The session or the sandbox may have changed since the difference was read.
      if (!state || state.deleted || !sandbox || environment.sandbox_id !== sandboxId) return undefined;
      await sessionEnvironments.setStatus(tx, sessionId, sandbox.status);
      return changeEnvironmentStatus(state, environment.status, sandbox.status, sandbox.reason);
    });
  await Promise.all(outdated.map((one) => permits.run(() => update(one), { always: true })));
}
