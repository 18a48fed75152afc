import { createBackoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ERRORS, isErrorCode } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
import type {
  ReportResult,
  SessionsServiceDefinition,
  TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn, LeasedTurns } from './leased-turns.ts';

/** Size limit of one batch in bytes; a single longer event is sent alone. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Deadline of one call. A repeated report is safe: each report has a number. */
const CALL_TIMEOUT_MS = 5_000;

interface ReporterOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'reportTurns'>;
  clock: Clock;
  log: Log;
  tracer: Tracer;
  runnerId: string;
  turns: LeasedTurns;
  intervalMs: number;
}

interface SentReport {
  turn: LeasedTurn;
  report: TurnReport;
}

/**
 * Reports the events of all turns to sessions in batches: when they are due, which is checked every interval, and
 * immediately when a turn requests it.
 *
 * A turn has at most one report in flight, which keeps its reports in order. Batches are independent: the next batch
 * waits for the answer to the previous one for at most one interval, so that turns which become ready together share a
 * batch while a slow or failing batch delays only its own turns. A failed batch is repeated with the same reports until
 * it is answered or the leases are lost.
 */
export class Reporter {
  readonly #options: ReporterOptions;
  /** Turns with something to report. */
  readonly #ready = new Set<LeasedTurn>();
  /** Turns with a report in flight. */
  readonly #inFlight = new Set<LeasedTurn>();
  readonly #stopping = new AbortController();
  #isScheduled = false;
  /** The previous batch is unanswered and younger than one interval. */
  #isWaiting = false;
  #isFailing = false;
  #cancelTick: (() => void) | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Reports what is due, every interval until there are no turns. */
  start(): void {
    if (!this.#cancelTick) this.#scheduleTick();
  }

  /** Reports the pending events and outcome of a turn immediately, in a batch with other turns that are ready. */
  reportNow(turn: LeasedTurn): void {
    this.#ready.add(turn);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  /**
   * Reports the pending events of a turn immediately and waits until they are journaled. Resolves with whether this
   * runner still has the lease; with false, it must not act for the turn any more.
   */
  async commit(turn: LeasedTurn): Promise<boolean> {
    this.reportNow(turn);
    if (!(await turn.outbox.whenJournaled())) return false;
    this.#loseIfExpired(turn);
    return this.#options.turns.has(turn);
  }

  /** The session of the turn has a follower, according to a hint. It gets what the turn has collected immediately. */
  noteFollower(turn: LeasedTurn): void {
    if (turn.outbox.noteFollower(this.#options.clock.now().getTime())) this.reportNow(turn);
  }

  /** Stops sending. Calls in flight are left to their deadline. */
  stop(): void {
    this.#stopping.abort();
    this.#cancelTick?.();
  }

  #scheduleTick(): void {
    const { clock, turns, intervalMs } = this.#options;
    if (!this.#stopping.signal.aborted && turns.size > 0)
      this.#cancelTick = clock.after(intervalMs, () => this.#tick());
  }

  #tick(): void {
    this.#cancelTick = undefined;
    this.#scheduleTick();
    const now = this.#options.clock.now().getTime();
    for (const turn of this.#options.turns) if (turn.outbox.due(now)) this.#ready.add(turn);
    this.#flush();
  }

  #flush(): void {
    if (this.#isWaiting || this.#stopping.signal.aborted) return;
    const batch = this.#gather();
    if (batch.length === 0) return;
    this.#isWaiting = true;
    let isNewest = true;
    const next = () => {
      if (!isNewest) return;
      isNewest = false;
      cancel();
      this.#isWaiting = false;
      this.#flush();
    };
    const cancel = this.#options.clock.after(this.#options.intervalMs, next);
    void this.#deliver(batch, next);
  }

  #gather(): SentReport[] {
    const now = this.#options.clock.now().getTime();
    const batch: SentReport[] = [];
    let freeBytes = BATCH_BYTES;
    for (const turn of this.#ready) {
      if (this.#inFlight.has(turn)) continue;
      const taken = turn.outbox.nextReport(now, freeBytes, batch.length === 0);
      if (taken) {
        batch.push({ turn, report: taken.report });
        this.#inFlight.add(turn);
        freeBytes -= taken.bytes;
      }
      if (!turn.outbox.hasPendingReport) this.#ready.delete(turn);
    }
    return batch;
  }

  /** Sends a batch until every report of it is acknowledged or dropped. Calls `onAnswer` after the first attempt. */
  async #deliver(batch: SentReport[], onAnswer: () => void): Promise<void> {
    const { clock, turns, log } = this.#options;
    const backoff = createBackoff(clock);
    for (let left = batch; ; ) {
      for (const { turn } of left) this.#loseIfExpired(turn);
      left = this.#filter(left, ({ turn }) => turns.has(turn));
      if (left.length === 0 || this.#stopping.signal.aborted) return onAnswer();
      try {
        const results = await this.#send(left);
        this.#isFailing = false;
        left = this.#filter(left, (sent, index) => !this.#isFinished(sent, results[index]));
      } catch (error) {
        if (!isRetryable(error)) {
          onAnswer();
          return this.#sendOneByOne(left, error);
        }
        if (!this.#isFailing)
          log.warn({ err: error, reports: left.length }, 'reporting turns failed; retrying');
        this.#isFailing = true;
      }
      onAnswer();
      if (left.length > 0) await backoff.pause(this.#stopping.signal);
    }
  }

  async #send(batch: SentReport[]): Promise<ReportResult[]> {
    const { sessions, clock, tracer, runnerId } = this.#options;
    const deadline = clock.now().getTime() + CALL_TIMEOUT_MS;
    const reports = batch.map(({ report }) => report);
    const traced = batch.filter(({ report }) => report.traceparent !== '').map(({ turn }) => turn.span.trace);
    const span = traced.length > 0 ? tracer.beginShared('report turns', traced) : undefined;
    try {
      const { results } = await sessions.reportTurns({ runnerId, reports }, { deadline, trace: span?.trace });
      span?.end();
      return results;
    } catch (error) {
      span?.end(error instanceof Refusal ? error.code : 'INTERNAL');
      throw error;
    }
  }

  /** Returns the reports that fulfil the condition. The turns of the other reports can report again. */
  #filter(batch: SentReport[], condition: (sent: SentReport, index: number) => boolean): SentReport[] {
    let isFreed = false;
    const selected = batch.filter((sent, index) => {
      if (condition(sent, index)) return true;
      this.#inFlight.delete(sent.turn);
      isFreed ||= this.#ready.has(sent.turn);
      return false;
    });
    if (isFreed) this.#flush();
    return selected;
  }

  /** Returns false for a report that must be sent again. Acknowledges journaled reports and drops refused ones. */
  #isFinished(sent: SentReport, result: ReportResult | undefined): boolean {
    const code = result?.errorCode ?? 'INTERNAL';
    if (code === '') {
      sent.turn.outbox.acknowledge(sent.report.events.length);
      if (sent.report.outcome) this.#options.turns.release(sent.turn);
      else sent.turn.outbox.noteAnswer(result?.followed === true);
      if (result?.steered) sent.turn.isSteered = true;
      return true;
    }
    if (isErrorCode(code) && ERRORS[code].retryable) return false;
    this.#drop(sent, code, result?.errorMessage);
    return true;
  }

  /** A runner that was suspended for longer than its leases must not report their turns. */
  #loseIfExpired(turn: LeasedTurn): void {
    const { clock, turns } = this.#options;
    if (turn.leaseUntil <= clock.now().getTime()) turns.lose(turn);
  }

  /** Separates an invalid report from the other reports of its batch. */
  async #sendOneByOne(batch: SentReport[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first) {
      this.#drop(first, error instanceof Refusal ? error.code : 'INTERNAL');
      this.#filter(batch, () => false);
      return;
    }
    await Promise.all(batch.map((sent) => this.#deliver([sent], () => {})));
  }

  /** The lease expires, and sessions decides how the turn continues. */
  #drop({ turn }: SentReport, code: string, reason?: string): void {
    if (code !== 'LEASE_LOST') {
      this.#options.log.error(
        { ...turn.logFields, code, reason },
        'reporting a turn failed; the turn is given up',
      );
    }
    this.#options.turns.lose(turn);
  }
}

function isRetryable(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  return ERRORS[error.code].retryable || error.code === 'CANCELLED';
}
