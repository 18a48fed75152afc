import type { PromptValues } from './template.ts';
import { segmentAt, utcOffset, wallClock } from './zone.ts';

interface PromptContext {
  /** The scheduled time; for a run by hand the time of its request. */
  scheduledFor: Date;
  timezone: string;
  runId: string;
  runNumber: number;
  /** Undefined: no earlier run. */
  previousRun: { status: string; scheduledFor: Date | null; sessionId: string | null } | undefined;
  agentName: string;
  /** The name of the schedule. */
  name: string;
}

/** The texts of the placeholders. Times have whole seconds. */
export function promptValues(context: PromptContext): PromptValues {
  const { scheduledFor, timezone, previousRun } = context;
  const { offset } = segmentAt(timezone, scheduledFor.getTime());
  const local = wallClock(scheduledFor.getTime() + offset);
  return {
    scheduled_for: utc(scheduledFor),
    scheduled_for_local: `${local}${utcOffset(offset)}`,
    date: local.slice(0, local.indexOf('T')),
    timezone,
    run_id: context.runId,
    run_number: String(context.runNumber),
    'previous_run.status': previousRun?.status ?? '',
    'previous_run.scheduled_for': previousRun?.scheduledFor ? utc(previousRun.scheduledFor) : '',
    'previous_run.session_id': previousRun?.sessionId ?? '',
    agent_name: context.agentName,
    name: context.name,
  };
}

const utc = (time: Date) => `${wallClock(time.getTime())}Z`;
