import { sha256 } from '../../../../lib/digest.ts';

/**
 * The delay of a scheduled time in milliseconds: whole seconds, less than `jitterSeconds`. It depends on the deployment and
 * the time alone, so that it is the same after a restart and in every replica.
 */
export function jitterMs(deploymentId: string, scheduledFor: Date, jitterSeconds: number): number {
  if (jitterSeconds === 0) return 0;
  // 48 bits are exact in a number.
  const bits = Number.parseInt(sha256(`${deploymentId} ${scheduledFor.toISOString()}`).slice(0, 12), 16);
  return (bits % jitterSeconds) * 1000;
}
