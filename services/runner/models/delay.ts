const LONGEST_DELAY_MS = 3_600_000;

/**
 * How long a provider asks to wait, in milliseconds; 0 when it does not say. `retry-after` is seconds or a date
 * (RFC 9110, section 10.2.3); some providers add `retry-after-ms`, which is finer.
 */
export function retryAfter(headers: Record<string, string>, now: Date): number {
  const fine = milliseconds(headers['retry-after-ms'], 1);
  const ms = fine ?? milliseconds(headers['retry-after'], 1_000) ?? until(headers['retry-after'], now);
  return ms > 0 ? Math.min(Math.ceil(ms), LONGEST_DELAY_MS) : 0;
}

function milliseconds(value: string | undefined, unit: number): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) * unit : undefined;
}

function until(value: string | undefined, now: Date): number {
  return value === undefined ? 0 : Date.parse(value) - now.getTime();
}
