import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import {
  AGENT,
  claimTurns,
  content,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';

describe.each(TRANSPORTS)('turns of a disabled user over %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  let clock: FakeClock;
  /** The number of timers while no periodic task runs. */
  let idleTimers: number;
  beforeAll(async () => {
    clock = createFakeClock();
    system = await openSystem(transport, { clock });
    idleTimers = clock.pending;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** Enables all users, when no task runs that has read which users are disabled. */
  async function enableUsers(): Promise<void> {
    await until('no periodic task runs', () => clock.pending >= idleTimers);
    system.auth.disabledUserIds.clear();
  }

  const statusOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller: OWNER })).session;

  it('are interrupted when in progress and cancelled when queued', async () => {
    const running = await createConversation(system, 'Hello');
    const [turn] = await claimTurns(system);
    await sendText(system, running, 'And then?');
    await sendText(system, running, 'And then?');
    const queued = await createConversation(system, 'Hello');
    const idle = await createConversation(system);
    system.auth.disabledUserIds.add(OWNER.userId);
    await advanceUntil(
      'everything has ended',
      () => clock.advance(500),
      async () => {
        const sessions = await Promise.all([running, queued].map(statusOf));
        return sessions.every(
          (one) => one?.status === 'idle' && one.queuedTurns === 0 && one.currentTurnId === '',
        );
      },
    );
    expect(await claimTurns(system)).toEqual([]);
    const lost = turn && (await sendReports(system, reportFor(turn, 1)));
    expect(JSON.stringify(lost)).toContain('LEASE_LOST');
    const types = typesOf(await journalOf(system, running));
    expect(types.filter((type) => type === 'turn.interrupted')).toHaveLength(1);
    expect(types.filter((type) => type === 'turn.cancelled')).toHaveLength(2);
    expect(typesOf(await journalOf(system, queued))).toContain('turn.cancelled');
    expect(typesOf(await journalOf(system, idle))).toEqual(['session.created']);
  });

  it.each([false, true])('never start when they are queued, held: %s', async (holdQueue) => {
    await enableUsers();
    const sessionId = await createConversation(system, 'Hello');
    await claimTurns(system);
    for (let message = 0; message < 20; message++) await sendText(system, sessionId, 'And then?');
    if (holdQueue) await system.edge.interruptSession({ sessionId, holdQueue }, { caller: OWNER });
    system.auth.disabledUserIds.add(OWNER.userId);
    const claimed = await advanceUntil(
      'the queue is empty',
      () => clock.advance(500),
      async () => {
        const turns = await claimTurns(system);
        if (turns.length > 0) return turns;
        const session = await statusOf(sessionId);
        return session?.status === 'idle' && session.queuedTurns === 0 && turns;
      },
    );
    expect(claimed.map(({ turnId }) => turnId)).toEqual([]);
    expect(await statusOf(sessionId)).toMatchObject({ queueHeld: false });
    const types = typesOf(await journalOf(system, sessionId));
    expect(types.filter((type) => type === 'session.updated')).toHaveLength(2);
  });

  it('are claimed again after the user is enabled', async () => {
    await enableUsers();
    const sessionId = await createConversation(system, 'Hello');
    clock.advance(10_000);
    expect(await claimTurns(system)).toMatchObject([{ sessionId }]);
  });

  it('end although a turn of another disabled user cannot be ended', async () => {
    const stuck = await createConversation(system, 'Hello');
    // The head does not count the queued turn, so the turn cannot be ended.
    await rowsOn(
      system.database.url,
      `update sessions.heads set queued_turns = 0 where session_id = '${stuck}'`,
    );
    system.auth.disabledUserIds.add(OWNER.userId);
    clock.advance(2_000);
    const caller = STRANGER;
    const request = {
      agentId: AGENT,
      contentJson: content('Hello'),
      title: '',
      metadata: {},
      idempotencyKey: '',
    };
    const { session } = await system.edge.createConversation(request, { caller });
    const sessionId = session?.sessionId ?? '';
    system.auth.disabledUserIds.add(caller.userId);
    await advanceUntil(
      'the turn of the other user has ended',
      () => clock.advance(500),
      async () => (await system.edge.getSession({ sessionId }, { caller })).session?.status === 'idle',
    );
  });
});
