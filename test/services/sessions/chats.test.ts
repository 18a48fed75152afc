import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { runOn } from '../../support/sql.ts';
import { advanceUntil } from '../../support/wait.ts';
import { trackSessions } from './created-sessions.ts';
import { AGENT, COMPLETED, claimTurn, journalOf, OWNER, openSystem, STRANGER, sendText } from './system.ts';
import { agentMessage, createReporter } from './turn-events.ts';

const caller = OWNER;
const newKey = () => randomBytes(32);

describe.each(TRANSPORTS)('chats without a session id over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin } = trackSessions(() => system);
  const find = (key: Buffer, by = OWNER) => system.edge.findChat({ key }, { caller: by });
  const resume = (keys: Buffer[], claim = randomBytes(8).toString('hex'), by = OWNER) =>
    system.edge.continueChat({ keys, claim }, { caller: by });

  async function finishTurn(): Promise<string> {
    const turn = await claimTurn(system);
    await createReporter(system, turn)({ events: agentMessage('msg_1', 'one'), outcome: COMPLETED });
    return turn.turnId;
  }

  /** Creates a session with a finished turn. */
  async function answered() {
    const sessionId = await begin('hello');
    const turnId = await finishTurn();
    return { key: newKey(), sessionId, turnId };
  }

  async function recorded() {
    const record = await answered();
    await system.edge.recordChat({ record }, { caller });
    return record;
  }

  it('a key stands for the session and turn that were recorded last', async () => {
    const record = await recorded();
    expect(await find(record.key)).toEqual({ record, agentId: AGENT });
    const other = { ...(await recorded()), key: record.key };
    await system.edge.recordChat({ record: other }, { caller });
    expect((await find(record.key)).record).toEqual(other);
  });

  it('of simultaneous requests with the same past, one continues the session and the others fork it', async () => {
    const record = await recorded();
    const end = (await journalOf(system, record.sessionId)).length;
    const answers = await Promise.all(Array.from({ length: 8 }, () => resume([record.key])));
    for (const answer of answers) expect(answer).toMatchObject({ record, agentId: AGENT });
    const forks = answers.map(({ forkAfterSeq }) => forkAfterSeq);
    expect(forks.filter((seq) => seq === undefined)).toHaveLength(1);
    expect(new Set(forks)).toEqual(new Set([undefined, end]));
  });

  it('simultaneous requests of different chats get their own records and refusals', async () => {
    const records = [await answered(), await answered(), await answered()];
    const attempts = records.map((record) => system.edge.recordChat({ record }, { caller }));
    const [first] = records;
    const foreign = system.edge.recordChat(
      { record: { key: newKey(), sessionId: first?.sessionId ?? '', turnId: first?.turnId ?? '' } },
      { caller: STRANGER },
    );
    await expect(foreign).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await Promise.all(attempts);

    const requests = records.toReversed().map(({ key }) => resume([key]));
    const [unknown, byStranger, ...answers] = await Promise.all([
      resume([newKey()]),
      resume([first?.key ?? newKey()], 'claim', STRANGER),
      ...requests,
    ]);
    expect([unknown?.record, byStranger?.record]).toEqual([undefined, undefined]);
    expect(answers).toEqual(records.toReversed().map((record) => ({ record, agentId: AGENT })));
  });

  it('simultaneous records of a key leave one of them', async () => {
    const key = newKey();
    const records = [
      { ...(await answered()), key },
      { ...(await answered()), key },
    ];
    await Promise.all(records.map((record) => system.edge.recordChat({ record }, { caller })));
    expect(records).toContainEqual((await find(key)).record);
  });

  it('a repeated request gets the same answer, also after it has sent its message', async () => {
    const record = await recorded();
    const first = await resume([record.key], 'request-1');
    await sendText(system, record.sessionId, 'and more');
    await finishTurn();
    expect(first.forkAfterSeq).toBeUndefined();
    expect(await resume([record.key], 'request-1')).toEqual(first);
    expect((await resume([record.key], 'request-2')).forkAfterSeq).toBeGreaterThan(0);
  });

  it('a session that has gone on otherwise is forked where the recorded turn ended', async () => {
    const record = await recorded();
    const end = (await journalOf(system, record.sessionId)).length;
    await sendText(system, record.sessionId, 'and more');
    await finishTurn();
    expect(await resume([record.key])).toMatchObject({ record, forkAfterSeq: end });
  });

  it('a session that was compacted since goes on', async () => {
    const { sessionId } = await answered();
    let turnId = '';
    for (const text of ['two', 'three', 'four', 'five']) {
      await sendText(system, sessionId, text);
      turnId = await finishTurn();
    }
    const record = { key: newKey(), sessionId, turnId };
    await system.edge.recordChat({ record }, { caller });
    const compaction = await system.edge.compactSession({ sessionId, idempotencyKey: '' }, { caller });
    expect(await finishTurn()).toBe(compaction.turnId);
    expect(await resume([record.key])).toMatchObject({ record, forkAfterSeq: undefined });
  });

  it('an archived session is forked', async () => {
    const record = await recorded();
    await system.edge.archiveSession({ sessionId: record.sessionId }, { caller });
    expect((await resume([record.key])).forkAfterSeq).toBeGreaterThan(0);
  });

  it('a chat whose past is not known as a whole forks at the first position that is known', async () => {
    const record = await recorded();
    const answer = await resume([newKey(), record.key]);
    expect(answer).toMatchObject({ record, forkAfterSeq: expect.any(Number) });
    expect(await resume([newKey()])).toEqual({ record: undefined, agentId: '' });
  });

  it('a message of a chat whose turn has not ended waits behind it', async () => {
    const sessionId = await begin('hello');
    const { turnId } = await claimTurn(system);
    const record = { key: newKey(), sessionId, turnId };
    await system.edge.recordChat({ record }, { caller });
    for (const claim of ['first', 'second'])
      expect((await resume([record.key], claim)).forkAfterSeq).toBeUndefined();
  });

  it('keys of other users, of deleted sessions and forgotten keys are unknown', async () => {
    const unknown = { code: 'SESSION_NOT_FOUND' };
    const record = await recorded();
    await expect(find(record.key, STRANGER)).rejects.toMatchObject(unknown);
    expect((await resume([record.key], 'claim', STRANGER)).record).toBeUndefined();
    await expect(system.edge.forgetChat({ key: record.key }, { caller: STRANGER })).rejects.toMatchObject(
      unknown,
    );

    await system.edge.forgetChat({ key: record.key }, { caller });
    await expect(find(record.key)).rejects.toMatchObject(unknown);
    await expect(system.edge.forgetChat({ key: record.key }, { caller })).rejects.toMatchObject(unknown);
    expect((await resume([record.key])).record).toBeUndefined();

    const deleted = await recorded();
    await system.edge.deleteSession({ sessionId: deleted.sessionId }, { caller });
    await expect(find(deleted.key)).rejects.toMatchObject(unknown);
    expect((await resume([deleted.key])).record).toBeUndefined();
  });

  it.each([
    ['a key of another length', () => find(Buffer.alloc(31))],
    ['an empty claim', () => resume([newKey()], '')],
    ['a claim that is too long', () => resume([newKey()], 'x'.repeat(256))],
    ['too many keys', () => resume(Array.from({ length: 1_001 }, newKey))],
    ['no record', () => system.edge.recordChat({ record: undefined }, { caller })],
  ])('refuses %s', async (_, request) => {
    await expect(request()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('deletes records after 30 days', async () => {
    const [kept, old] = [await recorded(), await recorded()];
    const aged = `update sessions.chat_prefixes set created_at = created_at - interval '30 days'`;
    await runOn(system.database.url, `${aged} where session_id = '${old.sessionId}'`);
    await advanceUntil(
      'the record is deleted',
      () => clock.advance(60_000),
      async () => (await resume([old.key])).record === undefined,
    );
    expect(await find(kept.key)).toMatchObject({ record: kept });
  });
});
