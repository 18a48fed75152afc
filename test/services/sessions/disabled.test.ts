import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import { passing } from '../../support/wait.ts';
import {
  AGENT,
  claim,
  content,
  converse,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  STRANGER,
  say,
  send,
  typesOf,
} from './house.ts';

describe.each(TRANSPORTS)('a user who is disabled, %s', (transport) => {
  let house: Awaited<ReturnType<typeof openHouse>>;
  let clock: FakeClock;
  beforeAll(async () => {
    clock = createFakeClock();
    house = await openHouse(transport, { clock });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const statusOf = async (sessionId: string) =>
    (await house.edge.getSession({ sessionId }, { caller: OWNER })).session;

  it('has nothing going on a moment later: what runs is stopped, and what waits never begins', async () => {
    const running = await converse(house, 'Hello');
    const [turn] = await claim(house);
    await say(house, running, 'And then?');
    await say(house, running, 'And then?');
    const queued = await converse(house, 'Hello');
    const idle = await converse(house);
    house.ledger.disabled.add(OWNER.userId);
    await passing(
      'everything has ended',
      () => clock.advance(500),
      async () => {
        const sessions = await Promise.all([running, queued].map(statusOf));
        return sessions.every(
          (one) => one?.status === 'idle' && one.queuedTurns === 0 && one.currentTurnId === '',
        );
      },
    );
    expect(await claim(house)).toEqual([]);
    const lost = turn && (await send(house, reportOn(turn, 1)));
    expect(JSON.stringify(lost)).toContain('LEASE_LOST');
    const types = typesOf(await journalOf(house, running));
    expect(types.filter((type) => type === 'turn.interrupted')).toHaveLength(1);
    expect(types.filter((type) => type === 'turn.cancelled')).toHaveLength(2);
    expect(typesOf(await journalOf(house, queued))).toContain('turn.cancelled');
    expect(typesOf(await journalOf(house, idle))).toEqual(['session.created']);
  });

  it('goes on where it was left when it is enabled again', async () => {
    house.ledger.disabled.clear();
    const sessionId = await converse(house, 'Hello');
    clock.advance(10_000);
    expect(await claim(house)).toMatchObject([{ sessionId }]);
  });

  it('holds up nothing with a turn that cannot be ended', async () => {
    const stuck = await converse(house, 'Hello');
    // Of a turn that its session knows nothing about.
    await rowsOn(
      house.database.url,
      `update sessions.heads set queued_turns = 0 where session_id = '${stuck}'`,
    );
    house.ledger.disabled.add(OWNER.userId);
    clock.advance(2_000);
    const caller = STRANGER;
    const request = {
      agentId: AGENT,
      contentJson: content('Hello'),
      title: '',
      metadata: {},
      idempotencyKey: '',
    };
    const { session } = await house.edge.createConversation(request, { caller });
    const sessionId = session?.sessionId ?? '';
    house.ledger.disabled.add(caller.userId);
    await passing(
      'what somebody else does has ended',
      () => clock.advance(500),
      async () => (await house.edge.getSession({ sessionId }, { caller })).session?.status === 'idle',
    );
  });
});
