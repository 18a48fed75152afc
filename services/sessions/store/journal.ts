import type { Ids } from '../../../lib/ids.ts';
import type { EventDraft } from '../domain/change.ts';

/**
 * A row of the journal: consecutive events as the text of a JSON array, with a line break between them. An event gets
 * its seq, id and time once and is JSON text from then on, so that every reader gets the same bytes. There is no line
 * break inside an event, which `requireSingleLineJson` of the handlers ensures.
 */
export interface JournalRow {
  firstSeq: number;
  lastSeq: number;
  types: string[];
  bytes: number;
  events: string;
}

const SEPARATOR = ',\n';

/** Returns the drafts as the row that follows `lastSeq` in the session's journal. */
export function compose(
  sessionId: string,
  lastSeq: number,
  drafts: EventDraft[],
  ids: Ids,
  now: Date,
): JournalRow {
  const at = now.toISOString();
  let actor: EventDraft['actor'] | undefined;
  let actorJson = '';
  const texts = drafts.map((draft, index) => {
    // Events of one change have few actors.
    if (draft.actor !== actor) {
      actor = draft.actor;
      actorJson = JSON.stringify(actor);
    }
    const turn = draft.turnId ? `"turn_id":"${draft.turnId}",` : '';
    const trace = draft.traceparent ? `"traceparent":"${draft.traceparent}",` : '';
    return (
      `{"event_id":"${draft.eventId ?? ids('evt')}","session_id":"${sessionId}","seq":${lastSeq + 1 + index},"type":"${draft.type}",` +
      `${turn}"created_at":"${draft.createdAt ?? at}","actor":${actorJson},${trace}"data":${draft.dataJson}}`
    );
  });
  const events = `[${texts.join(SEPARATOR)}]`;
  return {
    firstSeq: lastSeq + 1,
    lastSeq: lastSeq + drafts.length,
    types: drafts.map((draft) => draft.type),
    bytes: Buffer.byteLength(events),
    events,
  };
}

/** Returns an event as a draft for another journal. `data` keeps its bytes. */
export function redraft(json: string): EventDraft {
  const { type, turn_id: turnId, created_at: createdAt, actor } = JSON.parse(json);
  return { type, turnId, createdAt, actor, dataJson: json.slice(json.indexOf(DATA) + DATA.length, -1) };
}

const DATA = ',"data":';

export interface JournalEvent {
  seq: number;
  type: string;
  json: string;
}

/** Returns the events of a row. */
export function splitRow(row: Pick<JournalRow, 'firstSeq' | 'types' | 'events'>): JournalEvent[] {
  const texts = row.events.slice(1, -1).split(SEPARATOR);
  return texts.map((json, index) => ({ seq: row.firstSeq + index, type: row.types[index] ?? '', json }));
}
