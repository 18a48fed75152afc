import { FieldProblems } from '../../../../lib/field-problems.ts';
import { checkJitter, checkTiming, type TimingLimits, type TimingRequest } from './check-timing.ts';
import type { ScheduleSettings, Timing } from './schedule.ts';
import { parsePrompt } from './template.ts';

/** The settings in a request. Enumerations are unchecked text. */
interface SettingsRequest {
  prompt: string;
  timing: TimingRequest | undefined;
  jitterSeconds: number;
  overlap: string;
  catchUpSeconds: number;
  sessionMode: string;
  /** Empty: none. */
  sessionId: string;
  pauseAfterFailures: number;
  countFailedTurns: boolean;
}

interface TimingChange {
  /** cron, everySeconds and at replace those of the schedule. */
  replacesKind: boolean;
  cron?: string | undefined;
  everySeconds?: number | undefined;
  at: Date | undefined;
  timezone?: string | undefined;
  /** An empty member removes the bound. */
  startAt: { time: Date | undefined } | undefined;
  endAt: { time: Date | undefined } | undefined;
  /** Empty texts are unchanged. */
  dst: { missing: string; repeated: string } | undefined;
}

/** Absent members are unchanged. */
type SettingsChange = { timing: TimingChange | undefined } & {
  [Member in keyof Omit<SettingsRequest, 'timing'>]?: SettingsRequest[Member] | undefined;
};

const OVERLAPS = ['skip', 'buffer_one', 'allow', 'cancel_previous'] as const;
const SESSION_MODES = ['new', 'continue'] as const;
const MAX_JITTER_SECONDS = 3_600;
const MAX_CATCH_UP_SECONDS = 2_592_000;
const MAX_PAUSE_AFTER_FAILURES = 1_000;
const MAX_NAME = 200;
const MAX_PROMPT_BYTES = 64 * 1024;

/** Returns the name as it is stored. Refused with INVALID_REQUEST or INVALID_TEXT. */
export function checkName(name: string): string {
  const trimmed = name.trim();
  const problems = new FieldProblems();
  problems.characters('/name', trimmed, 1, MAX_NAME);
  problems.throwIfAny();
  return trimmed;
}

/** Refused with INVALID_REQUEST or INVALID_TEXT. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  const problems = new FieldProblems();
  problems.metadata(metadata);
  problems.throwIfAny();
}

/** Checks the text of a prompt. Refused with INVALID_REQUEST, INVALID_TEXT, or INVALID_SCHEDULE for a placeholder. */
export function checkPrompt(prompt: string): void {
  const problems = new FieldProblems();
  if (problems.storable('/prompt', prompt)) {
    if (prompt.trim() === '') problems.add('/prompt', 'must not be empty');
    if (Buffer.byteLength(prompt) > MAX_PROMPT_BYTES)
      problems.add('/prompt', `must be at most ${MAX_PROMPT_BYTES} bytes long`);
  }
  problems.throwIfAny();
  parsePrompt(prompt);
}

/** Checks the settings of a new schedule and returns them as they are stored. */
export function checkSettings(request: SettingsRequest, now: Date, limits: TimingLimits): ScheduleSettings {
  checkPrompt(request.prompt);
  const settings = checkMembers(request);
  const { catchUpSeconds, jitterSeconds } = settings;
  const context = { now, earliest: earliestAt(now, catchUpSeconds), createdAt: now, jitterSeconds };
  const timing = checkTiming(request.timing, context, limits);
  return { ...settings, timing };
}

/**
 * Applies a change to the settings of a schedule and checks the members that it names. An unchanged timing is not checked
 * again: its times may have passed.
 */
export function applyChange(
  current: ScheduleSettings,
  change: SettingsChange,
  now: Date,
  limits: TimingLimits,
  createdAt: Date,
): ScheduleSettings {
  if (change.prompt !== undefined) checkPrompt(change.prompt);
  const sessionMode = change.sessionMode ?? current.sessionMode;
  const currentSessionId = sessionMode === 'continue' ? current.sessionId : null;
  const settings = checkMembers({
    prompt: change.prompt ?? current.prompt,
    jitterSeconds: change.jitterSeconds ?? current.jitterSeconds,
    overlap: change.overlap ?? current.overlap,
    catchUpSeconds: change.catchUpSeconds ?? current.catchUpSeconds,
    sessionMode,
    sessionId: change.sessionId ?? currentSessionId ?? '',
    pauseAfterFailures: change.pauseAfterFailures ?? current.pauseAfterFailures,
    countFailedTurns: change.countFailedTurns ?? current.countFailedTurns,
  });
  const { catchUpSeconds, jitterSeconds } = settings;
  const context = { now, earliest: earliestAt(now, catchUpSeconds), createdAt, jitterSeconds };
  if (changesTiming(change.timing))
    return { ...settings, timing: checkTiming(requestOf(current, change.timing), context, limits) };
  if (jitterSeconds > current.jitterSeconds) checkJitter(current.timing, context);
  return { ...settings, timing: current.timing };
}

/** Checks the timing of a schedule that does not exist. */
export function checkPreview(
  timing: TimingRequest | undefined,
  jitterSeconds: number,
  now: Date,
  limits: TimingLimits,
): Timing {
  const problems = new FieldProblems();
  problems.range('/jitter_seconds', jitterSeconds, 0, MAX_JITTER_SECONDS);
  problems.throwIfAny('INVALID_SCHEDULE');
  return checkTiming(timing, { now, earliest: now, createdAt: now, jitterSeconds }, limits);
}

const earliestAt = (now: Date, catchUpSeconds: number) => new Date(now.getTime() - catchUpSeconds * 1000);

function changesTiming(change: TimingChange | undefined): boolean {
  return Object.values(change ?? {}).some((member) => member !== undefined && member !== false);
}

function requestOf({ timing }: ScheduleSettings, change: TimingChange | undefined): TimingRequest {
  const { cron, everySeconds, at } = change?.replacesKind ? change : timing;
  return {
    cron: cron ?? undefined,
    everySeconds: everySeconds ?? undefined,
    at: at ?? undefined,
    timezone: change?.timezone ?? timing.timezone,
    startAt: change?.startAt ? change.startAt.time : (timing.startAt ?? undefined),
    endAt: change?.endAt ? change.endAt.time : (timing.endAt ?? undefined),
    dst: {
      missing: change?.dst?.missing || timing.dst.missing,
      repeated: change?.dst?.repeated || timing.dst.repeated,
    },
  };
}

function checkMembers(request: Omit<SettingsRequest, 'timing'>): Omit<ScheduleSettings, 'timing'> {
  const problems = new FieldProblems();
  const { overlap, sessionMode, sessionId } = request;
  problems.range('/jitter_seconds', request.jitterSeconds, 0, MAX_JITTER_SECONDS);
  problems.oneOf('/overlap', overlap, OVERLAPS);
  problems.range('/catch_up_seconds', request.catchUpSeconds, 0, MAX_CATCH_UP_SECONDS);
  problems.oneOf('/session', sessionMode, SESSION_MODES);
  if (sessionId !== '' && sessionMode === 'new')
    problems.add('/session_id', 'must be set only when session is continue');
  problems.range('/pause_after_failures', request.pauseAfterFailures, 0, MAX_PAUSE_AFTER_FAILURES);
  problems.throwIfAny('INVALID_SCHEDULE');
  return {
    prompt: request.prompt,
    jitterSeconds: request.jitterSeconds,
    overlap: overlap as ScheduleSettings['overlap'],
    catchUpSeconds: request.catchUpSeconds,
    sessionMode: sessionMode as ScheduleSettings['sessionMode'],
    sessionId: sessionId || null,
    pauseAfterFailures: request.pauseAfterFailures,
    countFailedTurns: request.countFailedTurns,
  };
}
