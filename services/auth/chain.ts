import { sha256 } from '../../lib/digest.ts';
import { type Act, hashedText } from './domain/act.ts';

/** The hash of a line of the audit log, in hexadecimal, after that of the line before it; empty before the first one. */
export function hashAfter(before: string, act: Act): string {
  return sha256(hashedText(before, act));
}
