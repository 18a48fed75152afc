import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../lib/errors.ts';
import type { ClaimedTurn, NewEvent, TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { seeded } from '../../chaos/random.ts';
import { createFakeClock } from '../../support/clock.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  channelActor,
  deliveryRequest,
  LINKED_USER,
  newDeliveryId,
  sendForDelivery,
} from './channel-deliveries.ts';
import { newRunId, runRequest, sendForRun } from './deployment-runs.ts';
import {
  COMPLETED,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  sendReports,
  sendText,
} from './system.ts';
import {
  agentMessage,
  blockedOn,
  newEvent,
  toolCallStep,
  toolDispatched,
  toolResult,
} from './turn-events.ts';

const SESSIONS = 6;
const ACTIONS = 60;
const caller = OWNER;

/** A claimed turn and what its simulated runner has reported so far. */
interface RunningTurn {
  turn: ClaimedTurn;
  reportSeq: number;
  steps: number;
  deltas: number;
  /** Open calls, and how often each was dispatched. */
  calls: Map<string, number>;
  open: string;
}

describe('random concurrent operations on sessions', () => {
  let system: Awaited<ReturnType<typeof openSystem>> | undefined;
  afterEach(() => system?.[Symbol.asyncDispose]());

  it.each([1, 2])('leave rows that match the journals, seed %i', async (seed) => {
    const random = seeded(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const clock = createFakeClock();
    const here = await openSystem('in process', { clock }, { leaseSeconds: 5, approvalTtlSeconds: 20 });
    system = here;
    const conversations = await Promise.all(
      Array.from({ length: SESSIONS / 2 }, (_, i) => createConversation(here, `begin ${i}`)),
    );
    const scheduled = await Promise.all(
      Array.from({ length: SESSIONS / 2 }, async (_, i) => {
        const { sessionId } =
          i % 2 === 0
            ? await here.deployments.createSession(runRequest(newRunId()))
            : await here.channels.createSession(deliveryRequest(newDeliveryId()));
        return sessionId;
      }),
    );
    const sessions = [...conversations, ...scheduled];
    /** Runs and deliveries whose messages are sent again and again, to any session that a deployment has created. */
    const runs = Array.from({ length: 4 }, newRunId);
    const deliveries = Array.from({ length: 4 }, newDeliveryId);
    const runningTurns = new Map<string, RunningTurn>();
    const clientCalls = new Set<string>();

    async function claim(): Promise<void> {
      for (const turn of await claimTurns(here, 10)) {
        const calls = new Map(turn.openCalls.map((call) => [call.toolUseId, call.dispatches]));
        runningTurns.set(turn.sessionId, { turn, reportSeq: 0, steps: 0, deltas: 0, calls, open: '' });
      }
    }

    /** A report that is valid in the current state of the turn. */
    function progress(running: RunningTurn): Partial<TurnReport> {
      const { turn, calls } = running;
      const [first] = calls.keys();
      const step = `${turn.turnId}_${turn.attempt}_${running.steps}`;
      const events: NewEvent[] = [];
      if (running.open === '' && first === undefined) {
        running.steps++;
        running.deltas = 0;
        events.push(newEvent('model.request_started', { model: 'rehearsal/script' }));
        if (random() < 0.5) {
          const ids = pick([['a'], ['a', 'b']]).map((name) => `${name}_${step}`);
          for (const id of ids) calls.set(id, 0);
          for (const id of ids) if (random() < 0.3) clientCalls.add(id);
          const stepCalls = ids.map((id) => ({ id, ...(clientCalls.has(id) && { kind: 'tool_result' }) }));
          return { events: toolCallStep(`msg_${step}`, ...stepCalls) };
        }
        running.open = `msg_${step}`;
      }
      if (running.open !== '') {
        const delta = { message_id: running.open, index: running.deltas++, delta: 'word ' };
        return { events: [...events, newEvent('agent.message_delta', delta)], openMessageId: running.open };
      }
      const sent = calls.get(first ?? '') ?? 0;
      if (random() < 0.5) {
        calls.set(first ?? '', sent + 1);
        return { events: [toolDispatched(first ?? '', sent + 1, turn.fence)] };
      }
      calls.delete(first ?? '');
      return { events: [toolResult(first ?? '')] };
    }

    function ending(running: RunningTurn): Partial<TurnReport> {
      const error = { code: 'model_overloaded', message: 'busy' };
      const undecided = [...running.calls.keys()];
      const kindOf = (id: string) =>
        clientCalls.has(id) ? 'tool_result' : pick(['tool', 'outcome_unknown']);
      const blocked = blockedOn(...undecided.map((id) => ({ id, kind: kindOf(id) })));
      const outcome = pick<TurnReport['outcome']>([
        COMPLETED,
        { kind: { $case: 'failed', value: { error } } },
        { kind: { $case: 'retry', value: { error, delayMs: 1_000 } } },
        ...(undecided.length > 0 ? [blocked, blocked, blocked] : []),
      ]);
      const message = running.open === '' ? [] : agentMessage(running.open, 'word '.repeat(running.deltas));
      return { events: message, openMessageId: '', outcome };
    }

    async function work(
      sessionId: string,
      makeReport: (running: RunningTurn) => Partial<TurnReport>,
    ): Promise<void> {
      const running = runningTurns.get(sessionId);
      if (!running) return claim();
      const report = reportFor(running.turn, ++running.reportSeq, makeReport(running));
      const [result] = await sendReports(here, report);
      if (result?.errorCode !== '' || report.outcome) runningTurns.delete(sessionId);
    }

    async function deliver(sessionId: string): Promise<void> {
      const running = runningTurns.get(sessionId);
      if (!running) return claim();
      const { turnId, fence } = running.turn;
      const lease = { sessionId, turnId, fence };
      await here.runner.deliverMessages({ lease, step: running.steps + 1, afterSeq: 0 });
    }

    async function decide(sessionId: string): Promise<void> {
      const page = { limit: 100, cursor: '' };
      const { approvals } = await here.edge.listApprovals({ sessionId, status: 'pending', page }, { caller });
      if (approvals.length === 0) return;
      const { approvalId, kind } = pick(approvals);
      const decision = pick(kind === 'tool' ? ['allow', 'deny'] : ['retry', 'mark_done', 'mark_failed']);
      const request = { sessionId, approvalId, decision, reason: '', editedInputJson: '' };
      const ofChannel = { actor: channelActor(newDeliveryId()), decidedBy: LINKED_USER, via: 'slack:U123' };
      if (pick([true, false])) await here.edge.decideApproval(request, { caller });
      else await here.deployments.decideApproval({ ...request, ...ofChannel }, { caller });
    }

    async function answer(sessionId: string): Promise<void> {
      const page = { limit: 100, cursor: '' };
      const { toolCalls } = await here.edge.listToolCalls({ sessionId, status: '', page }, { caller });
      if (toolCalls.length === 0) return;
      const { toolUseId } = pick(toolCalls);
      const outputJson = JSON.stringify(Math.floor(random() * 2));
      await here.edge.submitToolResult({ sessionId, toolUseId, outputJson, isError: false }, { caller });
    }

    const actions: ((sessionId: string) => Promise<unknown>)[] = [
      (sessionId) =>
        sendText(
          here,
          sessionId,
          'more',
          pick(['enqueue', 'enqueue', 'steer', 'steer', 'reject', 'interrupt']),
        ),
      async (sessionId) => {
        const busyPolicy = pick(['enqueue', 'enqueue', 'reject', 'interrupt']);
        if (scheduled.includes(sessionId)) await sendForRun(here, sessionId, pick(runs), { busyPolicy });
      },
      async (sessionId) => {
        const busyPolicy = pick(['enqueue', 'interrupt']);
        if (scheduled.includes(sessionId))
          await sendForDelivery(here, sessionId, pick(deliveries), { busyPolicy });
      },
      (sessionId) => here.edge.interruptSession({ sessionId, holdQueue: pick([true, false]) }, { caller }),
      (sessionId) => here.edge.releaseQueue({ sessionId }, { caller }),
      async (sessionId) => {
        const page = { limit: 100, cursor: '' };
        const { turns } = await here.edge.listTurns({ sessionId, page, unfinished: true }, { caller });
        if (turns.length > 0)
          await here.edge.cancelTurn({ sessionId, turnId: pick(turns).turnId }, { caller });
      },
      (sessionId) => here.edge.updateSession({ sessionId, title: 'x', metadata: undefined }, { caller }),
      async (sessionId) => {
        const afterSeq = Math.floor(random() * (await journalOf(here, sessionId)).length);
        await here.edge.forkSession({ sessionId, afterSeq, idempotencyKey: '' }, { caller });
      },
      async () => clock.advance(pick([300, 2_000, 6_000])),
      claim,
      deliver,
      deliver,
      decide,
      decide,
      answer,
      answer,
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

    // Without further random operations every turn ends.
    for (const sessionId of sessions) await here.edge.releaseQueue({ sessionId }, { caller });
    await until('every session is idle', async () => {
      clock.advance(1_000);
      await claim();
      for (const sessionId of sessions) if (runningTurns.has(sessionId)) await work(sessionId, ending);
      const filters = {
        agentId: '',
        deploymentId: '',
        states: [],
        q: '',
        page: { limit: 100, cursor: '' },
      };
      const { sessions: all } = await here.edge.listSessions({ ...filters, status: '' }, { caller });
      return all.every(({ status, needsAction }) => status === 'idle' && !needsAction);
    });
    expect(await brokenInvariants(here.database.url)).toEqual([]);

    const { url } = here.database;
    expect(await rowsOn(url, SIGNALS)).toEqual(await rowsOn(url, signalledEvents(scheduled)));
    expect(await rowsOn(url, 'select from sessions.signals limit 1')).toHaveLength(1);
    const queuedTwice = `select turn_id from sessions.turns group by turn_id having count(*) > 1`;
    expect(await rowsOn(url, queuedTwice)).toEqual([]);
  });
});

const SIGNALS = `
  select session_id, kind, turn_id, count(*)::integer from sessions.signals where kind <> 'turn_resumed'
  group by 1, 2, 3 order by 1, 2, 3`;

/** The signals that follow from the journals of these sessions. */
const signalledEvents = (sessionIds: readonly string[]) => `
  select session_id, kind, turn_id, count(*)::integer
  from sessions.journal j cross join lateral json_array_elements(j.events::json) event
    cross join lateral (select event ->> 'turn_id' as turn_id, case event ->> 'type'
      when 'turn.queued' then 'turn_queued'
      when 'turn.blocked' then 'turn_blocked'
      when 'turn.completed' then 'turn_ended'
      when 'turn.failed' then 'turn_ended'
      when 'turn.interrupted' then 'turn_ended'
      when 'turn.cancelled' then 'turn_ended'
      when 'approval.requested' then 'approval_requested'
      when 'approval.decided' then 'approval_decided'
    end as kind) signal
  where session_id = any ('{${sessionIds.join()}}') and kind is not null
  group by 1, 2, 3 order by 1, 2, 3`;
