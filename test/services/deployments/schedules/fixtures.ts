import type { CreateDeploymentRequest } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { Run, ScheduleSettings } from '../../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { createFakeClock, type FakeClock } from '../../../support/clock.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { advanceUntil } from '../../../support/wait.ts';
import { AGENT, type DeploymentsSystem, OWNER, openDeploymentsSystem, referenceTo } from '../system.ts';

export const asOwner = { caller: OWNER };
export const MINUTE_MS = 60_000;
const FINAL = new Set(['succeeded', 'failed', 'interrupted', 'cancelled', 'skipped', 'missed']);

/** Every minute in UTC. The fake clock starts at midnight. */
export const EVERY_MINUTE: ScheduleSettings = {
  prompt: 'Do the work.',
  timing: {
    cron: '* * * * *',
    everySeconds: undefined,
    at: undefined,
    timezone: 'UTC',
    startAt: undefined,
    endAt: undefined,
    dst: undefined,
  },
  jitterSeconds: 0,
  overlap: 'skip',
  catchUpSeconds: 3_600,
  sessionMode: 'new',
  sessionId: '',
  pauseAfterFailures: 5,
  countFailedTurns: false,
};

export function scheduleRequest(changes: Partial<ScheduleSettings> = {}): CreateDeploymentRequest {
  return {
    agentId: AGENT,
    type: 'schedule',
    name: 'Morning report',
    metadata: {},
    idempotencyKey: '',
    schedule: { ...EVERY_MINUTE, ...changes },
  };
}

export type ScheduleSystem = Awaited<ReturnType<typeof openScheduleSystem>>;

/** A system with a fake clock, and the steps that most tests of schedules share. */
export async function openScheduleSystem(options: Parameters<typeof openDeploymentsSystem>[1] = {}) {
  const clock = (options.clock as FakeClock | undefined) ?? createFakeClock();
  const system = await openDeploymentsSystem(TRANSPORTS[0] ?? 'call streams', { ...options, clock });
  return {
    ...system,
    ...stepsOf(system, clock),
    clock,
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

function stepsOf(system: DeploymentsSystem, clock: FakeClock) {
  const { edge } = system;
  const { scheduled } = system.fakes;

  async function create(changes: Partial<ScheduleSettings> = {}) {
    const { deployment } = await edge.createDeployment(scheduleRequest(changes), asOwner);
    if (!deployment) throw new Error('no schedule was created');
    return { ...referenceTo(deployment), deployment };
  }

  /** The runs of a schedule, oldest first. */
  async function runsOf(deploymentId: string): Promise<Run[]> {
    const request = { agentId: '', deploymentId, status: '', trigger: '', from: undefined, until: undefined };
    const { runs } = await edge.listRuns({ ...request, page: { limit: 100, cursor: '' } }, asOwner);
    return runs.toReversed();
  }

  /** Lets the clock go on until the condition is fulfilled, in steps of 250 ms unless the test says otherwise. */
  const pass = <T>(
    what: string,
    ask: () => Promise<T | undefined | false> | T | undefined | false,
    stepMs = 250,
  ) => advanceUntil(what, () => clock.advance(stepMs), ask);

  /** Advances to the next full minute, and waits until the schedule has `count` runs of which none is queued. */
  async function nextMinute(deploymentId: string, count: number): Promise<Run[]> {
    const passed = clock.now().getTime() % MINUTE_MS;
    clock.advance(MINUTE_MS - passed);
    return settled(deploymentId, count);
  }

  /** Waits until the schedule has `count` runs, of which none can start. */
  const settled = (deploymentId: string, count: number): Promise<Run[]> =>
    pass(`the schedule has ${count} started runs`, async () => {
      const runs = await runsOf(deploymentId);
      return runs.length >= count && runs.every(({ status }) => status !== 'queued') ? runs : undefined;
    });

  /** Ends the turn of a run and waits until the run has ended, too. */
  async function complete(run: Run, type = 'end_turn'): Promise<Run> {
    scheduled.complete(run.turnId, clock.now(), type);
    system.context.bus.publish('sessions.signals', '');
    return finished(run);
  }

  const finished = ({ deploymentId, runId }: Run): Promise<Run> =>
    pass('the run has ended', async () => {
      const { run } = await edge.getRun({ agentId: '', deploymentId, runId }, asOwner);
      return run && FINAL.has(run.status) ? run : undefined;
    });

  return { create, runsOf, pass, nextMinute, settled, complete, finished, scheduled };
}

/** The parts of runs that tests compare. */
export const outcomesOf = (runs: readonly Run[]) =>
  runs.map(({ status, reason }) => (reason ? `${status} ${reason}` : status));

export const timesOf = (runs: readonly Run[]) =>
  runs.map(({ scheduledFor }) => scheduledFor?.toISOString().slice(11, 16));
