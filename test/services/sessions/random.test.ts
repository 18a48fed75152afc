import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../lib/errors.ts';
import type { ClaimedTurn, NewEvent, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { seeded } from '../../chaos/random.ts';
import { createFakeClock } from '../../support/clock.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import { until } from '../../support/wait.ts';
import { COMPLETED, claim, converse, journalOf, OWNER, openHouse, reportOn, say, send } from './house.ts';
import { answering, asking, calling, dispatching, event, resulting } from './loop.ts';

const SESSIONS = 6;
const ACTIONS = 60;
const caller = OWNER;

/** A turn as somebody holds it who does what comes to mind. */
interface Hand {
  turn: ClaimedTurn;
  reportSeq: number;
  steps: number;
  deltas: number;
  /** Calls without a result, and how often each was sent. */
  calls: Map<string, number>;
  open: string;
}

describe('sessions to which anything may happen', () => {
  let house: Awaited<ReturnType<typeof openHouse>> | undefined;
  afterEach(() => house?.[Symbol.asyncDispose]());

  it.each([1, 2, 3, 4])('are at every moment what their journals say, seed %i', async (seed) => {
    const random = seeded(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const clock = createFakeClock();
    const here = await openHouse('in process', { clock }, { leaseSeconds: 5, approvalTtlSeconds: 20 });
    house = here;
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, (_, i) => converse(here, `begin ${i}`)),
    );
    const hands = new Map<string, Hand>();

    async function take(): Promise<void> {
      for (const turn of await claim(here, 10)) {
        const calls = new Map(turn.openCalls.map((call) => [call.toolUseId, call.dispatches]));
        hands.set(turn.sessionId, { turn, reportSeq: 0, steps: 0, deltas: 0, calls, open: '' });
      }
    }

    /** What a runner may report at this moment. */
    function progress(hand: Hand): Partial<TurnReport> {
      const { turn, calls } = hand;
      const [first] = calls.keys();
      const step = `${turn.turnId}_${turn.attempt}_${hand.steps}`;
      const events: NewEvent[] = [];
      if (hand.open === '' && first === undefined) {
        hand.steps++;
        hand.deltas = 0;
        events.push(event('model.request_started', { model: 'rehearsal/script' }));
        if (random() < 0.5) {
          const ids = pick([['a'], ['a', 'b']]).map((name) => `${name}_${step}`);
          for (const id of ids) calls.set(id, 0);
          return { events: calling(`msg_${step}`, ...ids.map((id) => ({ id }))) };
        }
        hand.open = `msg_${step}`;
      }
      if (hand.open !== '') {
        const delta = { message_id: hand.open, index: hand.deltas++, delta: 'word ' };
        return { events: [...events, event('agent.message_delta', delta)], openMessageId: hand.open };
      }
      const sent = calls.get(first ?? '') ?? 0;
      if (random() < 0.5) {
        calls.set(first ?? '', sent + 1);
        return { events: [dispatching(first ?? '', sent + 1, turn.fence)] };
      }
      calls.delete(first ?? '');
      return { events: [resulting(first ?? '')] };
    }

    function ending(hand: Hand): Partial<TurnReport> {
      const error = { code: 'model_overloaded', message: 'busy' };
      const unasked = [...hand.calls.keys()];
      const blocked = asking(...unasked.map((id) => ({ id, kind: pick(['tool', 'outcome_unknown']) })));
      const outcome = pick<TurnReport['outcome']>([
        COMPLETED,
        { kind: { $case: 'failed', value: { error } } },
        { kind: { $case: 'retry', value: { error, delayMs: 1_000 } } },
        ...(unasked.length > 0 ? [blocked, blocked, blocked] : []),
      ]);
      const message = hand.open === '' ? [] : answering(hand.open, 'word '.repeat(hand.deltas));
      return { events: message, openMessageId: '', outcome };
    }

    async function work(sessionId: string, makeReport: (hand: Hand) => Partial<TurnReport>): Promise<void> {
      const hand = hands.get(sessionId);
      if (!hand) return take();
      const report = reportOn(hand.turn, ++hand.reportSeq, makeReport(hand));
      const [result] = await send(here, report);
      if (result?.errorCode !== '' || report.outcome) hands.delete(sessionId);
    }

    async function decide(sessionId: string): Promise<void> {
      const page = { limit: 100, cursor: '' };
      const { approvals } = await here.edge.listApprovals({ sessionId, status: 'pending', page }, { caller });
      if (approvals.length === 0) return;
      const { approvalId, kind } = pick(approvals);
      const decision = pick(kind === 'tool' ? ['allow', 'deny'] : ['retry', 'mark_done', 'mark_failed']);
      const said = { sessionId, approvalId, decision, reason: '', editedInputJson: '' };
      await here.edge.decideApproval(said, { caller });
    }

    const actions: ((sessionId: string) => Promise<unknown>)[] = [
      (sessionId) =>
        say(here, sessionId, 'more', pick(['enqueue', 'enqueue', 'enqueue', 'reject', 'interrupt'])),
      (sessionId) => here.edge.interruptSession({ sessionId }, { caller }),
      (sessionId) => here.edge.updateSession({ sessionId, title: 'x', metadata: undefined }, { caller }),
      async (sessionId) => {
        const afterSeq = Math.floor(random() * (await journalOf(here, sessionId)).length);
        await here.edge.forkSession({ sessionId, afterSeq, idempotencyKey: '' }, { caller });
      },
      async () => clock.advance(pick([300, 2_000, 6_000])),
      take,
      decide,
      decide,
      ...Array.from({ length: 9 }, () => (sessionId: string) => work(sessionId, progress)),
      ...Array.from({ length: 3 }, () => (sessionId: string) => work(sessionId, ending)),
    ];

    async function live(sessionId: string): Promise<void> {
      for (let i = 0; i < ACTIONS; i++) {
        await pick(actions)(sessionId).catch((error: unknown) => {
          if (!(error instanceof Refusal) || error.code === 'INTERNAL') throw error;
        });
      }
    }
    await Promise.all(sessions.map(live));
    expect(await brokenInvariants(here.database.url)).toEqual([]);

    // Left alone, everything comes to its end.
    await until(
      'nothing is left to do',
      async () => {
        clock.advance(1_000);
        await take();
        for (const sessionId of sessions) if (hands.has(sessionId)) await work(sessionId, ending);
        const asked = { agentId: '', deploymentId: '', q: '', page: { limit: 100, cursor: '' } };
        const { sessions: all } = await here.edge.listSessions({ ...asked, status: '' }, { caller });
        return all.every(({ status, needsAction }) => status === 'idle' && !needsAction);
      },
      30_000,
    );
    expect(await brokenInvariants(here.database.url)).toEqual([]);
  });
});
