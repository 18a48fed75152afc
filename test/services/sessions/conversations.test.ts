import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import {
  AGENT,
  content,
  converse,
  DISABLED_AGENT,
  type House,
  journalOf,
  OWNER,
  openHouse,
  STRANGER,
  say,
  typesOf,
} from './house.ts';

describe.each(TRANSPORTS)('conversations, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const creation = (more: object = {}) => ({
    agentId: AGENT,
    contentJson: content('hello'),
    title: 'Greeting',
    metadata: { ticket: '42' },
    idempotencyKey: '',
    ...more,
  });

  it.each([
    'NULL',
    'null',
    '{a,b}',
    'say "hi" \\ bye',
    ' blank ',
    'naïve 🙂 テスト',
    'one|two',
    "it's",
    '\t',
  ])('keep a title and metadata exactly as they are: %j', async (text) => {
    const request = {
      agentId: AGENT,
      contentJson: '',
      title: text,
      metadata: { note: text },
      idempotencyKey: '',
    };
    const { session } = await house.edge.createConversation(request, { caller: OWNER });
    const found = await house.edge.getSession({ sessionId: session?.sessionId ?? '' }, { caller: OWNER });
    expect(found.session).toMatchObject({ title: text, metadata: { note: text } });
  });

  it('begin with their first turn queued in the same commit', async () => {
    const { session } = await house.edge.createConversation(creation(), { caller: OWNER });
    expect(session).toMatchObject({
      agentId: AGENT,
      agentVersion: 3,
      title: 'Greeting',
      metadata: { ticket: '42' },
      status: 'pending',
      queuedTurns: 1,
      lastSeq: 4,
      createdBy: OWNER.userId,
    });
    const read = await house.edge.getSession({ sessionId: session?.sessionId ?? '' }, { caller: OWNER });
    expect(read.session).toEqual(session);
    const events = await journalOf(house, session?.sessionId ?? '');
    expect(typesOf(events)).toEqual([
      'session.created',
      'user.message',
      'turn.queued',
      'session.status_pending',
    ]);
    expect(JSON.parse(events[1]?.json ?? '')).toMatchObject({
      seq: 2,
      session_id: session?.sessionId,
      actor: { type: 'user', id: OWNER.userId },
      data: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  it('begin idle without a message', async () => {
    const sessionId = await converse(house);
    const { session } = await house.edge.getSession({ sessionId }, { caller: OWNER });
    expect(session).toMatchObject({ status: 'idle', stopReasonJson: '', lastSeq: 1, queuedTurns: 0 });
  });

  it('cannot begin with an agent that is disabled or absent', async () => {
    const disabled = house.edge.createConversation(creation({ agentId: DISABLED_AGENT }), { caller: OWNER });
    await expect(disabled).rejects.toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
    const absent = house.edge.createConversation(creation({ agentId: 'agt_x' }), { caller: OWNER });
    await expect(absent).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('give the same answer to the same idempotency key, also at the same time', async () => {
    const request = creation({ idempotencyKey: 'once-please' });
    const answers = await Promise.all(
      [1, 2, 3].map(() => house.edge.createConversation(request, { caller: OWNER })),
    );
    expect(new Set(answers.map((answer) => answer.session?.sessionId)).size).toBe(1);
    expect(answers.filter((answer) => answer.replayed)).toHaveLength(2);
    const other = house.edge.createConversation(creation({ idempotencyKey: 'once-please', title: 'Other' }), {
      caller: OWNER,
    });
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
    const stranger = await house.edge.createConversation(request, { caller: STRANGER });
    expect(stranger.replayed).toBe(false);
  });

  it('queue a message once for one idempotency key', async () => {
    const sessionId = await converse(house);
    const request = {
      sessionId,
      contentJson: content('again'),
      busyPolicy: 'enqueue',
      idempotencyKey: 'send-once',
    };
    const first = await house.edge.sendMessage(request, { caller: OWNER });
    const second = await house.edge.sendMessage(request, { caller: OWNER });
    expect(second).toEqual({ ...first, replayed: true });
    expect(first.seq).toBe(2);
  });

  it('refuse a message when busy and told not to wait', async () => {
    const sessionId = await converse(house, 'first');
    await expect(say(house, sessionId, 'second', 'reject')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(await say(house, sessionId, 'second')).toMatchObject({ seq: 5 });
  });

  it('look absent to somebody who does not own them', async () => {
    const sessionId = await converse(house, 'mine');
    const stranger = { caller: STRANGER };
    const page = { limit: 10, cursor: '' };
    const attempts = [
      house.edge.getSession({ sessionId }, stranger),
      house.edge.listEvents({ sessionId, page, afterSeq: 0, types: [] }, stranger),
      house.edge.listMessages({ sessionId, page }, stranger),
      house.edge.listTurns({ sessionId, page, unfinished: false }, stranger),
      house.edge.sendMessage(
        { sessionId, contentJson: content('x'), busyPolicy: 'enqueue', idempotencyKey: '' },
        stranger,
      ),
      house.edge.archiveSession({ sessionId }, stranger),
      house.edge.deleteSession({ sessionId }, stranger),
      house.edge.updateSession({ sessionId, title: 'x', metadata: undefined }, stranger),
    ];
    for (const outcome of await Promise.allSettled(attempts)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SESSION_NOT_FOUND' } });
    }
    expect(
      (await house.edge.listSessions({ ...ALL, page }, stranger)).sessions.map((one) => one.sessionId),
    ).not.toContain(sessionId);
  });

  it('are listed newest first, page by page, with filters', async () => {
    const ids = [await converse(house), await converse(house), await converse(house, 'busy')].reverse();
    const first = await house.edge.listSessions(
      { ...ALL, page: { limit: 2, cursor: '' } },
      { caller: OWNER },
    );
    const second = await house.edge.listSessions(
      { ...ALL, page: { limit: 1, cursor: first.page?.nextCursor ?? '' } },
      { caller: OWNER },
    );
    expect([...first.sessions, ...second.sessions].map((one) => one.sessionId)).toEqual(ids);
    const pending = await house.edge.listSessions(
      { ...ALL, status: 'pending', page: { limit: 1, cursor: '' } },
      { caller: OWNER },
    );
    expect(pending.sessions[0]?.sessionId).toBe(ids[0]);
    const foreign = house.edge.listSessions(
      { ...ALL, status: 'idle', page: { limit: 2, cursor: first.page?.nextCursor ?? '' } },
      { caller: OWNER },
    );
    await expect(foreign).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('are found by title, literally', async () => {
    const { session } = await house.edge.createConversation(creation({ title: '100% sure_thing' }), {
      caller: OWNER,
    });
    const find = async (q: string) =>
      (await house.edge.listSessions({ ...ALL, q, page: { limit: 10, cursor: '' } }, { caller: OWNER }))
        .sessions;
    expect((await find('100% SURE_')).map((one) => one.sessionId)).toEqual([session?.sessionId]);
    expect(await find('100_ sure')).toEqual([]);
  });

  it('are renamed, archived and then only read', async () => {
    const sessionId = await converse(house);
    const renamed = await house.edge.updateSession(
      { sessionId, title: 'New name', metadata: { entries: { a: 'b' } } },
      { caller: OWNER },
    );
    expect(renamed.session).toMatchObject({ title: 'New name', metadata: { a: 'b' } });
    const archived = await house.edge.archiveSession({ sessionId }, { caller: OWNER });
    expect(archived.session?.archivedAt).toBeInstanceOf(Date);
    expect(archived.session?.title).toBe('New name');
    await house.edge.archiveSession({ sessionId }, { caller: OWNER });
    await expect(say(house, sessionId, 'more')).rejects.toMatchObject({ code: 'SESSION_ARCHIVED' });
    expect(typesOf(await journalOf(house, sessionId))).toEqual([
      'session.created',
      'session.updated',
      'session.updated',
    ]);
    const listed = async (archived: boolean) =>
      (
        await house.edge.listSessions(
          { ...ALL, archived, page: { limit: 50, cursor: '' } },
          { caller: OWNER },
        )
      ).sessions.some((one) => one.sessionId === sessionId);
    expect([await listed(true), await listed(false)]).toEqual([true, false]);
  });

  it('are gone once deleted', async () => {
    const sessionId = await converse(house, 'short');
    await house.edge.deleteSession({ sessionId }, { caller: OWNER });
    await expect(house.edge.getSession({ sessionId }, { caller: OWNER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await expect(house.edge.deleteSession({ sessionId }, { caller: OWNER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('begin once for one invocation', async () => {
    const request = {
      invocationId: 'inv_01M7XYC91CC5TE06JQWDWRTJVC',
      deploymentId: 'dep_01M7XYC91CC5TE06JQWDWRTJVD',
      agentId: AGENT,
      agentVersion: 3,
      ownerId: OWNER.userId,
      text: '\ufeffNUL \u0000 and \ud800',
      bodyBytes: 12,
      sourceAddress: '127.0.0.1',
    };
    const answers = await Promise.all([
      house.deployments.createSession(request),
      house.deployments.createSession(request),
    ]);
    expect(answers).toEqual([
      { sessionId: 'ses_01M7XYC91CC5TE06JQWDWRTJVC' },
      { sessionId: 'ses_01M7XYC91CC5TE06JQWDWRTJVC' },
    ]);
    const { sessions } = await house.deployments.listDeploymentSessions({
      deploymentId: request.deploymentId,
      beforeInvocationId: '',
      limit: 10,
    });
    expect(sessions).toMatchObject([
      { invocationId: request.invocationId, bodyBytes: 12, sourceAddress: '127.0.0.1' },
    ]);
    const { events } = await house.edge.listMessages(
      { sessionId: 'ses_01M7XYC91CC5TE06JQWDWRTJVC', page: { limit: 10, cursor: '' } },
      { caller: OWNER },
    );
    const text = JSON.parse(events[0]?.json ?? '').data.content[0].text;
    expect(text.startsWith('\ufeffNUL \u0000 and ')).toBe(true);
  });
});

const ALL = { agentId: '', deploymentId: '', status: '', needsAction: undefined, q: '', archived: undefined };
