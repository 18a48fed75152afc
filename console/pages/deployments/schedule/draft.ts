import type { DeploymentPatch, NewSchedule, Schedule, SchedulePreview } from '../../../gen/index.ts';
import { type FieldProblems, wholeNumber } from '../../../parts/editor/problems.ts';

/** The editable fields of a schedule. */
export type ScheduleBody = Required<Omit<NewSchedule, 'type' | 'metadata'>>;

/** ScheduleBody as the values of the form fields. */
export interface ScheduleDraft {
  name: string;
  prompt: string;
  kind: 'cron' | 'every' | 'at';
  cron: string;
  everySeconds: string;
  /** Times are in the time zone of the browser, as in `datetime-local` inputs. */
  at: string;
  timezone: string;
  startAt: string;
  endAt: string;
  jitter: string;
  overlap: Schedule['overlap'];
  catchUp: string;
  missing: Schedule['dst']['missing'];
  repeated: Schedule['dst']['repeated'];
  session: Schedule['session'];
  sessionId: string;
  pauseAfter: string;
  countFailedTurns: boolean;
}

export const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export const emptyScheduleDraft = (): ScheduleDraft => ({
  name: '',
  prompt: '',
  kind: 'cron',
  cron: '0 9 * * 1-5',
  everySeconds: '3600',
  at: '',
  timezone: browserZone(),
  startAt: '',
  endAt: '',
  jitter: '0',
  overlap: 'skip',
  catchUp: '3600',
  missing: 'shift',
  repeated: 'first',
  session: 'new',
  sessionId: '',
  pauseAfter: '5',
  countFailedTurns: false,
});

export function scheduleDraftOf(schedule: Schedule): ScheduleDraft {
  const empty = emptyScheduleDraft();
  return {
    name: schedule.name,
    prompt: schedule.prompt,
    kind: kindOf(schedule),
    cron: schedule.cron ?? empty.cron,
    everySeconds: schedule.every_seconds?.toString() ?? empty.everySeconds,
    at: localTime(schedule.at),
    timezone: schedule.timezone,
    startAt: localTime(schedule.start_at),
    endAt: localTime(schedule.end_at),
    jitter: String(schedule.jitter_seconds),
    overlap: schedule.overlap,
    catchUp: String(schedule.catch_up_seconds),
    missing: schedule.dst.missing,
    repeated: schedule.dst.repeated,
    session: schedule.session,
    sessionId: schedule.session_id ?? '',
    pauseAfter: String(schedule.pause_after_failures),
    countFailedTurns: schedule.count_failed_turns,
  };
}

function kindOf({ every_seconds: every, at }: Schedule): ScheduleDraft['kind'] {
  if (every !== null) return 'every';
  return at === null ? 'cron' : 'at';
}

const SECOND_CHARS = 19;

/** Converts an instant to the value of a `datetime-local` input. */
export function localTime(instant: string | null): string {
  if (instant === null) return '';
  const date = new Date(instant);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, SECOND_CHARS);
}

/** Converts the value of a `datetime-local` input to an instant. Null without a valid time. */
export function instantOf(local: string): string | null {
  const date = new Date(local);
  return local === '' || Number.isNaN(date.getTime()) ? null : date.toISOString();
}

const TEN_YEARS_SECONDS = 315_360_000;

/** Parses a draft. `problems` maps JSON Pointers to validation errors; the service checks the timing. */
export function readScheduleDraft(draft: ScheduleDraft): { body: ScheduleBody; problems: FieldProblems } {
  const problems: FieldProblems = {};
  const number = (pointer: string, text: string, min: number, max: number) => {
    const { value, problem } = wholeNumber(text, { min, max });
    if (problem !== undefined) problems[pointer] = problem;
    return value ?? min;
  };
  if (draft.name.trim() === '') problems['/name'] = 'Enter a name.';
  if (draft.prompt.trim() === '') problems['/prompt'] = 'Enter the first message.';
  if (draft.kind === 'at' && instantOf(draft.at) === null) problems['/at'] = 'Choose a time.';
  const body: ScheduleBody = {
    name: draft.name.trim(),
    prompt: draft.prompt,
    ...timingOf(draft, (text) => number('/every_seconds', text, 1, TEN_YEARS_SECONDS)),
    jitter_seconds: number('/jitter_seconds', draft.jitter, 0, 3_600),
    overlap: draft.overlap,
    catch_up_seconds: number('/catch_up_seconds', draft.catchUp, 0, 2_592_000),
    session: draft.session,
    session_id: draft.session === 'continue' ? draft.sessionId.trim() || null : null,
    pause_after_failures: number('/pause_after_failures', draft.pauseAfter, 0, 1_000),
    count_failed_turns: draft.countFailedTurns,
  };
  return { body, problems };
}

function timingOf(draft: ScheduleDraft, seconds: (text: string) => number) {
  return {
    cron: draft.kind === 'cron' ? draft.cron.trim() : null,
    every_seconds: draft.kind === 'every' ? seconds(draft.everySeconds) : null,
    at: draft.kind === 'at' ? instantOf(draft.at) : null,
    timezone: draft.timezone.trim() || 'UTC',
    start_at: instantOf(draft.startAt),
    end_at: instantOf(draft.endAt),
    dst: { missing: draft.missing, repeated: draft.repeated },
  };
}

/** The request that previews the times of a draft. Undefined while a field that it needs is empty. */
export function previewOf(draft: ScheduleDraft): SchedulePreview | undefined {
  const timing = timingOf(draft, Number);
  const isInterval = Number.isSafeInteger(timing.every_seconds) && Number(timing.every_seconds) > 0;
  const isComplete = { cron: timing.cron !== '', every: isInterval, at: timing.at !== null }[draft.kind];
  return isComplete ? { ...timing, count: 10 } : undefined;
}

/** The patch of changed members: the members of the timing's kind belong together. */
export function patchOf(changes: Partial<ScheduleBody>, whole: ScheduleBody): DeploymentPatch {
  const { cron, every_seconds, at } = whole;
  const changesKind = ['cron', 'every_seconds', 'at'].some((member) => member in changes);
  return { ...changes, ...(changesKind && { cron, every_seconds, at }) };
}
