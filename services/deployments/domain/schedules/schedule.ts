/** How fixed times of a cron expression are mapped when clocks change. */
export interface DaylightSaving {
  missing: 'shift' | 'skip';
  repeated: 'first' | 'last' | 'both';
}

export interface Timing {
  kind: 'cron' | 'every' | 'at';
  /** Set for the kind `cron`: five fields, or a nickname. */
  cron: string | null;
  /** Set for the kind `every`. */
  everySeconds: number | null;
  /** Set for the kind `at`. */
  at: Date | null;
  /** An IANA name. */
  timezone: string;
  /** Both bounds are inclusive. */
  startAt: Date | null;
  endAt: Date | null;
  dst: DaylightSaving;
}

export type Overlap = 'skip' | 'buffer_one' | 'allow' | 'cancel_previous';

/** The settings of a schedule, checked. */
export interface ScheduleSettings {
  /** A template; see template.ts. */
  prompt: string;
  timing: Timing;
  jitterSeconds: number;
  overlap: Overlap;
  catchUpSeconds: number;
  sessionMode: 'new' | 'continue';
  /** Only for `continue`: a session that the client names. */
  sessionId: string | null;
  /** 0: the schedule is never paused. */
  pauseAfterFailures: number;
  countFailedTurns: boolean;
}
