import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../lib/grpc/contract.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  ADMINISTRATOR,
  AGENT,
  ASSISTANT,
  content,
  createConversation,
  MANAGER,
  OWNER,
  openSystem,
  type SessionsSystem,
  STRANGER,
  sendText,
} from './system.ts';

const page = { limit: 50, cursor: '' };

describe.each(TRANSPORTS)('access to a session over %s', (transport) => {
  let system: SessionsSystem;
  let sessionId: string;
  let turnId: string;

  beforeAll(async () => {
    system = await openSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(async () => {
    sessionId = await createConversation(system, 'Hello');
    const { turns } = await system.edge.listTurns({ sessionId, page, unfinished: false }, { caller: OWNER });
    turnId = turns[0]?.turnId ?? '';
  });

  const READS: [string, (caller: Caller) => Promise<unknown>][] = [
    ['the session', (caller) => system.edge.getSession({ sessionId }, { caller })],
    ['its turns', (caller) => system.edge.listTurns({ sessionId, page, unfinished: false }, { caller })],
    ['one of its turns', (caller) => system.edge.getTurn({ sessionId, turnId }, { caller })],
    ['its messages', (caller) => system.edge.listMessages({ sessionId, page }, { caller })],
    [
      'its events',
      (caller) => system.edge.listEvents({ sessionId, page, afterSeq: 0, types: [] }, { caller }),
    ],
    ['its approvals', (caller) => system.edge.listApprovals({ sessionId, page, status: '' }, { caller })],
    ['its tool calls', (caller) => system.edge.listToolCalls({ sessionId, page, status: '' }, { caller })],
    ['its stream', (caller) => firstOf(caller)],
    [
      'the location of its workspace',
      (caller) => system.files.locateWorkspace({ sessionId, lease: undefined }, { caller }),
    ],
  ];

  const CHANGES: [string, (caller: Caller) => Promise<unknown>][] = [
    [
      'send a message',
      (caller) =>
        system.edge.sendMessage(
          { sessionId, contentJson: content('Hi'), busyPolicy: 'enqueue', idempotencyKey: '' },
          { caller },
        ),
    ],
    [
      'rename it',
      (caller) => system.edge.updateSession({ sessionId, title: 'Mine', metadata: undefined }, { caller }),
    ],
    ['release its queue', (caller) => system.edge.releaseQueue({ sessionId }, { caller })],
    [
      'remove a queued turn',
      (caller) => system.edge.cancelTurn({ sessionId, turnId: `trn_${'0'.repeat(26)}` }, { caller }),
    ],
    [
      'fork it',
      (caller) => system.edge.forkSession({ sessionId, afterSeq: 1, idempotencyKey: '' }, { caller }),
    ],
    [
      'record a chat in it',
      (caller) =>
        system.edge.recordChat({ record: { key: Buffer.alloc(32, 1), sessionId, turnId } }, { caller }),
    ],
    ['set its agent version', (caller) => system.edge.setAgentVersion({ sessionId, version: 1 }, { caller })],
    [
      'decide an approval',
      (caller) =>
        system.edge.decideApproval(
          {
            sessionId,
            approvalId: `apr_${'0'.repeat(26)}`,
            decision: 'allow',
            reason: '',
            editedInputJson: '',
          },
          { caller },
        ),
    ],
    [
      'answer a tool call',
      (caller) =>
        system.edge.submitToolResult(
          { sessionId, toolUseId: 'call_1', outputJson: '1', isError: false },
          { caller },
        ),
    ],
    ['archive it', (caller) => system.edge.archiveSession({ sessionId }, { caller })],
    ['delete it', (caller) => system.edge.deleteSession({ sessionId }, { caller })],
  ];

  async function firstOf(caller: Caller) {
    const followRequest = { sessionId, afterSeq: 0, fromNow: false, types: [], untilCaughtUp: true };
    for await (const chunk of system.edge.follow(followRequest, { caller })) return chunk;
    return undefined;
  }

  it.each(READS)(
    'returns %s to a manager of the agent and to an administrator as to the owner',
    async (_, read) => {
      const ownersAnswer = await read(OWNER);
      const fields = { foreign: expect.any(Boolean) };
      for (const reader of [MANAGER, ADMINISTRATOR])
        expect({ ...((await read(reader)) as object), ...fields }).toEqual({
          ...(ownersAnswer as object),
          ...fields,
        });
    },
  );

  it.each(READS)('refuses to return %s to another user as for an unknown session', async (_, read) => {
    const existing = await refusalOf(read(STRANGER));
    expect(existing).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const existingId = sessionId;
    sessionId = sessionId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const absent = await refusalOf(read(STRANGER));
    expect({ ...absent, message: absent.message.replace(sessionId, existingId) }).toEqual(existing);
  });

  it('makes the same calls to agents for an unknown session as for one of another user', async () => {
    system.neighbourCalls.levels.length = 0;
    await refusalOf(system.edge.getSession({ sessionId }, { caller: STRANGER }));
    await refusalOf(system.edge.getSession({ sessionId: `ses_${'0'.repeat(26)}` }, { caller: STRANGER }));
    expect(system.neighbourCalls.levels).toEqual([AGENT, AGENT]);
  });

  it.each(CHANGES)('forbids every user but the owner to %s', async (_, change) => {
    for (const reader of [MANAGER, ADMINISTRATOR])
      expect(await refusalOf(change(reader))).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusalOf(change(STRANGER))).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const { session } = await system.edge.getSession({ sessionId }, { caller: OWNER });
    expect(session).toMatchObject({
      title: 'Hello',
      status: 'pending',
      agentVersion: 3,
      archivedAt: undefined,
    });
  });

  it.each([
    ['a manager of the agent', MANAGER],
    ['an administrator', ADMINISTRATOR],
  ])('lets %s interrupt it and hold its queue, and records it in the audit log', async (_, caller) => {
    await sendText(system, sessionId, 'second');
    system.auth.takeActs();
    const { session } = await system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
    expect(session).toMatchObject({ sessionId, status: 'idle', queueHeld: true, queuedTurns: 1 });
    expect(system.auth.takeActs()).toEqual([`${caller.userId} session.interrupt ${sessionId}`]);
    await system.edge.interruptSession({ sessionId }, { caller: OWNER });
    expect(system.auth.takeActs()).toEqual([]);
  });

  it('interrupts nothing for another user that the audit log cannot record', async () => {
    system.auth.failsToRecord = true;
    try {
      const interrupting = system.edge.interruptSession({ sessionId }, { caller: ADMINISTRATOR });
      expect(await refusalOf(interrupting)).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    } finally {
      system.auth.failsToRecord = false;
    }
    const { session } = await system.edge.getSession({ sessionId }, { caller: OWNER });
    expect(session).toMatchObject({ status: 'pending' });
  });

  it('refuses to interrupt it for another user as for an unknown session', async () => {
    const interrupting = system.edge.interruptSession({ sessionId }, { caller: STRANGER });
    expect(await refusalOf(interrupting)).toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('lets no manager of an agent interrupt a session of an assistant', async () => {
    sessionId = await createConversation(system, 'Hello', ASSISTANT);
    const interrupting = system.edge.interruptSession({ sessionId }, { caller: MANAGER });
    expect(await refusalOf(interrupting)).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const { session } = await system.edge.interruptSession({ sessionId }, { caller: ADMINISTRATOR });
    expect(session).toMatchObject({ status: 'idle' });
  });

  it('lets administrators, but no manager of an agent, read a session of an assistant', async () => {
    sessionId = await createConversation(system, undefined, ASSISTANT);
    expect(await refusalOf(system.edge.getSession({ sessionId }, { caller: MANAGER }))).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    const { session } = await system.edge.getSession({ sessionId }, { caller: ADMINISTRATOR });
    expect(session).toMatchObject({ assistantId: ASSISTANT });
  });

  it.each(READS)(
    'records in the audit log when an administrator reads %s, and no other reader',
    async (_, read) => {
      system.auth.takeActs();
      await read(OWNER);
      await read(MANAGER);
      await refusalOf(read(STRANGER));
      expect(system.auth.takeActs()).toEqual([]);
      await read(ADMINISTRATOR);
      expect(system.auth.takeActs()).toEqual([`${ADMINISTRATOR.userId} session.look ${sessionId}`]);
    },
  );

  it('refuses an administrator when the read cannot be recorded in the audit log', async () => {
    system.auth.failsToRecord = true;
    try {
      for (const [name, read] of READS)
        expect(await refusalOf(read(ADMINISTRATOR)), name).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      await system.edge.getSession({ sessionId }, { caller: OWNER });
    } finally {
      system.auth.failsToRecord = false;
    }
  });

  it('LocateWorkspace says whether the session belongs to another user', async () => {
    const files = system.files;
    const foreign = async (caller: Caller) =>
      (await files.locateWorkspace({ sessionId, lease: undefined }, { caller })).foreign;
    expect(await Promise.all([OWNER, MANAGER, ADMINISTRATOR].map(foreign))).toEqual([false, true, true]);
  });

  describe('ListSessions', () => {
    const list = async (caller: Caller, reach?: string, agentId = '', status = '', limit = 100) => {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const request = {
          page: { limit, cursor },
          agentId,
          deploymentId: '',
          states: [],
          status,
          q: '',
          reach,
        };
        const answer = await system.edge.listSessions(request, { caller });
        ids.push(...answer.sessions.map((one) => one.sessionId));
        cursor = answer.page?.nextCursor ?? '';
        if (cursor === '') return ids;
      }
    };

    it('lists only sessions of the caller by default', async () => {
      expect(await list(OWNER)).toContain(sessionId);
      for (const other of [MANAGER, ADMINISTRATOR, STRANGER]) expect(await list(other)).toEqual([]);
    });

    it('lists all sessions of an agent to a manager of the agent, with filters and pages', async () => {
      const owners = await list(OWNER, undefined, AGENT);
      expect(await list(MANAGER, 'agent', AGENT)).toEqual(owners);
      expect(await list(MANAGER, 'agent', AGENT, '', 2)).toEqual(owners);
      expect(await list(MANAGER, 'agent', AGENT, 'pending')).toContain(sessionId);
      expect(await list(MANAGER, 'agent', AGENT, 'running')).toEqual([]);
      expect(await list(STRANGER, 'agent', AGENT)).toEqual([]);
      expect(await list(OWNER, 'agent', AGENT)).toEqual(owners);
      expect(await list(MANAGER, 'agent', ASSISTANT)).toEqual([]);
    });

    it('lists the sessions of all users to administrators only', async () => {
      expect(await list(ADMINISTRATOR, 'all')).toEqual(await list(OWNER));
      expect(system.auth.takeActs()).toContain(`${ADMINISTRATOR.userId} sessions.list `);
      for (const other of [OWNER, MANAGER, STRANGER])
        await expect(list(other, 'all')).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await expect(list(ADMINISTRATOR, 'everything')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });

    it('refuses a cursor of another caller with INVALID_CURSOR', async () => {
      await createConversation(system);
      const request = { agentId: '', deploymentId: '', states: [], status: '', q: '' };
      const first = await system.edge.listSessions(
        { ...request, page: { limit: 1, cursor: '' } },
        { caller: OWNER },
      );
      const ownersPage = { ...request, page: { limit: 1, cursor: first.page?.nextCursor ?? '' } };
      for (const reach of [undefined, 'all'])
        await expect(
          system.edge.listSessions({ ...ownersPage, reach }, { caller: ADMINISTRATOR }),
        ).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    });
  });
});

function refusalOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  return work.then(
    () => ({ code: 'OK', message: '' }),
    ({ code, message }) => ({ code, message }),
  );
}
