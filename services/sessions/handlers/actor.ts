import type { Actor } from '../../../lib/events.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';

/** Returns the calling user as the actor of an event. */
export function actorOf(call: Call): Actor {
  return { type: 'user', id: callerOf(call).userId };
}
