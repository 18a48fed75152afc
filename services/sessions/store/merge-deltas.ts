import type { JournalEvent } from './journal.ts';

const TYPE = 'agent.message_delta';
const DATA = ',"data":{"message_id":"';
/** The JSON text between the message id and the text of a delta. END follows the text. */
const INDEX = /",("index":\d+,)?"delta":"/y;
const END = '"}}';

/** A delta as the runner writes it. */
interface Delta {
  /** The event up to its text. */
  head: string;
  messageId: string;
  /** The text as the inside of a JSON string. */
  text: string;
}

/**
 * Joins consecutive deltas of a message into one event with the members of the first one. It reads their JSON as text, because
 * parsing it would take most of the time of reading a long journal.
 */
export function mergeDeltas(events: readonly JournalEvent[]): JournalEvent[] {
  const merged: JournalEvent[] = [];
  let first: JournalEvent | undefined;
  let open: Delta | undefined;
  let texts: string[] = [];
  const close = () => {
    if (first)
      merged.push(open && texts.length > 1 ? { ...first, json: open.head + texts.join('') + END } : first);
    first = open = undefined;
  };
  for (const event of events) {
    const delta = event.type === TYPE ? readDelta(event.json) : undefined;
    if (delta && delta.messageId === open?.messageId) {
      texts.push(delta.text);
      continue;
    }
    close();
    first = event;
    open = delta;
    texts = delta ? [delta.text] : [];
  }
  close();
  return merged;
}

/** Undefined for other members, or another order of them. */
function readDelta(json: string): Delta | undefined {
  const data = json.indexOf(DATA);
  const idEnd = data < 0 ? -1 : json.indexOf('"', data + DATA.length);
  INDEX.lastIndex = idEnd;
  if (idEnd < 0 || json[idEnd - 1] === '\\' || !INDEX.test(json) || !json.endsWith(END)) return undefined;
  const textStart = INDEX.lastIndex;
  // A quotation mark that is not escaped ends the text, so that further members follow.
  const text = json.slice(textStart, -END.length);
  if (hasUnescapedQuote(text)) return undefined;
  return { head: json.slice(0, textStart), messageId: json.slice(data + DATA.length, idEnd), text };
}

function hasUnescapedQuote(text: string): boolean {
  return text.includes('"') && /^(?:[^"\\]|\\.)*"/s.test(text);
}
