import { type ListTasksResponse, type Task, taskStateToJSON } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Session, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type A2aOperation, ownSession } from './operation.ts';
import { type ListRequest, readListRequest } from './request.ts';
import { statusOf, taskOf, updatedAt, wholeTask } from './task.ts';

const DEFAULT_SIZE = 50;
/** The sessions that are read for one page. A page can have fewer tasks than were asked for, and be followed by others. */
const MAX_SESSIONS = 100;
const TURNS = 100;
const ANY_STATE = 'TASK_STATE_UNSPECIFIED';

/** The last turn of a session that was listed. */
type Listed = [updatedAt: number, position: number];
/** Where a page begins: the cursor of the sessions, the turn of the first session before it, and the tasks before it. */
type Position = [cursor: string, after: Listed | null, seen: number];

/**
 * Answers ListTasks: the turns of the caller's sessions with the agent. The newest sessions come first, and in each session
 * the turns that were updated last. Sessions have no order by their last update, so only the list of one context has the
 * order of the protocol. The total size is exact on the last page; on others it counts the tasks so far.
 */
export async function listTasks(operation: A2aOperation, params: unknown): Promise<ListTasksResponse> {
  const request = readListRequest(params);
  const pageSize = request.pageSize ?? DEFAULT_SIZE;
  const [first, afterFirst, seen] = readToken(request.pageToken || '');
  const tasks: Task[] = [];
  let next: Position | undefined = [first, afterFirst, seen];
  for (let count = 0; next && count < MAX_SESSIONS; count++) {
    const [cursor, after]: Position = next;
    const { session, nextCursor } = await sessionAt(operation, request, cursor);
    const turns = session ? await turnsAfter(operation, session, after) : [];
    next = nextCursor === '' ? undefined : [nextCursor, null, 0];
    for (const [index, turn] of turns.entries()) {
      if (!(await isListed(operation, request, turn))) continue;
      tasks.push(await listedTask(operation, request, turn));
      if (tasks.length < pageSize) continue;
      if (index < turns.length - 1) next = [cursor, placeOf(turn), 0];
      count = MAX_SESSIONS;
      break;
    }
  }
  const totalSize = seen + tasks.length;
  const nextPageToken = next ? writeToken([next[0], next[1], totalSize]) : '';
  tasks.sort((one, other) => (other.status?.timestamp ?? '').localeCompare(one.status?.timestamp ?? ''));
  return { tasks, nextPageToken, pageSize, totalSize };
}

async function sessionAt(operation: A2aOperation, { contextId }: ListRequest, cursor: string) {
  if (contextId) return { session: await ownSession(operation, contextId), nextCursor: '' };
  const { context, call, agent } = operation;
  const filter = { agentId: agent.agentId, deploymentId: '', status: '', q: '', states: [] };
  const listed = await context.clients.sessions.listSessions({ ...filter, page: { limit: 1, cursor } }, call);
  return { session: listed.sessions[0], nextCursor: listed.page?.nextCursor ?? '' };
}

/** The turns of a session, those that were updated last first, without those up to the given one. */
async function turnsAfter(
  { context, call }: A2aOperation,
  { sessionId }: Session,
  after: Listed | null,
): Promise<Turn[]> {
  const turns: Turn[] = [];
  let cursor = '';
  do {
    const request = { sessionId, unfinished: false, page: { limit: TURNS, cursor } };
    const listed = await context.clients.sessions.listTurns(request, call);
    // A compaction is not a task: no message has begun it.
    turns.push(...listed.turns.filter(({ kind }) => kind === undefined));
    cursor = listed.page?.nextCursor ?? '';
  } while (cursor !== '');
  // A turn that was updated after the last page was read belongs before that page now, and is not listed again.
  return turns
    .filter((turn) => after === null || compare(placeOf(turn), after) > 0)
    .sort((one, other) => compare(placeOf(one), placeOf(other)));
}

const placeOf = (turn: Turn): Listed => [updatedAt(turn)?.getTime() ?? 0, turn.position];
const compare = (one: Listed, other: Listed) => other[0] - one[0] || other[1] - one[1];

async function isListed(operation: A2aOperation, request: ListRequest, turn: Turn): Promise<boolean> {
  const { status, statusTimestampAfter } = request;
  if (!status && !statusTimestampAfter) return true;
  const { state, timestamp = '' } = await statusOf(operation, turn);
  if (status && status !== ANY_STATE && status !== taskStateToJSON(state)) return false;
  return !statusTimestampAfter || Date.parse(timestamp) >= Date.parse(statusTimestampAfter);
}

function listedTask(operation: A2aOperation, request: ListRequest, turn: Turn): Promise<Task> {
  const options = { historyLength: request.historyLength ?? 0 };
  return request.includeArtifacts
    ? wholeTask(operation, turn, options)
    : taskOf(operation, turn, options, []);
}

const writeToken = (position: Position) => Buffer.from(JSON.stringify(position)).toString('base64url');

function readToken(token: string): Position {
  if (token === '') return ['', null, 0];
  try {
    const [cursor, after, seen] = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof cursor === 'string' && isListedTurn(after) && Number.isSafeInteger(seen))
      return [cursor, after, seen];
  } catch {
    // Refused like a token of another form.
  }
  throw new RequestMalformedError('The pageToken is not one that ListTasks has returned.');
}

function isListedTurn(after: unknown): after is Listed | null {
  return after === null || (Array.isArray(after) && after.length === 2 && after.every(Number.isSafeInteger));
}
