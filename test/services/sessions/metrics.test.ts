import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  OWNER,
  openReplica,
  openSystem,
  reportFor,
  type SessionsSystem,
  sendReports,
  sendText,
} from './system.ts';
import { blockedOn, toolCallStep } from './turn-events.ts';

describe('metrics of sessions', () => {
  const clock = createFakeClock();
  let system: SessionsSystem;

  beforeAll(async () => {
    system = await openSystem('in process', { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function exported(series: string, { context } = system): Promise<number | undefined> {
    const lines = (await context.metrics.text()).split('\n');
    const line = lines.find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  }

  /**
   * Advances the clock until the gauges have been measured again with this value. After a slow measurement, the next one
   * comes late: 100 times its duration.
   */
  async function untilExported(series: string, expected: number): Promise<void> {
    await until(`${series} is ${expected}`, async () => {
      clock.advance(5_000);
      return (await exported(series)) === expected;
    });
  }

  it('contain the queued turns of the database and the age of the oldest that can start', async () => {
    const first = await createConversation(system, 'first');
    await sendText(system, first, 'behind the first');
    await createConversation(system, 'second');
    const queuedAt = clock.now().getTime();
    await untilExported('ahs_turns_queued', 3);
    const age = await exported('ahs_turns_oldest_ready_age_seconds');
    expect(age).toBe((clock.now().getTime() - queuedAt) / 1_000);
  });

  it('count claims, lost leases and ended turns by status', async () => {
    const lost = await claimTurns(system);
    expect(lost).toHaveLength(2);
    expect(await exported('ahs_turns_claimed_total')).toBe(2);
    clock.advance(15_001);
    await untilExported('ahs_leases_lost_total', 2);
    const turn = await until('a turn is ready again', async () => {
      clock.advance(250);
      return (await claimTurns(system, 1))[0];
    });
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    // The repeated report ends no further turn.
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    expect(await exported('ahs_turns_total{status="completed"}')).toBe(1);
    const next = await claimTurn(system);
    await system.edge.interruptSession({ sessionId: next.sessionId }, { caller: OWNER });
    expect(await exported('ahs_turns_total{status="interrupted"}')).toBe(1);
    expect(await exported('ahs_turns_total{status="failed"}')).toBe(0);
  });

  it('contain the approvals that wait and the sandboxes by state, of the whole database', async () => {
    const sessionId = await createConversation(system, 'count for me');
    const turns = await claimTurns(system);
    const turn = turns.find((one) => one.sessionId === sessionId) ?? (await claimTurn(system));
    const lease = { sessionId: turn.sessionId, turnId: turn.turnId, fence: turn.fence };
    const sandbox = {
      sandboxId: 'sbx_00000000000000000000000001',
      provider: 'simulated',
      isolation: 'simulation',
    };
    const tenancy = { tenancy: 'session', tenantId: turn.sessionId, limitsJson: '{}' };
    const environment = { environmentId: 'env_1', environmentVersion: 1 };
    await system.runner.takeSandbox({ runnerId: 'rnr_1', lease, ...sandbox, ...tenancy, ...environment });
    const events = toolCallStep('msg_1', { id: 'call_1' });
    await sendReports(system, reportFor(turn, 1, { events, outcome: blockedOn({ id: 'call_1' }) }));
    // Another process measures when it starts, so the clock need not advance past the limits of sandbox and approval.
    await using other = await openReplica('in process', createContext(system.context.databaseUrl, { clock }));
    const started = async () => (await exported('ahs_approvals_pending', other)) === 1;
    await until('the approval is counted', started);
    expect(await exported('ahs_sandboxes{state="provisioning"}', other)).toBe(1);
    const ready = { sandboxId: sandbox.sandboxId, status: 'ready', reason: '' };
    await until('the sandbox is counted as ready', async () => {
      // A sandbox is lost when it is not reported for a minute.
      await system.runner.reportSandboxes({ runnerId: 'rnr_1', sandboxes: [ready] });
      clock.advance(5_000);
      return (await exported('ahs_sandboxes{state="ready"}', other)) === 1;
    });
    expect(await exported('ahs_sandboxes{state="provisioning"}', other)).toBe(0);
  });

  it('contain the followers of the process', async () => {
    const sessionId = await createConversation(system);
    const end = new AbortController();
    const request = { sessionId, afterSeq: 0, types: [], fromNow: false, untilCaughtUp: false };
    const stream = system.edge.follow(request, { caller: OWNER, signal: end.signal });
    const reading = (async () => {
      for await (const _ of stream);
    })().catch(() => {});
    await until('the follower is counted', async () => (await exported('ahs_followers')) === 1);
    end.abort();
    await reading;
    await until('the follower has left', async () => (await exported('ahs_followers')) === 0);
  });
});
