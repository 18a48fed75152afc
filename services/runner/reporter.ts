import type { Clock } from '../../lib/clock.ts';
import { ERRORS, isErrorCode, Refusal } from '../../lib/errors.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import type { Tracer } from '../../lib/telemetry/tracer.ts';
import type {
  ReportResult,
  SessionsServiceDefinition,
  TurnReport,
} from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createBackoff } from './backoff.ts';
import type { Held, HeldTurn } from './held.ts';

/** One call holds this many bytes; more only when a single event is longer. */
const CALL_BYTES = 8 * 1024 * 1024;
/** A call that takes longer is repeated, which is safe: each report has its number. */
const ANSWER_MS = 5_000;

export interface ReporterOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'reportTurns'>;
  clock: Clock;
  log: Log;
  tracer: Tracer;
  runnerId: string;
  held: Held;
  intervalMs: number;
}

export interface Reporter {
  /** Turns are held: from here on their events go out every interval. */
  watch(): void;
  /** What the turn has done, or its outcome, is reported at once, together with others that have something just now. */
  hurry(turn: HeldTurn): void;
  /**
   * Reports at once what the turn has done so far, and waits until it is in the journal. Resolves with whether the
   * turn is still this runner's: with false, nothing may be done for it any more.
   */
  commit(turn: HeldTurn): Promise<boolean>;
  /** Sends nothing any more. */
  stop(): void;
}

interface Sent {
  turn: HeldTurn;
  report: TurnReport;
}

/**
 * Tells sessions what the turns have done: one call for all of them, every interval and when turns end;
 * one call at a time, the next one takes what has gathered meanwhile. A call that fails is repeated with
 * the same reports until it is answered or the leases are lost.
 */
export function createReporter(options: ReporterOptions): Reporter {
  const { sessions, clock, log, tracer, runnerId, held } = options;
  const ready = new Set<HeldTurn>();
  const stopping = new AbortController();
  let scheduled = false;
  let busy = false;
  let cancelTick: (() => void) | undefined;

  function schedule(): void {
    if (!stopping.signal.aborted && held.size > 0) cancelTick = clock.after(options.intervalMs, tick);
  }

  function tick(): void {
    cancelTick = undefined;
    schedule();
    const now = clock.now().getTime();
    for (const turn of held) if (turn.outbox.due(now)) ready.add(turn);
    void flush();
  }

  async function flush(): Promise<void> {
    if (busy) return;
    busy = true;
    for (let batch = gather(); batch.length > 0; batch = gather()) await deliver(batch);
    busy = false;
  }

  function gather(): Sent[] {
    const now = clock.now().getTime();
    const batch: Sent[] = [];
    let room = CALL_BYTES;
    for (const turn of ready) {
      const taken = turn.outbox.take(now, room, batch.length === 0);
      if (taken) {
        batch.push({ turn, report: taken.report });
        room -= taken.bytes;
      }
      if (!turn.outbox.waiting) ready.delete(turn);
    }
    return batch;
  }

  async function deliver(batch: Sent[]): Promise<void> {
    const backoff = createBackoff(clock);
    let left = batch;
    for (;;) {
      const now = clock.now().getTime();
      for (const { turn } of left) giveUpIfOver(turn, now);
      left = left.filter(({ turn }) => held.has(turn));
      if (left.length === 0 || stopping.signal.aborted) return;
      try {
        left = settle(left, await send(left));
        if (left.length === 0) return;
      } catch (error) {
        if (!mayPass(error)) return apart(left, error);
        log.warn({ err: error }, 'turns cannot be reported; trying on');
      }
      await backoff.pause(stopping.signal);
    }
  }

  async function send(batch: Sent[]): Promise<ReportResult[]> {
    const deadline = clock.now().getTime() + ANSWER_MS;
    const reports = batch.map(({ report }) => report);
    const told = batch.filter(({ report }) => report.traceparent !== '').map(({ turn }) => turn.span.trace);
    // What nobody records needs no trace.
    const span = told.length > 0 ? tracer.beginShared('report turns', told) : undefined;
    try {
      const { results } = await sessions.reportTurns({ runnerId, reports }, { deadline, trace: span?.trace });
      span?.end();
      return results;
    } catch (error) {
      span?.end(error instanceof Refusal ? error.code : 'INTERNAL');
      throw error;
    }
  }

  /** Returns those that are worth another try. */
  function settle(batch: Sent[], results: ReportResult[]): Sent[] {
    return batch.filter((sent, index) => {
      const code = results[index]?.errorCode ?? 'INTERNAL';
      if (code === '') {
        sent.turn.outbox.acknowledge(sent.report.events.length);
        if (sent.report.outcome) held.release(sent.turn);
        return false;
      }
      if (isErrorCode(code) && ERRORS[code].retryable) return true;
      giveUp(sent, code, results[index]?.errorMessage);
      return false;
    });
  }

  /** A runner that was asleep for longer than its leases last says nothing of what it held. */
  function giveUpIfOver(turn: HeldTurn, now: number): void {
    if (turn.leaseUntil <= now) held.lose(turn);
  }

  /** One report at fault takes no other with it. */
  async function apart(batch: Sent[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first) return giveUp(first, error instanceof Refusal ? error.code : 'INTERNAL');
    for (const sent of batch) await deliver([sent]);
  }

  /** Its lease runs out, and sessions decides what becomes of it. */
  function giveUp({ turn }: Sent, code: string, reason?: string): void {
    if (code !== 'LEASE_LOST') {
      log.error({ ...turn.facts, code, reason }, 'a turn cannot be reported and is given up');
    }
    held.lose(turn);
  }

  function hurry(turn: HeldTurn): void {
    ready.add(turn);
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void flush();
    });
  }

  return {
    watch() {
      if (!cancelTick) schedule();
    },
    hurry,
    async commit(turn) {
      hurry(turn);
      if (!(await turn.outbox.kept())) return false;
      giveUpIfOver(turn, clock.now().getTime());
      return held.has(turn);
    },
    stop() {
      stopping.abort();
      cancelTick?.();
    },
  };
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  return ERRORS[error.code].retryable || error.code === 'CANCELLED';
}
