import type { CallbackHeader } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';

/** Largest accepted difference between a timestamp and the current time in seconds, in both directions. */
const WINDOW_SECONDS = 300;
const TIMESTAMP = /^[0-9]{1,15}$/;

/**
 * The value of a header that must occur once, or the reason why it does not. A proxy and this service could use different
 * values of a repeated header.
 */
export function readHeader(
  headers: readonly CallbackHeader[],
  name: string,
): CallbackHeader | { problem: 'missing' | 'duplicate' } {
  const [first, ...others] = headers.filter((header) => header.name.toLowerCase() === name);
  if (!first) return { problem: 'missing' };
  return others.length > 0 ? { problem: 'duplicate' } : first;
}

/** Returns the timestamp of a header in Unix seconds, or the reason why it is refused. */
export function readTimestamp(
  headers: readonly CallbackHeader[],
  name: string,
  now: Date,
): { value: string } | { fault: string } {
  const header = readHeader(headers, name);
  if ('problem' in header) return { fault: `${header.problem}_timestamp` };
  if (!TIMESTAMP.test(header.value)) return { fault: 'malformed_timestamp' };
  const difference = Math.floor(now.getTime() / 1000) - Number(header.value);
  return Math.abs(difference) > WINDOW_SECONDS ? { fault: 'stale_timestamp' } : header;
}
