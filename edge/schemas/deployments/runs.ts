import { Type } from 'typebox';
import { StopReason } from '../../../lib/event-parts.ts';
import type {
  Backfill,
  CreateBackfillResponse,
  Run,
} from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import {
  closed,
  count,
  flag,
  id,
  NULL,
  nullable,
  optional,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
  UsageShape,
} from '../common.ts';
import { serializeRecordedUsage } from '../usage.ts';

export const RUN_STATUSES = [
  'queued',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'interrupted',
  'cancelled',
  'skipped',
  'missed',
] as const;
export const RUN_TRIGGERS = ['scheduled', 'manual', 'backfill', 'replay'] as const;

export const RunShape = Type.Object(
  {
    run_id: id('run', 'the run'),
    deployment_id: id('dep', 'the schedule'),
    trigger: Type.Enum([...RUN_TRIGGERS], {
      description:
        'What asked for the run: the schedule, a user, a backfill, or the replay of an earlier run.',
    }),
    status: Type.Enum([...RUN_STATUSES], {
      description:
        '`queued` has not started. `waiting` needs a decision or an answer. `skipped` and `missed` were never started. The ' +
        'other values say how its turn goes or has ended.',
    }),
    reason: nullable(
      text('Why the run was skipped or missed or has failed, for example `overlap` or `owner_disabled`.'),
      NULL,
    ),
    scheduled_for: nullable(time('The scheduled time; null for a run by hand.')),
    scheduled_until: nullable(time('The last of several missed times.'), NULL),
    count: count('The number of scheduled times that this entry stands for.'),
    started_at: nullable(time('The time at which its session was created or its message was sent.')),
    finished_at: nullable(time('The time at which its turn ended.')),
    lateness_ms: nullable(
      Type.Integer({
        description: 'Milliseconds from the due time to the start; null for a run by hand.',
        examples: [120],
      }),
    ),
    session_id: nullable(id('ses', 'the session')),
    turn_id: nullable(id('trn', 'the turn')),
    stop_reason: nullable(StopReason, { examples: [{ type: 'end_turn' }] }),
    usage: nullable(UsageShape, NULL),
    error: nullable(
      Type.Object(
        { code: text('The error code.'), message: text('The error message.') },
        { title: 'RunError' },
      ),
      NULL,
    ),
    replayed_from_run_id: nullable(id('run', 'the run that was replayed'), NULL),
    backfill_id: nullable(id('bkf', 'the backfill'), NULL),
    created_by: nullable(id('usr', 'the user who asked for the run; null for a scheduled run'), NULL),
    created_at: time('The creation time.'),
  },
  { title: 'Run' },
);

export const RunRequestBody = closed(
  {
    prompt: optional(
      text('The prompt of this run. Default: the prompt of the schedule.', {
        minLength: 1,
        maxLength: 65_536,
      }),
    ),
  },
  { title: 'RunRequest' },
);

const range = {
  from: time('The first time of the range.'),
  until: time('The end of the range. A time that equals it does not count.'),
};
const backfillOverlap = Type.Enum(['allow', 'buffer_all'], {
  title: 'BackfillOverlap',
  description: 'The runs start side by side, or one after the other.',
});

export const BackfillCreationBody = closed(
  {
    ...range,
    overlap: optional(backfillOverlap),
    skip_existing: optional(flag('Leave out times that have a run already. Default: true.')),
    dry_run: optional(flag('Only count the times. Default: false.', false)),
  },
  { title: 'NewBackfill' },
);

export const BackfillShape = Type.Object(
  {
    backfill_id: id('bkf', 'the backfill'),
    deployment_id: id('dep', 'the schedule'),
    ...range,
    overlap: backfillOverlap,
    skip_existing: flag('Whether times that had a run were left out.'),
    count: count('The number of runs.'),
    started: count('The number of runs that have started.'),
    finished: count('The number of runs that have ended.'),
    cancelled: count('The number of runs that were cancelled before they started.', 0),
    created_by: id('usr', 'the user who created the backfill'),
    created_at: time('The creation time.'),
  },
  { title: 'Backfill' },
);

export const CreatedBackfillShape = Type.Object(
  {
    backfill_id: nullable(id('bkf', 'the backfill; null for a dry run')),
    count: count('The number of runs.'),
    first: nullable(time('The first scheduled time; null when there is none.')),
    last: nullable(time('The last scheduled time; null when there is none.')),
  },
  { title: 'CreatedBackfill' },
);

const parsed = (json: string) => JSON.parse(json || 'null');

export function serializeRun(run: Run | undefined) {
  return {
    run_id: run?.runId,
    deployment_id: run?.deploymentId,
    trigger: run?.trigger,
    status: run?.status,
    reason: run?.reason || null,
    scheduled_for: serializeTimeOrNull(run?.scheduledFor),
    scheduled_until: serializeTimeOrNull(run?.scheduledUntil),
    count: run?.count,
    started_at: serializeTimeOrNull(run?.startedAt),
    finished_at: serializeTimeOrNull(run?.finishedAt),
    lateness_ms: run?.latenessMs ?? null,
    session_id: run?.sessionId || null,
    turn_id: run?.turnId || null,
    stop_reason: parsed(run?.stopReasonJson ?? ''),
    usage: serializeRecordedUsage(run?.usageJson ?? ''),
    error: parsed(run?.errorJson ?? ''),
    replayed_from_run_id: run?.replayedFromRunId || null,
    backfill_id: run?.backfillId || null,
    created_by: run?.createdBy || null,
    created_at: serializeTime(run?.createdAt),
  };
}

export function serializeBackfill(backfill: Backfill | undefined) {
  return {
    backfill_id: backfill?.backfillId,
    deployment_id: backfill?.deploymentId,
    from: serializeTime(backfill?.from),
    until: serializeTime(backfill?.until),
    overlap: backfill?.overlap,
    skip_existing: backfill?.skipExisting,
    count: backfill?.count,
    started: backfill?.started,
    finished: backfill?.finished,
    cancelled: backfill?.cancelled,
    created_by: backfill?.createdBy,
    created_at: serializeTime(backfill?.createdAt),
  };
}

export function serializeCreatedBackfill({ backfillId, count: runs, first, last }: CreateBackfillResponse) {
  return {
    backfill_id: backfillId || null,
    count: runs,
    first: serializeTimeOrNull(first),
    last: serializeTimeOrNull(last),
  };
}
