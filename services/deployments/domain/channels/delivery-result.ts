import { refuseField } from '../../../../lib/errors.ts';

const REPORTED_RESULTS = ['accepted', 'ignored', 'refused', 'retry'] as const;
export type ReportedResult = (typeof REPORTED_RESULTS)[number];

/** How a delivery has ended. `failed`: no attempt has succeeded. */
export type FinalResult = Exclude<ReportedResult, 'retry'> | 'failed';

/** `duplicate` is the result of an event that is known already. */
export type DeliveryResultName = FinalResult | 'pending' | 'duplicate';

/** Returns the result that a channel worker reports. Refuses others with INVALID_REQUEST. */
export function reportedResult(result: string): ReportedResult {
  const found = REPORTED_RESULTS.find((one) => one === result);
  if (!found) throw refuseField('/result', `must be one of ${REPORTED_RESULTS.join(', ')}`);
  return found;
}
