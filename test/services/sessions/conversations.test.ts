import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import {
  AGENT,
  content,
  createConversation,
  DISABLED_AGENT,
  journalOf,
  OWNER,
  openSystem,
  type SessionsSystem,
  STRANGER,
  sendText,
  typesOf,
} from './system.ts';

describe('UpdateSession at the same time as another change', () => {
  let system: SessionsSystem;
  beforeAll(async () => {
    system = await openSystem('in process');
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const update = (
    sessionId: string,
    fields: { title?: string; metadata?: { entries: Record<string, string> } },
  ) =>
    system.edge.updateSession(
      { sessionId, title: undefined, metadata: undefined, ...fields },
      { caller: OWNER },
    );
  const read = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller: OWNER })).session;

  it('keeps a title and metadata that are set by two concurrent requests', async () => {
    for (let i = 0; i < 5; i++) {
      const sessionId = await createConversation(system);
      const metadata = { ticket: String(i) };
      await Promise.all([
        update(sessionId, { title: `title ${i}` }),
        update(sessionId, { metadata: { entries: metadata } }),
      ]);
      expect(await read(sessionId)).toMatchObject({ title: `title ${i}`, metadata });
    }
  });

  it('keeps the automatic title of a first message that is sent while metadata is set', async () => {
    for (let i = 0; i < 5; i++) {
      const sessionId = await createConversation(system);
      await Promise.all([
        update(sessionId, { metadata: { entries: { ticket: '1' } } }),
        sendText(system, sessionId, 'first words'),
      ]);
      expect(await read(sessionId)).toMatchObject({ title: 'first words', metadata: { ticket: '1' } });
    }
  });

  it('removes the title when it is set to an empty text', async () => {
    const sessionId = await createConversation(system, 'first words');
    await update(sessionId, { title: '' });
    expect(await read(sessionId)).toMatchObject({ title: '' });
  });
});

describe.each(TRANSPORTS)('conversations over %s', (transport) => {
  let system: SessionsSystem;
  beforeAll(async () => {
    system = await openSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

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
  ])('stores the title and metadata %j unchanged', async (text) => {
    const request = {
      agentId: AGENT,
      contentJson: '',
      title: text,
      metadata: { note: text },
      idempotencyKey: '',
    };
    const { session } = await system.edge.createConversation(request, { caller: OWNER });
    const found = await system.edge.getSession({ sessionId: session?.sessionId ?? '' }, { caller: OWNER });
    expect(found.session).toMatchObject({ title: text, metadata: { note: text } });
  });

  it('CreateConversation with a message queues the first turn in the same commit', async () => {
    const { session } = await system.edge.createConversation(creation(), { caller: OWNER });
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
    const read = await system.edge.getSession({ sessionId: session?.sessionId ?? '' }, { caller: OWNER });
    expect(read.session).toEqual(session);
    const events = await journalOf(system, session?.sessionId ?? '');
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

  it('CreateConversation without a message creates an idle session', async () => {
    const sessionId = await createConversation(system);
    const { session } = await system.edge.getSession({ sessionId }, { caller: OWNER });
    expect(session).toMatchObject({ status: 'idle', stopReasonJson: '', lastSeq: 1, queuedTurns: 0 });
  });

  it('CreateConversation refuses a disabled and an unknown agent', async () => {
    const disabled = system.edge.createConversation(creation({ agentId: DISABLED_AGENT }), { caller: OWNER });
    await expect(disabled).rejects.toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
    const absent = system.edge.createConversation(creation({ agentId: 'agt_x' }), { caller: OWNER });
    await expect(absent).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('CreateConversation creates one session for concurrent requests with the same idempotency key', async () => {
    const request = creation({ idempotencyKey: 'once-please' });
    const answers = await Promise.all(
      [1, 2, 3].map(() => system.edge.createConversation(request, { caller: OWNER })),
    );
    expect(new Set(answers.map((answer) => answer.session?.sessionId)).size).toBe(1);
    expect(answers.filter((answer) => answer.replayed)).toHaveLength(2);
    const other = system.edge.createConversation(
      creation({ idempotencyKey: 'once-please', title: 'Other' }),
      {
        caller: OWNER,
      },
    );
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
    const stranger = await system.edge.createConversation(request, { caller: STRANGER });
    expect(stranger.replayed).toBe(false);
  });

  it('SendMessage queues one turn for an idempotency key', async () => {
    const sessionId = await createConversation(system);
    const request = {
      sessionId,
      contentJson: content('again'),
      busyPolicy: 'enqueue',
      idempotencyKey: 'send-once',
    };
    const first = await system.edge.sendMessage(request, { caller: OWNER });
    const second = await system.edge.sendMessage(request, { caller: OWNER });
    expect(second).toEqual({ ...first, replayed: true });
    expect(first.seq).toBe(2);
  });

  it('SendMessage with busy_policy reject refuses with SESSION_BUSY while a turn is queued', async () => {
    const sessionId = await createConversation(system, 'first');
    await expect(sendText(system, sessionId, 'second', 'reject')).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
    expect(await sendText(system, sessionId, 'second')).toMatchObject({ seq: 5 });
  });

  it('refuses every RPC of another user with SESSION_NOT_FOUND', async () => {
    const sessionId = await createConversation(system, 'mine');
    const stranger = { caller: STRANGER };
    const page = { limit: 10, cursor: '' };
    const attempts = [
      system.edge.getSession({ sessionId }, stranger),
      system.edge.listEvents({ sessionId, page, afterSeq: 0, types: [] }, stranger),
      system.edge.listMessages({ sessionId, page }, stranger),
      system.edge.listTurns({ sessionId, page, unfinished: false }, stranger),
      system.edge.sendMessage(
        { sessionId, contentJson: content('x'), busyPolicy: 'enqueue', idempotencyKey: '' },
        stranger,
      ),
      system.edge.archiveSession({ sessionId }, stranger),
      system.edge.deleteSession({ sessionId }, stranger),
      system.edge.updateSession({ sessionId, title: 'x', metadata: undefined }, stranger),
    ];
    for (const outcome of await Promise.allSettled(attempts)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SESSION_NOT_FOUND' } });
    }
    expect(
      (await system.edge.listSessions({ ...ALL, page }, stranger)).sessions.map((one) => one.sessionId),
    ).not.toContain(sessionId);
  });

  it('ListSessions returns pages, newest first, and refuses a cursor of other filters', async () => {
    const ids = [
      await createConversation(system),
      await createConversation(system),
      await createConversation(system, 'busy'),
    ].reverse();
    const first = await system.edge.listSessions(
      { ...ALL, page: { limit: 2, cursor: '' } },
      { caller: OWNER },
    );
    const second = await system.edge.listSessions(
      { ...ALL, page: { limit: 1, cursor: first.page?.nextCursor ?? '' } },
      { caller: OWNER },
    );
    expect([...first.sessions, ...second.sessions].map((one) => one.sessionId)).toEqual(ids);
    const pending = await system.edge.listSessions(
      { ...ALL, status: 'pending', page: { limit: 1, cursor: '' } },
      { caller: OWNER },
    );
    expect(pending.sessions[0]?.sessionId).toBe(ids[0]);
    const foreign = system.edge.listSessions(
      { ...ALL, status: 'idle', page: { limit: 2, cursor: first.page?.nextCursor ?? '' } },
      { caller: OWNER },
    );
    await expect(foreign).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('ListSessions finds a title literally, without wildcards', async () => {
    const { session } = await system.edge.createConversation(creation({ title: '100% sure_thing' }), {
      caller: OWNER,
    });
    const find = async (q: string) =>
      (await system.edge.listSessions({ ...ALL, q, page: { limit: 10, cursor: '' } }, { caller: OWNER }))
        .sessions;
    expect((await find('100% SURE_')).map((one) => one.sessionId)).toEqual([session?.sessionId]);
    expect(await find('100_ sure')).toEqual([]);
  });

  it('UpdateSession and ArchiveSession append events, and an archived session refuses messages', async () => {
    const sessionId = await createConversation(system);
    const renamed = await system.edge.updateSession(
      { sessionId, title: 'New name', metadata: { entries: { a: 'b' } } },
      { caller: OWNER },
    );
    expect(renamed.session).toMatchObject({ title: 'New name', metadata: { a: 'b' } });
    const archived = await system.edge.archiveSession({ sessionId }, { caller: OWNER });
    expect(archived.session?.archivedAt).toBeInstanceOf(Date);
    expect(archived.session?.title).toBe('New name');
    await system.edge.archiveSession({ sessionId }, { caller: OWNER });
    await expect(sendText(system, sessionId, 'more')).rejects.toMatchObject({ code: 'SESSION_ARCHIVED' });
    expect(typesOf(await journalOf(system, sessionId))).toEqual([
      'session.created',
      'session.updated',
      'session.updated',
    ]);
    const listed = async (archived: boolean) =>
      (
        await system.edge.listSessions(
          { ...ALL, archived, page: { limit: 50, cursor: '' } },
          { caller: OWNER },
        )
      ).sessions.some((one) => one.sessionId === sessionId);
    expect([await listed(true), await listed(false)]).toEqual([true, false]);
  });

  it('DeleteSession makes the session unknown', async () => {
    const sessionId = await createConversation(system, 'short');
    await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    await expect(system.edge.getSession({ sessionId }, { caller: OWNER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await expect(system.edge.deleteSession({ sessionId }, { caller: OWNER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('CreateSession creates one session for concurrent requests with the same invocation', async () => {
    const REQUEST = 'req_01M7XYC91CC5TE06JQWDWRTJVE';
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
      system.deployments.createSession(request, { requestId: REQUEST }),
      system.deployments.createSession(request, { requestId: REQUEST }),
    ]);
    expect(answers).toMatchObject([
      { sessionId: 'ses_01M7XYC91CC5TE06JQWDWRTJVC' },
      { sessionId: 'ses_01M7XYC91CC5TE06JQWDWRTJVC' },
    ]);
    const { sessions } = await system.deployments.listDeploymentSessions({
      deploymentId: request.deploymentId,
      beforeInvocationId: '',
      limit: 10,
    });
    expect(sessions).toMatchObject([
      {
        invocationId: request.invocationId,
        bodyBytes: 12,
        sourceAddress: '127.0.0.1',
        requestId: REQUEST,
      },
    ]);
    const { events } = await system.edge.listMessages(
      { sessionId: 'ses_01M7XYC91CC5TE06JQWDWRTJVC', page: { limit: 10, cursor: '' } },
      { caller: OWNER },
    );
    const text = JSON.parse(events[0]?.json ?? '').data.content[0].text;
    expect(text.startsWith('\ufeffNUL \u0000 and ')).toBe(true);
  });
});

const ALL = {
  agentId: '',
  deploymentId: '',
  states: [],
  status: '',
  needsAction: undefined,
  q: '',
  archived: undefined,
};
