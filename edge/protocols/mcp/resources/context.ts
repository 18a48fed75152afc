import { sha256 } from '../../../../lib/digest.ts';
import type { Session } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { exposedSessions } from '../../exposure.ts';
import { listTools } from '../call-tool.ts';
import type { McpOperation } from '../operation.ts';
import { ownSession } from '../session-access.ts';
import type { ResourceContext } from './resources.ts';
import type { SubscriptionContext } from './subscription.ts';

const PAGE_SESSIONS = 100;
/** Sessions with agents that are not exposed are skipped. A list reads at most this many pages to find others. */
const MAX_PAGES = 5;

/** The sessions that the client of an operation sees. */
export function resourceContext(operation: McpOperation): ResourceContext {
  const { context, call, requestId, outcome } = operation;
  return {
    ...{ call, requestId, outcome },
    clients: context.clients,
    findSession: (sessionId) => ownSession(operation, sessionId),
    newestSessions: (limit) => newestSessions(operation, limit),
  };
}

export function subscriptionContext(operation: McpOperation): SubscriptionContext {
  const { clock, bus, draining } = operation.context;
  return {
    ...resourceContext(operation),
    ...{ clock, bus, draining },
    toolsFingerprint: async () => sha256(JSON.stringify(await listTools(operation))),
  };
}

async function newestSessions(
  { context: { clients }, call, agentId = '' }: McpOperation,
  limit: number,
): Promise<Session[]> {
  const filters = { agentId, deploymentId: '', status: '', q: '', states: [] };
  const found: Session[] = [];
  let cursor = '';
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const request = { ...filters, page: { limit: PAGE_SESSIONS, cursor } };
    const { sessions, page } = await clients.sessions.listSessions(request, call);
    found.push(...(await exposedSessions(clients, call, sessions, 'mcp')));
    cursor = page?.nextCursor ?? '';
    if (cursor === '' || found.length >= limit) break;
  }
  return found.slice(0, limit);
}
