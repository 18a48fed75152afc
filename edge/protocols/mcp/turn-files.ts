import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { McpOperation } from './operation.ts';

/** The files of a turn that its result names. The tool `list_files` finds further ones. */
const MAX_FILES = 100;
const PAGE_EVENTS = 100;
const TYPES = ['file.created', 'file.modified', 'file.deleted'];

export interface TurnFile {
  path: string;
  size: number;
}

interface FileEvent {
  type: string;
  turn_id?: string;
  data: { path: string; size?: number };
}

/** The files that the turn has written and not deleted, in the order of their last change. */
export async function turnFiles({ context, call }: McpOperation, turn: Turn): Promise<TurnFile[]> {
  // Only tools change files.
  if (!turn.usage?.toolCalls) return [];
  const files = new Map<string, TurnFile>();
  let cursor = '';
  do {
    const { events, page } = await context.clients.sessions.listEvents(
      {
        sessionId: turn.sessionId,
        page: { limit: PAGE_EVENTS, cursor },
        afterSeq: turn.position,
        types: TYPES,
      },
      call,
    );
    for (const { json } of events) note(files, JSON.parse(json), turn.turnId);
    cursor = page?.nextCursor ?? '';
  } while (cursor !== '' && files.size < MAX_FILES);
  return [...files.values()].slice(0, MAX_FILES);
}

function note(files: Map<string, TurnFile>, { type, turn_id, data }: FileEvent, turnId: string): void {
  if (turn_id !== turnId) return;
  files.delete(data.path);
  if (type !== 'file.deleted') files.set(data.path, { path: data.path, size: data.size ?? 0 });
}
