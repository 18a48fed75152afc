import { refuse } from '../../../lib/errors.ts';
import type { Session } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { checkPath } from '../../input/path.ts';
import { requireExposedSession } from '../exposure.ts';
import type { McpOperation } from './operation.ts';

/** A session of the caller with an agent that the endpoint offers. Refuses with SESSION_NOT_FOUND. */
export async function ownSession(
  { context, call, agentId }: McpOperation,
  sessionId: string,
): Promise<Session> {
  checkPath({ session_id: sessionId });
  const session = await requireExposedSession(context.clients, call, sessionId, 'mcp');
  if (agentId !== undefined && session.agentId !== agentId)
    throw refuse('SESSION_NOT_FOUND', `Unknown session ${sessionId}. This endpoint has another agent.`);
  return session;
}
