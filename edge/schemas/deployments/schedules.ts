import { type Static, Type } from 'typebox';
import type { Deployment } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { ScheduleChange, ScheduleSettings } from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import {
  closed,
  flag,
  id,
  Metadata,
  NULL,
  nullable,
  optional,
  revision,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from '../common.ts';
import { ChannelConfigBody } from './channel-config.ts';
import { ChannelCredentialsBody } from './channels.ts';
import { RUN_STATUSES } from './runs.ts';
import { daylightSaving, jitterSeconds, newTiming, timing, timingChangeOf, timingOf } from './timing.ts';
import { deploymentMembers } from './webhooks.ts';

const DEFAULT_CATCH_UP_SECONDS = 3_600;
const DEFAULT_PAUSE_AFTER_FAILURES = 5;
const PROMPT_MAX_LENGTH = 65_536;

const settings = {
  name: text('The display name.', {
    title: 'ScheduleName',
    minLength: 1,
    maxLength: 200,
    examples: ['Morning report'],
  }),
  prompt: text(
    'The first message of each session. Placeholders such as `{{scheduled_for}}` are replaced; `{{{{` stands for `{{`.',
    {
      title: 'SchedulePrompt',
      minLength: 1,
      maxLength: PROMPT_MAX_LENGTH,
      examples: ['Summarize the open issues of {{date}}.'],
    },
  ),
  jitter_seconds: jitterSeconds,
  overlap: Type.Enum(['skip', 'buffer_one', 'allow', 'cancel_previous'], {
    title: 'Overlap',
    description:
      'A time that is due while the previous run is not finished is skipped, waits (one time at most), runs beside it, or ' +
      'interrupts it.',
  }),
  catch_up_seconds: Type.Integer({
    title: 'CatchUpSeconds',
    minimum: 0,
    maximum: 2_592_000,
    description: 'After a downtime, times that are older than this many seconds are missed.',
    examples: [DEFAULT_CATCH_UP_SECONDS],
  }),
  session: Type.Enum(['new', 'continue'], {
    title: 'ScheduleSession',
    description: 'Each run has a new session, or all runs continue one.',
  }),
  session_id: nullable(
    id('ses', 'the session to continue, of the same user and agent. Null: created with the next run'),
    { title: 'ContinuedSession', ...NULL },
  ),
  pause_after_failures: Type.Integer({
    title: 'PauseAfterFailures',
    minimum: 0,
    maximum: 1_000,
    description:
      'The schedule is disabled after this many runs in a row that could not start, not counting those over a quota. ' +
      '0: never.',
    examples: [DEFAULT_PAUSE_AFTER_FAILURES],
  }),
  count_failed_turns: flag('Whether failed turns count for `pause_after_failures`, too.', false),
};

const omissible = {
  ...newTiming,
  jitter_seconds: optional(settings.jitter_seconds),
  overlap: optional(settings.overlap),
  catch_up_seconds: optional(settings.catch_up_seconds),
  session: optional(settings.session),
  session_id: optional(settings.session_id),
  pause_after_failures: optional(settings.pause_after_failures),
  count_failed_turns: optional(settings.count_failed_turns),
};

export const ScheduleCreationBody = closed(
  {
    type: Type.Literal('schedule'),
    name: settings.name,
    prompt: settings.prompt,
    ...omissible,
    metadata: optional(Metadata),
  },
  { title: 'NewSchedule', description: 'Exactly one of `cron`, `every_seconds` and `at` is required.' },
);

export const DeploymentPatchBody = closed(
  {
    type: optional(text('The type, which cannot be changed.', { examples: ['schedule'] })),
    prompt_prefix: optional(
      Type.Unknown({ description: 'Only webhooks have this member, and webhooks cannot be changed.' }),
    ),
    name: optional(settings.name),
    prompt: optional(settings.prompt),
    ...omissible,
    config: optional(ChannelConfigBody),
    credentials: optional(ChannelCredentialsBody),
    metadata: optional(nullable(Metadata)),
  },
  { title: 'DeploymentPatch' },
);

export const ScheduleShape = Type.Object(
  {
    ...deploymentMembers,
    type: Type.Literal('schedule'),
    name: settings.name,
    prompt: settings.prompt,
    ...timing,
    jitter_seconds: settings.jitter_seconds,
    overlap: settings.overlap,
    catch_up_seconds: settings.catch_up_seconds,
    dst: daylightSaving,
    session: settings.session,
    session_id: settings.session_id,
    pause_after_failures: settings.pause_after_failures,
    count_failed_turns: settings.count_failed_turns,
    metadata: Metadata,
    paused_reason: nullable(
      text('Why the service has disabled the schedule, for example `cannot_start`.'),
      NULL,
    ),
    next_at: nullable(time('The next scheduled time; null when there is none or the schedule is disabled.')),
    upcoming: Type.Array(time('A scheduled time.'), {
      maxItems: 5,
      description: 'The next scheduled times. Empty in lists.',
    }),
    last_run: nullable(
      Type.Object({
        run_id: id('run', 'the run'),
        status: Type.Enum([...RUN_STATUSES]),
        scheduled_for: nullable(time('The scheduled time.')),
        session_id: nullable(id('ses', 'the session')),
      }),
    ),
    revision,
    updated_at: time('The time of the last change.'),
  },
  { title: 'Schedule' },
);

/** Converts the settings of a new schedule. Omitted members get the documented defaults. */
export function scheduleSettingsOf(body: Static<typeof ScheduleCreationBody>): ScheduleSettings {
  return {
    prompt: body.prompt,
    timing: timingOf(body),
    jitterSeconds: body.jitter_seconds ?? 0,
    overlap: body.overlap ?? 'skip',
    catchUpSeconds: body.catch_up_seconds ?? DEFAULT_CATCH_UP_SECONDS,
    sessionMode: body.session ?? 'new',
    sessionId: body.session_id ?? '',
    pauseAfterFailures: body.pause_after_failures ?? DEFAULT_PAUSE_AFTER_FAILURES,
    countFailedTurns: body.count_failed_turns ?? false,
  };
}

/** The members that only schedules have. */
const SCHEDULE_MEMBERS = ['prompt', ...Object.keys(omissible)];

/** Undefined when the body has no member that only schedules have: the service refuses such a change of a channel. */
export function scheduleChangeOf(body: Static<typeof DeploymentPatchBody>): ScheduleChange | undefined {
  if (!SCHEDULE_MEMBERS.some((member) => member in body)) return undefined;
  return {
    prompt: body.prompt,
    timing: timingChangeOf(body),
    jitterSeconds: body.jitter_seconds,
    overlap: body.overlap,
    catchUpSeconds: body.catch_up_seconds,
    sessionMode: body.session,
    sessionId: body.session_id === null ? '' : body.session_id,
    pauseAfterFailures: body.pause_after_failures,
    countFailedTurns: body.count_failed_turns,
  };
}

export function serializeSchedule(deployment: Deployment) {
  const { schedule: stored, scheduleStatus } = deployment;
  const when = stored?.timing;
  const { lastRun } = scheduleStatus ?? {};
  return {
    deployment_id: deployment.deploymentId,
    agent_id: deployment.agentId,
    agent_name: deployment.agentName || null,
    type: deployment.type,
    name: deployment.name,
    prompt: stored?.prompt,
    cron: when?.cron ?? null,
    every_seconds: when?.everySeconds ?? null,
    at: serializeTimeOrNull(when?.at),
    timezone: when?.timezone,
    start_at: serializeTimeOrNull(when?.startAt),
    end_at: serializeTimeOrNull(when?.endAt),
    jitter_seconds: stored?.jitterSeconds,
    overlap: stored?.overlap,
    catch_up_seconds: stored?.catchUpSeconds,
    dst: when?.dst,
    session: stored?.sessionMode,
    session_id: stored?.sessionId || null,
    pause_after_failures: stored?.pauseAfterFailures,
    count_failed_turns: stored?.countFailedTurns,
    metadata: deployment.metadata,
    status: deployment.status,
    paused_reason: scheduleStatus?.pausedReason || null,
    next_at: serializeTimeOrNull(scheduleStatus?.nextAt),
    upcoming: scheduleStatus?.upcoming.map(serializeTime) ?? [],
    last_run: lastRun
      ? {
          run_id: lastRun.runId,
          status: lastRun.status,
          scheduled_for: serializeTimeOrNull(lastRun.scheduledFor),
          session_id: lastRun.sessionId || null,
        }
      : null,
    revision: deployment.revision,
    created_by: deployment.createdBy,
    created_at: serializeTime(deployment.createdAt),
    updated_at: serializeTime(deployment.updatedAt),
  };
}
