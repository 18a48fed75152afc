import { refuse } from '../errors.ts';
import type { Call, Caller } from './contract.ts';

/** The user on whose behalf a call is made, where there has to be one. Refused with UNAUTHENTICATED. */
export function callerOf(call: Call): Caller {
  if (!call.caller) throw refuse('UNAUTHENTICATED', `${call.peer} did not say for which user it calls`);
  return call.caller;
}
