const MAX_DELAY_MS = 3_600_000;

/**
 * Returns the delay in milliseconds that the headers of a response ask for, at most one hour; 0 when they ask for none.
 * `retry-after` is in seconds or a date (RFC 9110, section 10.2.3). Some providers add the finer `retry-after-ms`.
 */
export function retryAfterMs(headers: Record<string, string>, now: Date): number {
  const exact = duration(headers['retry-after-ms'], 1);
  const ms = exact ?? duration(headers['retry-after'], 1_000) ?? timeUntil(headers['retry-after'], now);
  return ms > 0 ? Math.min(Math.ceil(ms), MAX_DELAY_MS) : 0;
}

function duration(value: string | undefined, unitMs: number): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) * unitMs : undefined;
}

function timeUntil(date: string | undefined, now: Date): number {
  return date === undefined ? 0 : Date.parse(date) - now.getTime();
}
