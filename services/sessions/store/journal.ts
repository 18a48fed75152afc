import type { Ids } from '../../../lib/ids.ts';
import type { Draft } from '../domain/change.ts';

/**
 * The text of events. An event gets its place, id and time here, once, and is JSON text from then on:
 * every reader, now and later, gets the same bytes. A row of the journal is a JSON array of events
 * with a line break between them; there is none inside, as `oneLine` of the handlers sees to.
 */
export interface Entry {
  firstSeq: number;
  lastSeq: number;
  types: string[];
  bytes: number;
  events: string;
}

const BETWEEN = ',\n';
/** Drafts as the row that follows `lastSeq` in the session's journal. */
export function compose(sessionId: string, lastSeq: number, drafts: Draft[], ids: Ids, now: Date): Entry {
  const at = now.toISOString();
  const texts = drafts.map((draft, index) => {
    const turn = draft.turnId ? `"turn_id":"${draft.turnId}",` : '';
    const trace = draft.traceparent ? `"traceparent":"${draft.traceparent}",` : '';
    return (
      `{"event_id":"${draft.eventId ?? ids('evt')}","session_id":"${sessionId}","seq":${lastSeq + 1 + index},"type":"${draft.type}",` +
      `${turn}"created_at":"${draft.createdAt ?? at}","actor":${JSON.stringify(draft.actor)},${trace}"data":${draft.dataJson}}`
    );
  });
  const events = `[${texts.join(BETWEEN)}]`;
  return {
    firstSeq: lastSeq + 1,
    lastSeq: lastSeq + drafts.length,
    types: drafts.map((draft) => draft.type),
    bytes: Buffer.byteLength(events),
    events,
  };
}

/** What an event says beside its place, to be said again elsewhere: `data` is the same text, byte for byte. */
export function redraft(json: string): Draft {
  const { type, turn_id: turnId, created_at: createdAt, actor } = JSON.parse(json);
  return { type, turnId, createdAt, actor, dataJson: json.slice(json.indexOf(DATA) + DATA.length, -1) };
}

const DATA = ',"data":';

export interface JournalEvent {
  seq: number;
  type: string;
  json: string;
}

/** A row as its events. */
export function split(entry: Pick<Entry, 'firstSeq' | 'types' | 'events'>): JournalEvent[] {
  const texts = entry.events.slice(1, -1).split(BETWEEN);
  return texts.map((json, index) => ({ seq: entry.firstSeq + index, type: entry.types[index] ?? '', json }));
}
