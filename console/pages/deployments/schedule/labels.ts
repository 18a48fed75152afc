import type { Run, Schedule } from '../../../gen/index.ts';
import type { DisplayedField } from '../../../parts/diff/fields.ts';
import type { Tone } from '../../../ui/badge.tsx';
import type { ScheduleBody } from './draft.ts';

export const OVERLAPS: readonly { value: Schedule['overlap']; text: string; about: string }[] = [
  { value: 'skip', text: 'Skip', about: 'The time is skipped.' },
  { value: 'buffer_one', text: 'Wait', about: 'One run waits until the previous one has ended.' },
  { value: 'allow', text: 'Run beside it', about: 'Runs overlap.' },
  { value: 'cancel_previous', text: 'Interrupt', about: 'The previous run is interrupted.' },
];

export const SESSIONS: readonly { value: Schedule['session']; text: string; about: string }[] = [
  { value: 'new', text: 'A new session', about: 'Each run starts with an empty conversation.' },
  { value: 'continue', text: 'One session', about: 'Each run sends its message to the same session.' },
];

export const MISSING: readonly { value: Schedule['dst']['missing']; text: string }[] = [
  { value: 'shift', text: 'Run when the clock has moved on' },
  { value: 'skip', text: 'Skip' },
];

export const REPEATED: readonly { value: Schedule['dst']['repeated']; text: string }[] = [
  { value: 'first', text: 'Run at the first' },
  { value: 'last', text: 'Run at the last' },
  { value: 'both', text: 'Run at both' },
];

export const RUN_STATES: Record<Run['status'], { text: string; tone: Tone }> = {
  queued: { text: 'Queued', tone: 'plain' },
  running: { text: 'Running', tone: 'accent' },
  waiting: { text: 'Waiting', tone: 'warn' },
  succeeded: { text: 'Succeeded', tone: 'good' },
  failed: { text: 'Failed', tone: 'bad' },
  interrupted: { text: 'Interrupted', tone: 'warn' },
  cancelled: { text: 'Cancelled', tone: 'plain' },
  skipped: { text: 'Skipped', tone: 'plain' },
  missed: { text: 'Missed', tone: 'warn' },
};

const REASONS: Record<string, string> = {
  overlap: 'The previous run had not ended.',
  buffer_full: 'A run was waiting already.',
  downtime: 'The service was not running.',
  catch_up: 'Only the newest time after a downtime runs.',
  owner_disabled: 'The user who created the schedule is disabled.',
  agent_deleted: 'The agent is deleted, or its creator may no longer use it.',
  agent_disabled: 'The agent is disabled.',
  environment_disabled: 'The environment of the agent is disabled.',
  session_archived: 'The session is archived.',
  session_terminated: 'The session is terminated.',
  session_deleted: 'The session is deleted.',
  quota_exceeded: 'The daily quota of turns was used up.',
  unavailable: 'A service was unavailable for too long.',
  disabled: 'The schedule was disabled.',
  cancelled: 'A user cancelled it.',
};

/** Why a run did not start or has failed. Empty when there is nothing to say. */
export function reasonOf({ reason, error, stop_reason: stopped }: Run): string {
  if (reason !== null) return REASONS[reason] ?? reason.replaceAll('_', ' ');
  return error?.message ?? (stopped && stopped.type !== 'end_turn' ? stopped.type.replaceAll('_', ' ') : '');
}

/** The fields of a schedule for the comparison of two edits. */
export function scheduleFields(body: ScheduleBody): DisplayedField[] {
  const rows: [string, unknown][] = [
    ['Name', body.name],
    ['Prompt', body.prompt],
    ['Cron expression', body.cron],
    ['Interval in seconds', body.every_seconds],
    ['Time', body.at],
    ['Time zone', body.timezone],
    ['Not before', body.start_at],
    ['Not after', body.end_at],
    ['Jitter in seconds', body.jitter_seconds],
    ['Overlap', body.overlap],
    ['Catch-up window in seconds', body.catch_up_seconds],
    ['Times that do not exist', body.dst.missing],
    ['Times that occur twice', body.dst.repeated],
    ['Session', body.session],
    ['Session ID', body.session_id],
    ['Pause after failures', body.pause_after_failures],
    ['Count failed turns', body.count_failed_turns ? 'Yes' : 'No'],
  ];
  return rows.map(([label, value]) => ({ label, text: String(value ?? '') }));
}
