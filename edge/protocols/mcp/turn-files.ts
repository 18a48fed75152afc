import type { PathChange } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { McpOperation } from './operation.ts';

/** The files that the result of a turn names. The tool `list_files` finds further ones. */
const MAX_FILES = 100;
/** The newest changes of a workspace among which those of the turn are looked for. */
const MAX_CHANGES = 500;
const PAGE_ITEMS = 100;

type Operation = Pick<McpOperation, 'context' | 'call'>;

export interface TurnFile {
  path: string;
  size: number;
}

/**
 * The files that the turn has written and not deleted, in the order of their last change. The journal has file events later and
 * without their turn, so they are the changes of those versions of the workspace that the results of the turn's tools name.
 */
export async function turnFiles(operation: Operation, turn: Turn): Promise<TurnFile[]> {
  if (!turn.usage?.toolCalls) return [];
  const versions = await workspaceVersions(operation, turn);
  if (versions.size === 0) return [];
  const files = new Map<string, TurnFile>();
  for (const { kind, entry, workspaceVersion, createdAt } of await newestChanges(operation, turn.sessionId)) {
    const isOlder = createdAt !== undefined && turn.startedAt !== undefined && createdAt < turn.startedAt;
    if (!entry || isOlder || !versions.has(workspaceVersion)) continue;
    files.delete(entry.path);
    if (kind !== 'deleted' && entry.kind === 'file')
      files.set(entry.path, { path: entry.path, size: entry.size });
  }
  return [...files.values()].slice(-MAX_FILES);
}

/** The versions after the tool calls of the turn. A call that has changed nothing names an older version. */
async function workspaceVersions({ context, call }: Operation, turn: Turn): Promise<Set<number>> {
  const { sessionId, position } = turn;
  const versions = new Set<number>();
  let cursor = '';
  do {
    const page = { limit: PAGE_ITEMS, cursor };
    const types = ['agent.tool_result'];
    const listed = await context.clients.sessions.listEvents(
      { sessionId, page, afterSeq: position, types },
      call,
    );
    for (const { json } of listed.events) {
      const event = JSON.parse(json) as { turn_id?: string; data: { workspace_version?: number } };
      const { workspace_version: version } = event.data;
      if (event.turn_id === turn.turnId && version !== undefined) versions.add(version);
    }
    cursor = listed.page?.nextCursor ?? '';
  } while (cursor !== '');
  return versions;
}

async function newestChanges({ context, call }: Operation, value: string): Promise<PathChange[]> {
  const { files } = context.clients;
  const place = { of: { $case: 'sessionId' as const, value } };
  const { workspace } = await files.getWorkspace({ place }, call);
  const afterSeq = Math.max(0, (workspace?.lastSeq ?? 0) - MAX_CHANGES);
  const changes: PathChange[] = [];
  let cursor = '';
  do {
    const page = { limit: PAGE_ITEMS, cursor };
    const listed = await files.listChanges({ place, afterSeq, page }, call);
    changes.push(...listed.changes);
    cursor = listed.page?.nextCursor ?? '';
  } while (cursor !== '');
  return changes;
}
