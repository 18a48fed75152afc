import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { Refusal } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Session, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RouteContext } from '../../route.ts';
import { requireExposedSession } from '../exposure.ts';
import type { McpOperation } from '../mcp/operation.ts';

/** One request of a client to an agent. */
export interface A2aOperation {
  context: RouteContext;
  call: McpOperation['call'];
  agent: Agent;
  /** The scopes of the credential. */
  scopes: readonly string[];
}

/** The id of a task names its turn and then its session, so that any replica finds it without a table. */
export const taskIdOf = ({ turnId, sessionId }: Pick<Turn, 'turnId' | 'sessionId'>) =>
  `${turnId}-${sessionId.slice('ses_'.length)}`;

/** A session of the caller with the agent. Refuses with SESSION_NOT_FOUND. */
export async function ownSession(
  { context, call, agent }: A2aOperation,
  id: string,
): Promise<Session | undefined> {
  if (!isId('ses', id)) return undefined;
  const session = await requireExposedSession(context.clients, call, id, 'a2a').catch(unknown);
  return session?.agentId === agent.agentId ? session : undefined;
}

/** A task of the caller with the agent: its turn, and the session as it was before. */
export async function requireTask(
  operation: A2aOperation,
  taskId: string,
): Promise<{ turn: Turn; session: Session }> {
  const [turnId = '', characters = ''] = taskId.split('-', 2);
  const sessionId = `ses_${characters}`;
  const { context, call } = operation;
  const session = isId('trn', turnId) ? await ownSession(operation, sessionId) : undefined;
  const found =
    session && (await context.clients.sessions.getTurn({ sessionId, turnId }, call).catch(unknown));
  const isTask = found?.turn?.kind === undefined;
  if (session && found?.turn && isTask && taskId === taskIdOf(found.turn))
    return { turn: found.turn, session };
  throw new TaskNotFoundError('The task does not exist, or you do not have access to it.');
}

function unknown(error: unknown): undefined {
  const codes = ['SESSION_NOT_FOUND', 'TURN_NOT_FOUND'];
  if (!(error instanceof Refusal) || !codes.includes(error.code)) throw error;
}
