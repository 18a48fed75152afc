import { backoffDelay, type Random, systemRandom } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Caller, CallOptions, Client } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
import { parseTraceparent, type Trace } from '../../../lib/trace.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission } from '../admission.ts';
import { obstacleOf } from '../obstacles.ts';
import type { ClaimedRun, RunQueue } from '../store/run-queue.ts';
import type { RunStateStore } from '../store/run-states.ts';
import type { ScheduleMetrics } from './metrics.ts';
import type { PromptRenderer } from './prompt-renderer.ts';
import type { RunInterrupter } from './run-interrupter.ts';
import type { RunProgress, StartFailure } from './run-progress.ts';
import type { RunSessions } from './run-sessions.ts';
import { START_TIMEOUT_MS } from './starter.ts';

/** A start that fails for a temporary reason is repeated for this long at least, even if the schedule catches up less. */
const MIN_RETRY_MS = 300_000;
const RETRY = { firstMs: 1_000, maxMs: 30_000 };
/** The session of a continued run is not ready: its queue is held, or another run creates it. */
const POSTPONE_MS = 5_000;

interface RunStartContext {
  admission: Pick<Admission, 'decideStart'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'lookUpTurns'>;
  interrupt: RunInterrupter['interrupt'];
  runSessions: RunSessions;
  renderer: PromptRenderer;
  queue: Pick<RunQueue, 'started' | 'retry' | 'postpone'>;
  states: Pick<RunStateStore, 'earlier'>;
  progress: RunProgress;
  metrics: ScheduleMetrics;
  tracer: Tracer;
  clock: Clock;
  log: Log;
  random?: Random | undefined;
}

/** The turn of a run. */
interface StartedTurn {
  sessionId: string;
  turnId: string;
}

/** Starts a claimed run. Every step can be repeated: the session and the turn have the characters of the run's id. */
export function createRunStart(context: RunStartContext): (run: ClaimedRun) => Promise<void> {
  const { admission, sessions, runSessions, renderer, queue, states, progress, metrics } = context;
  const { tracer, clock, log, interrupt, random = systemRandom } = context;

  async function start(run: ClaimedRun, trace: Trace): Promise<void> {
    const options = { trace, deadline: clock.now().getTime() + START_TIMEOUT_MS };
    const decision = await admission.decideStart(run, { trace, requestId: undefined });
    if ('obstacle' in decision) return fail(run, cannotStart(decision.obstacle), options);
    const { agentVersion, caller } = decision;
    const asOwner = { ...options, caller };
    if (run.cancelsPrevious) await cancelPrevious(run, asOwner);
    const text = await renderer.render(run, asOwner);
    const opened = await runSessions.open(run, { agentVersion, text }, asOwner);
    if ('postponed' in opened) {
      await queue.postpone(run.runId, new Date(clock.now().getTime() + POSTPONE_MS), { trace });
      return;
    }
    if ('obstacle' in opened) return fail(run, cannotStart(opened.obstacle), options);
    await store(run, opened, asOwner);
  }

  async function store(
    { runId, deploymentId }: ClaimedRun,
    { sessionId, turnId }: StartedTurn,
    options: CallOptions & { caller?: Caller },
  ): Promise<void> {
    const { trace } = options;
    const stored = await queue.started({ runId, sessionId, turnId, startedAt: clock.now() }, { trace });
    if (!stored) return;
    metrics.runs(stored.status);
    if (stored.latenessMs !== null) metrics.lateness.observe(stored.latenessMs / 1000);
    // The run was cancelled while its session was created.
    if (stored.status === 'cancelled' && options.caller)
      await interrupt({ deploymentId, sessionId, turnId }, options);
  }

  /** Interrupts the earlier runs as the owner. Queued ones are cancelled. */
  async function cancelPrevious({ deploymentId, runId }: ClaimedRun, options: CallOptions): Promise<void> {
    const earlier = await states.earlier(deploymentId, runId, { trace: options.trace });
    const queued = earlier.filter(({ turnId }) => turnId === null);
    await progress.cancelOverlapped(
      queued.map((run) => run.runId),
      options.trace,
    );
    for (const { sessionId, turnId } of earlier)
      if (sessionId && turnId) await interrupt({ deploymentId, sessionId, turnId }, options);
  }

  /** Ends the run, unless an earlier attempt has started its turn. */
  async function fail(run: ClaimedRun, failure: StartFailure, options: CallOptions): Promise<void> {
    const turnIds = [withPrefix('trn', run.runId)];
    const { turns } = await sessions.lookUpTurns({ turnIds }, options);
    const [started] = turns;
    if (started) return store(run, started, options);
    await progress.fail(run.runId, failure, options.trace);
  }

  async function recover(run: ClaimedRun, error: unknown, trace: Trace): Promise<void> {
    const options = { trace, deadline: clock.now().getTime() + START_TIMEOUT_MS };
    const obstacle = obstacleOf(error);
    if (obstacle) return fail(run, cannotStart(obstacle), options);
    if (error instanceof Refusal && error.code === 'QUOTA_EXCEEDED')
      return fail(run, quotaExceeded(error), options);
    const now = clock.now();
    const failingMs = run.failingSince ? now.getTime() - run.failingSince.getTime() : 0;
    if (failingMs >= Math.max(MIN_RETRY_MS, run.catchUpSeconds * 1000))
      return progress.fail(run.runId, UNAVAILABLE, trace);
    const delay = backoffDelay(Math.min(run.attempts + 1, 10), RETRY, random);
    const isExpected = error instanceof Refusal && ERRORS[error.code].retryable;
    const fields = { err: error, run_id: run.runId, delay_ms: delay };
    log[isExpected ? 'debug' : 'warn'](fields, 'a run could not start; it is tried again');
    await queue.retry(run.runId, new Date(now.getTime() + delay), now, { trace });
  }

  return async (run) => {
    const queuedBy = parseTraceparent(run.traceparent ?? undefined);
    const span = tracer.begin('ahs.schedules.start', { links: queuedBy ? [queuedBy] : [] });
    try {
      await start(run, span.trace);
      span.end();
    } catch (error) {
      span.end(error instanceof Refusal ? error.code : 'INTERNAL');
      await recover(run, error, span.trace).catch(async (later: unknown) => {
        // The lookup before a failure needs the sessions service, too.
        if (later === error) throw later;
        const now = clock.now();
        await queue.retry(run.runId, new Date(now.getTime() + RETRY.maxMs), now, { trace: span.trace });
      });
    }
  };
}

const MESSAGES: Record<string, string> = {
  owner_disabled: 'The owner of the schedule is disabled or deleted.',
  agent_deleted: 'The agent is deleted, or the owner may no longer use it.',
  agent_disabled: 'The agent is disabled.',
  environment_disabled: 'The environment of the agent is disabled or deleted.',
  session_archived: 'The session of the schedule is archived.',
  session_terminated: 'The session of the schedule is terminated.',
  session_deleted: 'The session of the schedule is deleted.',
};

function cannotStart(reason: string): StartFailure {
  return { reason, code: 'DEPLOYMENT_CANNOT_START', message: MESSAGES[reason] ?? reason };
}

function quotaExceeded({ message }: Refusal): StartFailure {
  return { reason: 'quota_exceeded', code: 'QUOTA_EXCEEDED', message };
}

const UNAVAILABLE: StartFailure = {
  reason: 'unavailable',
  code: 'DEPENDENCY_UNAVAILABLE',
  message: 'A part of the service was unavailable for longer than the schedule catches up.',
};
