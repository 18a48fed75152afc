import type { Actor } from '../../../lib/events.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';

/** The user of a public call, as events name who did something. */
export function actorOf(call: Call): Actor {
  return { type: 'user', id: callerOf(call).userId };
}
