import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { FOLDED_TYPES, type JournalEvent } from './journal-fold.ts';

/** https://tc39.es/proposal-json-parse-with-source/ */
type Reviver = (this: unknown, member: string, value: unknown, context: { source?: string }) => unknown;
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  rawJSON(text: string): unknown;
};

const TYPES: ReadonlySet<string> = new Set(FOLDED_TYPES);

/** Returns an event for the fold; undefined for a type that it does not read. */
export function parseEvent({ type, json }: Pick<Event, 'type' | 'json'>): JournalEvent | undefined {
  if (!TYPES.has(type)) return undefined;
  return (type === 'agent.tool_use' ? parse(json, exactNumber) : parse(json)) as JournalEvent;
}

/** Numbers that JavaScript would change keep their text, so that an approval shows the exact input. */
const exactNumber: Reviver = (_member, value, { source }) => {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return rawJSON(source);
};
