import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { ADMINISTRATOR, createConversation, openSystem, type SessionsSystem } from './system.ts';

const FILTER = { agentId: '', deploymentId: '', status: '', q: '', states: [] };
const ABSENT = { needsAction: undefined, archived: undefined, reach: undefined };

describe.each(TRANSPORTS)('page limits of the sessions service, %s', (transport) => {
  let system: SessionsSystem;
  let sessionId: string;
  beforeAll(async () => {
    system = await openSystem(transport);
    sessionId = await createConversation(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each([0, 101])('every list refuses a page of %i items', async (limit) => {
    const page = { limit, cursor: '' };
    const by = { caller: ADMINISTRATOR };
    const { edge, as } = system;
    const events = { sessionId, page, afterSeq: 0, types: [], newestFirst: undefined };
    const calls = [
      edge.listSessions({ ...FILTER, ...ABSENT, page }, by),
      edge.listTurns({ sessionId, page, unfinished: false }, by),
      edge.listMessages({ sessionId, page }, by),
      edge.listEvents(events, by),
      edge.listApprovals({ sessionId, page, status: '' }, by),
      edge.listSandboxes({ page, status: '' }, by),
      as('deployments').listDeploymentSessions(
        { deploymentId: '', beforeInvocationId: '', limit: limit * 10 },
        by,
      ),
    ];
    const reason = { code: 'INVALID_REQUEST', details: [{ pointer: '/limit' }] };
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes).toMatchObject(calls.map(() => ({ status: 'rejected', reason })));
  });
});
