import { afterEach, describe, expect, it } from 'vitest';
import { createIds } from '../../../lib/ids.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createContext, TRANSPORTS } from '../../support/context.ts';
import {
  AGENT,
  content,
  createConversation,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  STRANGER,
  sendText,
} from './system.ts';

const over = { code: 'QUOTA_EXCEEDED' };

describe.each(TRANSPORTS)('SERVICE_QUOTA_TURNS_PER_DAY over %s', (transport) => {
  const clock = createFakeClock(new Date('2026-03-01T23:00:00.500Z'));
  const ids = createIds(clock);
  const opened: AsyncDisposable[] = [];
  let system: Awaited<ReturnType<typeof openSystem>>;
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  async function open(quotaTurnsPerDay: number): Promise<void> {
    system = await openSystem(transport, { clock }, { quotaTurnsPerDay });
    opened.push(system);
  }

  const creation = {
    agentId: AGENT,
    contentJson: content('hi'),
    title: '',
    metadata: {},
    idempotencyKey: '',
  };
  const invocation = (owner = OWNER) => ({
    invocationId: ids('inv'),
    deploymentId: ids('dep'),
    agentId: AGENT,
    agentVersion: 3,
    ownerId: owner.userId,
    text: 'an event',
    bodyBytes: 8,
    sourceAddress: '203.0.113.7',
  });
  const turnsOf = async (sessionId: string) =>
    (await journalOf(system, sessionId)).filter(({ json }) => json.includes('"turn.queued"')).length;

  it('counts messages, conversations and invocations of one user and does not limit other users', async () => {
    await open(3);
    const session = await createConversation(system, 'one');
    await sendText(system, session, 'two');
    await system.deployments.createSession(invocation());
    const refused = { ...over, retryAfterSeconds: 3_600 };
    await expect(sendText(system, session, 'four')).rejects.toMatchObject(refused);
    await expect(sendText(system, session, 'four', 'interrupt')).rejects.toMatchObject(refused);
    await expect(system.edge.createConversation(creation, { caller: OWNER })).rejects.toMatchObject(refused);
    await expect(system.deployments.createSession(invocation())).rejects.toMatchObject(refused);
    expect(await turnsOf(session)).toBe(2);
    await system.deployments.createSession(invocation(STRANGER));
    await system.edge.createConversation({ ...creation, contentJson: '' }, { caller: OWNER });
  });

  it('is renewed exactly when the next UTC day begins', async () => {
    await open(1);
    const session = await createConversation(system, 'one');
    const { retryAfterSeconds } = await sendText(system, session, 'two').catch((error) => error);
    clock.advance(retryAfterSeconds * 1_000 - 1_000);
    await expect(sendText(system, session, 'two')).rejects.toMatchObject({ ...over, retryAfterSeconds: 1 });
    clock.advance(1_000);
    await sendText(system, session, 'two');
    await expect(sendText(system, session, 'three')).rejects.toMatchObject(over);
  });

  it('is exact for concurrent requests at two replicas', async () => {
    await open(10);
    const context = createContext(system.database.url, { clock });
    const replica = await openReplica(transport, context, { quotaTurnsPerDay: 10 });
    opened.push(replica);
    const sessions = await Promise.all(
      Array.from({ length: 4 }, () =>
        system.edge.createConversation({ ...creation, contentJson: '' }, { caller: OWNER }),
      ),
    );
    const send = (index: number) => {
      const { edge } = index % 2 ? system : replica;
      const { session } = sessions[index % 4] ?? {};
      const contentJson = content(`message ${index}`);
      const message = {
        sessionId: session?.sessionId ?? '',
        contentJson,
        busyPolicy: 'enqueue',
        idempotencyKey: '',
      };
      if (index % 3 === 0) return edge.createConversation(creation, { caller: OWNER });
      return edge.sendMessage(message, { caller: OWNER });
    };
    const results = await Promise.allSettled(Array.from({ length: 60 }, (_, index) => send(index)));
    const refusals = results.filter((result) => result.status === 'rejected');
    expect(results.length - refusals.length).toBe(10);
    for (const { reason } of refusals) expect(reason).toMatchObject(over);
  });

  it('counts neither refused requests nor repeated ones', async () => {
    await open(2);
    const session = await createConversation(system, 'one');
    await expect(sendText(system, session, 'no', 'reject')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    const keyed = { ...creation, idempotencyKey: 'again' };
    const { session: first } = await system.edge.createConversation(keyed, { caller: OWNER });
    const repeated = await system.edge.createConversation(keyed, { caller: OWNER });
    expect(repeated).toMatchObject({ replayed: true, session: { sessionId: first?.sessionId } });
    await expect(
      system.edge.createConversation({ ...keyed, idempotencyKey: 'new' }, { caller: OWNER }),
    ).rejects.toMatchObject(over);
  });

  it('allows an invocation to be repeated that has created its session', async () => {
    await open(1);
    const request = invocation();
    const { sessionId } = await system.deployments.createSession(request);
    expect(await system.deployments.createSession(request)).toMatchObject({ sessionId });
  });

  it('leaves the session and its title unchanged when it refuses a message', async () => {
    await open(1);
    const { session } = await system.edge.createConversation(
      { ...creation, contentJson: '' },
      { caller: OWNER },
    );
    const sessionId = session?.sessionId ?? '';
    await createConversation(system, 'the only one');
    await expect(sendText(system, sessionId, 'a title')).rejects.toMatchObject(over);
    const found = await system.edge.getSession({ sessionId }, { caller: OWNER });
    expect(found.session).toMatchObject({ title: '', lastSeq: 1, status: 'idle' });
  });
});
