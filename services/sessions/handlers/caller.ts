import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/events.ts';
import type { Call, Caller } from '../../../lib/grpc/contract.ts';

/** The user a public call is made for. */
export function callerOf(call: Call): Caller {
  if (!call.caller) throw refuse('UNAUTHENTICATED', 'this call is made for a user');
  return call.caller;
}

export function actorOf(call: Call): Actor {
  return { type: 'user', id: callerOf(call).userId };
}
