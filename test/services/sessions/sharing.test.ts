import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../lib/grpc/contract.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  ADMINISTRATOR,
  AGENT,
  ASSISTANT,
  content,
  converse,
  type House,
  MANAGER,
  OWNER,
  openHouse,
  STRANGER,
} from './house.ts';

const page = { limit: 50, cursor: '' };

describe.each(TRANSPORTS)('whose a session is, %s', (transport) => {
  let house: House;
  let sessionId: string;
  let turnId: string;

  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());
  beforeEach(async () => {
    sessionId = await converse(house, 'Hello');
    const { turns } = await house.edge.listTurns({ sessionId, page, unfinished: false }, { caller: OWNER });
    turnId = turns[0]?.turnId ?? '';
  });

  const READS: [string, (caller: Caller) => Promise<unknown>][] = [
    ['the session', (caller) => house.edge.getSession({ sessionId }, { caller })],
    ['its turns', (caller) => house.edge.listTurns({ sessionId, page, unfinished: false }, { caller })],
    ['one of its turns', (caller) => house.edge.getTurn({ sessionId, turnId }, { caller })],
    ['its messages', (caller) => house.edge.listMessages({ sessionId, page }, { caller })],
    [
      'its events',
      (caller) => house.edge.listEvents({ sessionId, page, afterSeq: 0, types: [] }, { caller }),
    ],
    ['its approvals', (caller) => house.edge.listApprovals({ sessionId, page, status: '' }, { caller })],
    ['its stream', (caller) => firstOf(caller)],
    [
      'where its files are',
      (caller) => house.files.locateWorkspace({ sessionId, lease: undefined }, { caller }),
    ],
  ];

  const CHANGES: [string, (caller: Caller) => Promise<unknown>][] = [
    [
      'writes in it',
      (caller) =>
        house.edge.sendMessage(
          { sessionId, contentJson: content('Hi'), busyPolicy: 'enqueue', idempotencyKey: '' },
          { caller },
        ),
    ],
    [
      'names it',
      (caller) => house.edge.updateSession({ sessionId, title: 'Mine', metadata: undefined }, { caller }),
    ],
    ['interrupts it', (caller) => house.edge.interruptSession({ sessionId }, { caller })],
    [
      'forks it',
      (caller) => house.edge.forkSession({ sessionId, afterSeq: 1, idempotencyKey: '' }, { caller }),
    ],
    [
      'moves it to another version',
      (caller) => house.edge.setAgentVersion({ sessionId, version: 1 }, { caller }),
    ],
    [
      'decides for it',
      (caller) =>
        house.edge.decideApproval(
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
    ['archives it', (caller) => house.edge.archiveSession({ sessionId }, { caller })],
    ['deletes it', (caller) => house.edge.deleteSession({ sessionId }, { caller })],
  ];

  async function firstOf(caller: Caller) {
    const asked = { sessionId, afterSeq: 0, fromNow: false, types: [], untilCaughtUp: true };
    for await (const chunk of house.edge.follow(asked, { caller })) return chunk;
    return undefined;
  }

  it.each(READS)(
    'who manages its agent, and an administrator, reads %s as its owner does',
    async (_, read) => {
      const owners = await read(OWNER);
      const whose = { foreign: expect.any(Boolean) };
      for (const reader of [MANAGER, ADMINISTRATOR])
        expect({ ...((await read(reader)) as object), ...whose }).toEqual({
          ...(owners as object),
          ...whose,
        });
    },
  );

  it.each(READS)('to others %s is as little there as of one that never was', async (_, read) => {
    const theirs = await refusalOf(read(STRANGER));
    expect(theirs).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const real = sessionId;
    sessionId = sessionId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const absent = await refusalOf(read(STRANGER));
    expect({ ...absent, message: absent.message.replace(sessionId, real) }).toEqual(theirs);
  });

  it('is looked for in the same way whether it is there or not', async () => {
    house.asked.levels.length = 0;
    await refusalOf(house.edge.getSession({ sessionId }, { caller: STRANGER }));
    await refusalOf(house.edge.getSession({ sessionId: `ses_${'0'.repeat(26)}` }, { caller: STRANGER }));
    expect(house.asked.levels).toEqual([AGENT, `agt_${'0'.repeat(26)}`]);
  });

  it.each(CHANGES)('nobody but its owner %s', async (_, change) => {
    for (const reader of [MANAGER, ADMINISTRATOR])
      expect(await refusalOf(change(reader))).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusalOf(change(STRANGER))).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const { session } = await house.edge.getSession({ sessionId }, { caller: OWNER });
    expect(session).toMatchObject({
      title: 'Hello',
      status: 'pending',
      agentVersion: 3,
      archivedAt: undefined,
    });
  });

  it('of an assistant it is not for who manages agents, but administrators read it', async () => {
    sessionId = await converse(house, undefined, ASSISTANT);
    expect(await refusalOf(house.edge.getSession({ sessionId }, { caller: MANAGER }))).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    const { session } = await house.edge.getSession({ sessionId }, { caller: ADMINISTRATOR });
    expect(session).toMatchObject({ assistantId: ASSISTANT });
  });

  it.each(READS)('an administrator who looks at %s is written down, and nobody else', async (_, read) => {
    house.ledger.take();
    await read(OWNER);
    await read(MANAGER);
    await refusalOf(read(STRANGER));
    expect(house.ledger.take()).toEqual([]);
    await read(ADMINISTRATOR);
    expect(house.ledger.take()).toEqual([`${ADMINISTRATOR.userId} session.look ${sessionId}`]);
  });

  it('an administrator whose look cannot be written down sees nothing', async () => {
    house.ledger.isClosed = true;
    try {
      for (const [name, read] of READS)
        expect(await refusalOf(read(ADMINISTRATOR)), name).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      await house.edge.getSession({ sessionId }, { caller: OWNER });
    } finally {
      house.ledger.isClosed = false;
    }
  });

  it('files are told who only reads them', async () => {
    const files = house.files;
    const foreign = async (caller: Caller) =>
      (await files.locateWorkspace({ sessionId, lease: undefined }, { caller })).foreign;
    expect(await Promise.all([OWNER, MANAGER, ADMINISTRATOR].map(foreign))).toEqual([false, true, true]);
  });

  describe('lists', () => {
    const list = async (caller: Caller, reach?: string, agentId = '', status = '', limit = 100) => {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const request = { page: { limit, cursor }, agentId, deploymentId: '', status, q: '', reach };
        const answer = await house.edge.listSessions(request, { caller });
        ids.push(...answer.sessions.map((one) => one.sessionId));
        cursor = answer.page?.nextCursor ?? '';
        if (cursor === '') return ids;
      }
    };

    it('show to everybody their own', async () => {
      expect(await list(OWNER)).toContain(sessionId);
      for (const other of [MANAGER, ADMINISTRATOR, STRANGER]) expect(await list(other)).toEqual([]);
    });

    it('show those of an agent to who manages it, in whatever state, page by page', async () => {
      const owners = await list(OWNER, undefined, AGENT);
      expect(await list(MANAGER, 'agent', AGENT)).toEqual(owners);
      expect(await list(MANAGER, 'agent', AGENT, '', 2)).toEqual(owners);
      expect(await list(MANAGER, 'agent', AGENT, 'pending')).toContain(sessionId);
      expect(await list(MANAGER, 'agent', AGENT, 'running')).toEqual([]);
      expect(await list(STRANGER, 'agent', AGENT)).toEqual([]);
      expect(await list(OWNER, 'agent', AGENT)).toEqual(owners);
      expect(await list(MANAGER, 'agent', ASSISTANT)).toEqual([]);
    });

    it('show all of everybody to administrators alone', async () => {
      expect(await list(ADMINISTRATOR, 'all')).toEqual(await list(OWNER));
      expect(house.ledger.take()).toContain(`${ADMINISTRATOR.userId} sessions.list `);
      for (const other of [OWNER, MANAGER, STRANGER])
        await expect(list(other, 'all')).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await expect(list(ADMINISTRATOR, 'everything')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });

    it('give nobody a cursor that is good for somebody else', async () => {
      await converse(house);
      const request = { agentId: '', deploymentId: '', status: '', q: '' };
      const first = await house.edge.listSessions(
        { ...request, page: { limit: 1, cursor: '' } },
        { caller: OWNER },
      );
      const theirs = { ...request, page: { limit: 1, cursor: first.page?.nextCursor ?? '' } };
      for (const reach of [undefined, 'all'])
        await expect(
          house.edge.listSessions({ ...theirs, reach }, { caller: ADMINISTRATOR }),
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
