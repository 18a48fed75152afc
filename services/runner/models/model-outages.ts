import type { Clock } from '../../../lib/clock.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { ModelFailure } from './failure.ts';

/** The failure with which the retries of a model have ended. */
export type OutageReason = Pick<ModelFailure, 'code' | 'message'>;

interface Outage {
  reason: OutageReason;
  /** The time in milliseconds at which one turn tries the model again. */
  probeAt: number;
}

const MAX_MODELS = 1_000;
const MAX_TURNS = 10_000;
/** How long turns avoid a model, and the interval of probes afterwards. */
const PROBE_MS = 60_000;
/** Failures that say something about the provider. A timeout or a cut answer can depend on the request. */
const OUTAGES: ReadonlySet<string> = new Set(['model_overloaded', 'model_rate_limited', 'model_unreachable']);

/**
 * The models whose retries have recently ended with an overload or an outage, as this runner has seen it. Turns with further
 * models avoid them. After a minute one turn per minute tries the model, until it answers.
 */
export class ModelOutages {
  readonly #outages = new LruCache<string, Outage>(MAX_MODELS);
  readonly #turns = new LruCache<string, string>(MAX_TURNS);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes a failure that ended the retries of a model. The rate limit of an agent's own key says nothing to other agents. */
  exhausted(model: string, { code, message }: OutageReason, hasAgentKey: boolean): void {
    if (!OUTAGES.has(code) || (hasAgentKey && code === 'model_rate_limited')) return;
    this.#outages.set(model, { reason: { code, message }, probeAt: this.#now() + PROBE_MS });
  }

  answered(model: string): void {
    this.#outages.delete(model);
  }

  /** Returns why a turn avoids the model. Undefined for a model that it tries; the next turns wait for its answer. */
  avoid(model: string): OutageReason | undefined {
    const outage = this.#outages.get(model);
    if (!outage) return undefined;
    const now = this.#now();
    if (now < outage.probeAt) return outage.reason;
    outage.probeAt = now + PROBE_MS;
    return undefined;
  }

  /** The model with which this runner has begun a turn. */
  begunWith(turnId: string): string | undefined {
    return this.#turns.get(turnId);
  }

  begin(turnId: string, model: string): void {
    this.#turns.set(turnId, model);
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
