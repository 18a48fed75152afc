import { shift } from './domain/environment.ts';
import type { Changes } from './store/changes.ts';
import { environments, type Sandboxes } from './store/sandboxes.ts';

/** Tells sessions how their sandboxes are doing, where they do not know it yet. */
export async function settle(
  sandboxIds: readonly string[],
  { sandboxes, changes }: { sandboxes: Sandboxes; changes: Changes },
): Promise<void> {
  if (sandboxIds.length === 0) return;
  const straying = await sandboxes.straying(sandboxIds);
  await Promise.all(
    straying.map(({ sessionId, sandboxId }) =>
      changes.alone(sessionId, async (state, tx) => {
        const environment = await environments.read(tx, sessionId);
        const sandbox = await sandboxes.locked(tx, sandboxId);
        // Either may have moved on since.
        if (!state || state.deleted || !sandbox || environment.sandbox_id !== sandboxId) return undefined;
        await environments.setStatus(tx, sessionId, sandbox.status);
        return shift(state, environment.status, sandbox.status, sandbox.reason);
      }),
    ),
  );
}
