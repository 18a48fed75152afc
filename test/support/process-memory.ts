import { readFileSync } from 'node:fs';

/** The resident memory of a process in bytes: now, and the largest since its start. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return { now: kib('VmRSS') * 1_024, peak: kib('VmHWM') * 1_024 };
}
