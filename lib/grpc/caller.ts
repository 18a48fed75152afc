import { refuse } from '../errors.ts';
import type { Call, Caller } from './contract.ts';

/** Returns the user of the call. Throws UNAUTHENTICATED when the call has none. */
export function callerOf(call: Call): Caller {
  if (!call.caller) throw refuse('UNAUTHENTICATED', `The call from ${call.peer} names no user.`);
  return call.caller;
}

/** Returns the user of the call. Throws FORBIDDEN when the user is not an administrator. */
export function administratorOf(call: Call): Caller {
  if (!isAdministrator(call)) throw refuse('FORBIDDEN', 'This operation requires an administrator.');
  return callerOf(call);
}

/**
 * Returns whether the user and their credential have the administrator role. It has no effect in requests of a protocol: their
 * clients reach only what the user owns or may use. Throws UNAUTHENTICATED without a user.
 */
export function isAdministrator(call: Call): boolean {
  const { roles, protocol } = callerOf(call);
  return protocol === undefined && roles.includes('administrator');
}

/** Whether the user has a login, or works in local mode. A personal access token and a provider's token are no login. */
export function hasLogin({ credential }: Caller): boolean {
  return credential === 'local' || credential?.startsWith('lgn_') === true;
}

/** Returns database options that restrict statements to the rows of the call's user and cancel them with the call. */
export function databaseOptionsOf(call: Call) {
  const { signal, trace } = call;
  return { signal, trace, viewer: { userId: callerOf(call).userId } };
}
