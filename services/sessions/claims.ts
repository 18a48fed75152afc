import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import type { Trace } from '../../lib/trace.ts';
import { PickLimit } from './pick-limit.ts';
import type { ApprovalWithState } from './store/approvals.ts';
import type { EventStore } from './store/events.ts';
import type { ClaimedTurnState, TurnClaim, TurnQueue } from './store/turn-queue.ts';

/** Interval of picks without a hint, while claims wait: a hint can get lost. */
const SAFETY_PICK_MS = 500;
/** Delay of the pick after one that met a pick of another instance or a locked session. Both take a few milliseconds. */
const CONTENDED_PICK_MS = 10;
/** A waiting claim is answered this long before the deadline of its call. */
const DEADLINE_MARGIN_MS = 500;
/** Limits of the messages that one pick reads. The runner reads the others itself. */
const PICK_BYTES = 4 * 1024 * 1024;
const PICK_BYTES_PER_SESSION = 256 * 1024;
const PICK_ROWS_PER_SESSION = 200;

type Messages = Awaited<ReturnType<EventStore['messagesOf']>>;

interface ClaimRequest {
  runnerId: string;
  /** 0 ends the waiting claim of the runner. */
  slots: number;
  /** 0 for one attempt. */
  waitMs: number;
}

interface ClaimAnswer {
  claimed: ClaimedTurnState[];
  /** The approvals of the open calls of these turns, by id. */
  approvals: ReadonlyMap<string, ApprovalWithState>;
  /** Undefined when they could not be read. */
  messages: Messages | undefined;
  /** Milliseconds from the arrival of the claim to the begin of the leases or to the answer without turns. */
  waitedMs: number;
}

interface ClaimsContext {
  turnQueue: Pick<TurnQueue, 'claim'>;
  messagesOf: EventStore['messagesOf'];
  /** Queues the turns of a runner that has left, so that another runner can claim them at once. */
  handBack(turns: readonly ClaimedTurnState[]): Promise<void>;
  bus: Bus;
  clock: Clock;
  /** Called when handing back has failed; the leases of the turns expire. */
  warn(error: unknown): void;
}

/** The call of a runner, until it is answered. */
interface WaitingClaim extends ClaimRequest {
  arrivedAt: number;
  trace: Trace;
  /** Turns that the pick under way starts for this runner. While there are any, only the pick answers the claim. */
  assigned: number;
  /** The caller has left: the call was cancelled. */
  hasLeft: boolean;
  resolve(answer: ClaimAnswer): void;
  reject(error: unknown): void;
}

/**
 * The waiting claims of runners. One pick at a time starts turns for all of them. A pick follows a hint, a claim while turns
 * may be ready, and every SAFETY_PICK_MS.
 */
export class Claims {
  readonly #context: ClaimsContext;
  /** In the order of arrival. */
  readonly #waiting = new Set<WaitingClaim>();
  readonly #limit = new PickLimit();
  readonly #unsubscribe: () => void;
  /** Turns may be ready that no pick has looked for. */
  #mayBeReady = true;
  #picking: Promise<void> | undefined;
  #isDraining = false;
  #cancelDelayed: (() => void) | undefined;
  #cancelSafety = () => {};

  constructor(context: ClaimsContext) {
    this.#context = context;
    this.#unsubscribe = context.bus.subscribe('turns.ready', () => this.#turnsMayBeReady());
    this.#scheduleSafetyPick();
  }

  /** Resolves as soon as turns were started for the runner, and without turns when the time to wait has passed. */
  claim(request: ClaimRequest, { signal, trace, deadline }: ClaimOptions): Promise<ClaimAnswer> {
    this.#endWaiting(request.runnerId);
    if (this.#isDraining || request.slots === 0) return Promise.resolve(answerWithoutTurns(0));
    if (signal.aborted) return Promise.reject(callerHasLeft());
    const { clock } = this.#context;
    const arrivedAt = clock.now().getTime();
    const { promise, resolve, reject } = Promise.withResolvers<ClaimAnswer>();
    const waitMs = Math.max(0, Math.min(request.waitMs, deadline - arrivedAt - DEADLINE_MARGIN_MS));
    const claim = { ...request, waitMs, arrivedAt, trace, assigned: 0, hasLeft: false, resolve, reject };
    this.#waiting.add(claim);
    const cancelTimeout = waitMs > 0 ? clock.after(waitMs, () => this.#end(claim)) : () => {};
    const leave = () => this.#leave(claim);
    signal.addEventListener('abort', leave, { once: true });
    this.#wake();
    return promise.finally(() => {
      cancelTimeout();
      signal.removeEventListener('abort', leave);
    });
  }

  /** Answers all waiting claims, and later ones at once. Resolves when the pick under way has ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#unsubscribe();
    this.#cancelSafety();
    this.#cancelDelayed?.();
    for (const claim of this.#waiting) this.#end(claim);
    await this.#picking;
  }

  /** A runner waits in one call at a time: an older one belongs to a connection that the runner has given up. */
  #endWaiting(runnerId: string): void {
    for (const claim of this.#waiting) if (claim.runnerId === runnerId && claim.waitMs > 0) this.#end(claim);
  }

  #end(claim: WaitingClaim): void {
    if (claim.assigned > 0 || !this.#waiting.delete(claim)) return;
    claim.resolve(answerWithoutTurns(this.#context.clock.now().getTime() - claim.arrivedAt));
  }

  #leave(claim: WaitingClaim): void {
    claim.hasLeft = true;
    if (claim.assigned > 0 || !this.#waiting.delete(claim)) return;
    claim.reject(callerHasLeft());
  }

  /**
   * Ends a claim that got no turns if its attempt is over, its time has passed or its caller has left. While it had turns, in a
   * transaction that was then repeated, it could not end.
   */
  #endIfDue(claim: WaitingClaim): void {
    claim.assigned = 0;
    const now = this.#context.clock.now().getTime();
    if (claim.hasLeft) this.#leave(claim);
    else if (now >= claim.arrivedAt + claim.waitMs) this.#end(claim);
  }

  #turnsMayBeReady(): void {
    this.#mayBeReady = true;
    this.#wake();
  }

  #scheduleSafetyPick(): void {
    this.#cancelSafety = this.#context.clock.after(SAFETY_PICK_MS, () => {
      this.#scheduleSafetyPick();
      this.#turnsMayBeReady();
    });
  }

  #wake(): void {
    if (this.#picking || this.#waiting.size === 0) return;
    if (this.#hasAttempts()) this.#start();
    else if (this.#mayBeReady) this.#startAfter(this.#limit.delay(this.#context.clock.now().getTime()));
  }

  /** Whether a claim waits for one attempt, which no pause delays. */
  #hasAttempts(): boolean {
    return this.#waiting.values().some(({ waitMs }) => waitMs === 0);
  }

  #startAfter(ms: number): void {
    if (ms === 0) this.#start();
    else
      this.#cancelDelayed ??= this.#context.clock.after(ms, () => {
        this.#cancelDelayed = undefined;
        this.#wake();
      });
  }

  #start(): void {
    // One pick covers all claims and hints of this turn of the event loop.
    this.#picking = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#pick())
      .then((pauseMs) => {
        this.#picking = undefined;
        if (this.#isDraining) for (const claim of this.#waiting) this.#end(claim);
        else if (pauseMs > 0 && !this.#hasAttempts()) this.#startAfter(pauseMs);
        else this.#wake();
      });
  }

  /** Starts turns for the waiting claims and answers them. Returns the milliseconds before the next pick. */
  async #pick(): Promise<number> {
    const members = [...this.#waiting];
    if (members.length === 0) return 0;
    this.#mayBeReady = false;
    try {
      const { claimed, isCut, isContended, hasSkipped } = await this.#startTurns(members);
      if (isCut || isContended || hasSkipped) this.#mayBeReady = true;
      for (const claim of members) this.#endIfDue(claim);
      if (claimed.length > 0) return 0;
      if (isContended) return CONTENDED_PICK_MS;
      this.#limit.countEmptyPick(this.#context.clock.now().getTime());
      if (hasSkipped) return CONTENDED_PICK_MS;
    } catch (error) {
      this.#mayBeReady = true;
      for (const claim of members) if (this.#waiting.delete(claim)) claim.reject(error);
    }
    return 0;
  }

  async #startTurns(members: WaitingClaim[]) {
    const { turnQueue, messagesOf } = this.#context;
    let runners: WaitingClaim[] = [];
    const picked = await turnQueue.claim({
      traces: members.map(({ trace }) => trace),
      slots: members.reduce((sum, { slots }) => sum + slots, 0),
      assign: (count) => {
        runners = assign(members, count);
        // The turns that were meant for a runner that has left stay ready.
        if (runners.length < count) this.#mayBeReady = true;
        return runners.map(({ runnerId }) => runnerId);
      },
      prefetch: (sessionIds, trace) => {
        const bytesEach = Math.min(PICK_BYTES_PER_SESSION, Math.floor(PICK_BYTES / sessionIds.length));
        return messagesOf(sessionIds, bytesEach, PICK_ROWS_PER_SESSION, { trace });
      },
    });
    await this.#answer(runners, picked);
    return picked;
  }

  /** Answers the runners with their turns. The turns of those that have left are handed back. */
  async #answer(
    runners: readonly WaitingClaim[],
    { claimed, leasedAt, approvals, prefetched: messages }: TurnClaim<Messages>,
  ): Promise<void> {
    const turns = new Map<WaitingClaim, ClaimedTurnState[]>();
    for (const [index, claim] of runners.entries()) {
      const turn = claimed[index];
      if (turn) turns.set(claim, [...(turns.get(claim) ?? []), turn]);
    }
    for (const [claim, ofRunner] of turns) {
      this.#waiting.delete(claim);
      const waitedMs = leasedAt.getTime() - claim.arrivedAt;
      if (claim.hasLeft) claim.reject(callerHasLeft());
      else claim.resolve({ claimed: ofRunner, approvals, messages, waitedMs });
    }
    const left = [...turns].flatMap(([{ hasLeft }, ofRunner]) => (hasLeft ? ofRunner : []));
    if (left.length > 0) await this.#context.handBack(left).catch(this.#context.warn);
  }
}

/** Divides `count` turns among the claims: one for each in the order of arrival, then a second one, and so on. */
function assign(members: readonly WaitingClaim[], count: number): WaitingClaim[] {
  for (const claim of members) claim.assigned = 0;
  const open = members.filter(({ hasLeft }) => !hasLeft);
  const runners: WaitingClaim[] = [];
  while (runners.length < count) {
    const claim = open.shift();
    if (!claim) break;
    claim.assigned++;
    runners.push(claim);
    if (claim.assigned < claim.slots) open.push(claim);
  }
  return runners;
}

type ClaimOptions = Pick<Call, 'signal' | 'trace' | 'deadline'>;

function answerWithoutTurns(waitedMs: number): ClaimAnswer {
  return { claimed: [], approvals: new Map(), messages: undefined, waitedMs };
}

function callerHasLeft() {
  return refuse('CANCELLED', 'The caller disconnected before the response.');
}
