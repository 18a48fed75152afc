import { afterEach, describe, expect, it } from 'vitest';
import { createIds } from '../../../lib/ids.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createContext, TRANSPORTS } from '../../support/context.ts';
import {
  AGENT,
  content,
  converse,
  journalOf,
  OWNER,
  openHouse,
  openReplica,
  STRANGER,
  say,
} from './house.ts';

const over = { code: 'QUOTA_EXCEEDED' };

describe.each(TRANSPORTS)('a quota of turns, %s', (transport) => {
  const clock = createFakeClock(new Date('2026-03-01T23:00:00.500Z'));
  const ids = createIds(clock);
  const opened: AsyncDisposable[] = [];
  let house: Awaited<ReturnType<typeof openHouse>>;
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  async function open(quotaTurnsPerDay: number): Promise<void> {
    house = await openHouse(transport, { clock }, { quotaTurnsPerDay });
    opened.push(house);
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
    (await journalOf(house, sessionId)).filter(({ json }) => json.includes('"turn.queued"')).length;

  it('counts what is said, what is begun and what is triggered, and nobody else is limited', async () => {
    await open(3);
    const session = await converse(house, 'one');
    await say(house, session, 'two');
    await house.deployments.createSession(invocation());
    const refused = { ...over, retryAfterSeconds: 3_600 };
    await expect(say(house, session, 'four')).rejects.toMatchObject(refused);
    await expect(say(house, session, 'four', 'interrupt')).rejects.toMatchObject(refused);
    await expect(house.edge.createConversation(creation, { caller: OWNER })).rejects.toMatchObject(refused);
    await expect(house.deployments.createSession(invocation())).rejects.toMatchObject(refused);
    expect(await turnsOf(session)).toBe(2);
    await house.deployments.createSession(invocation(STRANGER));
    await house.edge.createConversation({ ...creation, contentJson: '' }, { caller: OWNER });
  });

  it('is whole again when the next day begins, and not a moment before', async () => {
    await open(1);
    const session = await converse(house, 'one');
    const { retryAfterSeconds } = await say(house, session, 'two').catch((error) => error);
    clock.advance(retryAfterSeconds * 1_000 - 1_000);
    await expect(say(house, session, 'two')).rejects.toMatchObject({ ...over, retryAfterSeconds: 1 });
    clock.advance(1_000);
    await say(house, session, 'two');
    await expect(say(house, session, 'three')).rejects.toMatchObject(over);
  });

  it('is exact when many come at once, at several replicas', async () => {
    await open(10);
    const context = createContext(house.database.url, { clock });
    const replica = await openReplica(transport, context, { quotaTurnsPerDay: 10 });
    opened.push(replica);
    const sessions = await Promise.all(
      Array.from({ length: 4 }, () =>
        house.edge.createConversation({ ...creation, contentJson: '' }, { caller: OWNER }),
      ),
    );
    const ask = (index: number) => {
      const { edge } = index % 2 ? house : replica;
      const { session } = sessions[index % 4] ?? {};
      const contentJson = content(`message ${index}`);
      const said = {
        sessionId: session?.sessionId ?? '',
        contentJson,
        busyPolicy: 'enqueue',
        idempotencyKey: '',
      };
      if (index % 3 === 0) return edge.createConversation(creation, { caller: OWNER });
      return edge.sendMessage(said, { caller: OWNER });
    };
    const results = await Promise.allSettled(Array.from({ length: 60 }, (_, index) => ask(index)));
    const refusals = results.filter((result) => result.status === 'rejected');
    expect(results.length - refusals.length).toBe(10);
    for (const { reason } of refusals) expect(reason).toMatchObject(over);
  });

  it('is not used up by what is refused, and what is repeated has been counted', async () => {
    await open(2);
    const session = await converse(house, 'one');
    await expect(say(house, session, 'no', 'reject')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    const keyed = { ...creation, idempotencyKey: 'again' };
    const { session: first } = await house.edge.createConversation(keyed, { caller: OWNER });
    const repeated = await house.edge.createConversation(keyed, { caller: OWNER });
    expect(repeated).toMatchObject({ replayed: true, session: { sessionId: first?.sessionId } });
    await expect(
      house.edge.createConversation({ ...keyed, idempotencyKey: 'new' }, { caller: OWNER }),
    ).rejects.toMatchObject(over);
  });

  it('lets an invocation be tried again that has begun its session', async () => {
    await open(1);
    const one = invocation();
    const { sessionId } = await house.deployments.createSession(one);
    expect(await house.deployments.createSession(one)).toEqual({ sessionId });
  });

  it('changes nothing of a session when it refuses, not even its title', async () => {
    await open(1);
    const { session } = await house.edge.createConversation(
      { ...creation, contentJson: '' },
      { caller: OWNER },
    );
    const sessionId = session?.sessionId ?? '';
    await converse(house, 'the only one');
    await expect(say(house, sessionId, 'a title')).rejects.toMatchObject(over);
    const found = await house.edge.getSession({ sessionId }, { caller: OWNER });
    expect(found.session).toMatchObject({ title: '', lastSeq: 1, status: 'idle' });
  });
});
