import { refuse } from '../errors.ts';
import type { Call, Caller } from './contract.ts';

/** The user on whose behalf a call is made, where there has to be one. Refused with UNAUTHENTICATED. */
export function callerOf(call: Call): Caller {
  if (!call.caller) throw refuse('UNAUTHENTICATED', `${call.peer} did not say for which user it calls`);
  return call.caller;
}

/** The same, where it has to be an administrator. Refused with FORBIDDEN. */
export function administratorOf(call: Call): Caller {
  if (!isAdministrator(call)) throw refuse('FORBIDDEN', 'only an administrator may do this');
  return callerOf(call);
}

/** Whether the call is made for one, with a credential that lets them be one. Refused with UNAUTHENTICATED without a user. */
export function isAdministrator(call: Call): boolean {
  return callerOf(call).roles.includes('administrator');
}

/** How a call's own rows are read and changed in a database: on behalf of the user, until they leave. */
export function onBehalf(call: Call) {
  const { signal, trace } = call;
  return { signal, trace, viewer: { userId: callerOf(call).userId } };
}
