import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AGENT, FOREIGN_AGENT, OWNER, STRANGER } from '../system.ts';
import { asOwner, openScheduleSystem, type ScheduleSystem, scheduleRequest } from './fixtures.ts';

const FLOOD = 300;

describe('many queued runs of one schedule', () => {
  let system: ScheduleSystem;
  beforeAll(async () => {
    system = await openScheduleSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.scheduled.clear();
    await system.sql('delete from deployments');
  });

  /** Queues a run for each minute of the range, of which none can start yet. */
  async function flood() {
    const { agentId, deploymentId } = await system.create();
    const until = system.clock.now();
    const from = new Date(until.getTime() - FLOOD * 60_000);
    const range = { from, until, overlap: 'allow', skipExisting: true, dryRun: false };
    await system.edge.createBackfill({ agentId, deploymentId, ...range, idempotencyKey: '' }, asOwner);
    return deploymentId;
  }

  async function runNow(agentId: string, caller: typeof OWNER) {
    const request = { ...scheduleRequest(), agentId };
    const { deployment } = await system.edge.createDeployment(request, { caller });
    const { deploymentId } = deployment!;
    await system.edge.runNow({ agentId, deploymentId, idempotencyKey: '' }, { caller });
    return deploymentId;
  }

  /** CreateSession waits until `resume` is called. */
  function pauseStarts() {
    let resume = () => {};
    const until = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const pause = { waiting: 0, until };
    system.fakes.pauses.set('createSession', pause);
    return { pause, resume };
  }

  it.each([
    ['another user', FOREIGN_AGENT, STRANGER],
    ['another schedule of the same user', AGENT, OWNER],
  ])('leave slots for the run of %s', async (_, agentId, caller) => {
    const { pause, resume } = pauseStarts();
    await flood();
    await system.pass('starts wait for the sessions service', () => pause.waiting > 0);
    const other = await runNow(agentId, caller);
    const running = pause.waiting;
    expect(running).toBeLessThan(64);
    resume();
    system.fakes.pauses.delete('createSession');
    await system.pass('the other run has started', async () => {
      const [row] = await system.sql<{ status: string }>(
        `select status from runs where deployment_id = $1 and trigger = 'manual'`,
        [other],
      );
      return row?.status === 'running';
    });
    await system.pass('all runs have started', async () => {
      return (await system.sql(`select from runs where status = 'queued'`)).length === 0;
    });
    expect(system.scheduled.sessions.size).toBeGreaterThanOrEqual(FLOOD + 1);
    const [first] = await system.sql<{ sessionId: string }>(
      `select session_id as "sessionId" from runs where deployment_id = $1 and trigger = 'manual'`,
      [other],
    );
    // The sessions are in the order of their creation: the other run did not wait for the whole flood.
    expect([...system.scheduled.sessions.keys()].indexOf(first?.sessionId ?? '')).toBeLessThan(FLOOD / 2);
  });
});
