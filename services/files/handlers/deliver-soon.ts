import type { EventDeliverer } from '../deliverer.ts';
import type { LocatedWorkspace } from '../store/workspaces.ts';

/** The longest time that a change waits for the delivery of its events to the session. */
const DELIVERY_WAIT_MS = 300;

/** Waits a short time for the events of a change. Undelivered ones are delivered later. */
export async function deliverSoon(
  deliverer: EventDeliverer,
  { workspaceId, sessionId }: LocatedWorkspace,
): Promise<void> {
  if (sessionId) await deliverer.deliverNow(workspaceId, sessionId, DELIVERY_WAIT_MS);
}
