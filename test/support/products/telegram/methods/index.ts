import type { Method } from './context.ts';
import * as messages from './messages.ts';
import * as settings from './settings.ts';

const METHODS: Record<string, Method> = { ...messages, ...settings };
/** Names of methods are not case-sensitive. */
const BY_NAME = new Map(Object.keys(METHODS).map((name) => [name.toLowerCase(), name]));

/** Returns the method with its name as documented, or undefined. */
export function findMethod(name: string): { name: string; run: Method } | undefined {
  const canonical = BY_NAME.get(name.toLowerCase());
  const run = canonical === undefined ? undefined : METHODS[canonical];
  return run && canonical !== undefined ? { name: canonical, run } : undefined;
}
