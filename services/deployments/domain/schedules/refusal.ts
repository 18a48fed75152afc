import { type Refusal, refuse } from '../../../../lib/errors.ts';

/** Returns an INVALID_SCHEDULE refusal for one member of the request body. */
export function refuseSchedule(pointer: string, message: string): Refusal {
  return refuse('INVALID_SCHEDULE', `${pointer} ${message}`, { details: [{ pointer, message }] });
}
