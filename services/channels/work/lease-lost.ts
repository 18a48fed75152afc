import { Refusal } from '../../../lib/errors.ts';

/** Whether a call was refused because another worker holds the lease. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'LEASE_LOST';
}
