import { seeded } from '../../chaos/random.ts';

/** The shares of requests and deliveries that fail, each from 0 to 1. Default of each: 0. */
export interface FaultRates {
  /** Requests that the product refuses because of a rate limit. They have no effect. */
  rate429?: number;
  /** Requests that fail with status 500, 502 or 503. They have no effect. */
  rate5xx?: number;
  /** Requests that take effect and whose connection then ends without a response. */
  appliedThenCut?: number;
  /** Deliveries that arrive twice. */
  duplicate?: number;
  /** Deliveries that arrive after the next one of the same key. */
  reorder?: number;
}

export type RequestFault =
  | { kind: 'rate_limited'; retryAfterSeconds: number }
  | { kind: 'server_error'; status: 500 | 502 | 503 }
  | { kind: 'applied_then_cut' };

export interface DeliveryFault {
  copies: 1 | 2;
  /** The delivery waits for the next one of its key, or until the product's own limit. */
  isHeld: boolean;
}

/** Decides which requests and deliveries of a protocol server fail. */
export interface FaultPlan {
  /**
   * Returns the fault of the next request of a method, or undefined for none. Each method has a random sequence of its
   * own, so that the order of requests of different methods does not change the faults.
   */
  forRequest(method: string): RequestFault | undefined;
  /** Returns the faults of the next delivery of a key, such as a conversation. */
  forDelivery(key: string): DeliveryFault;
  /** Makes the next requests of a method fail in this order, before the random faults. */
  enqueue(method: string, ...faults: (RequestFault | undefined)[]): void;
  /** Ends the random faults, so that a test can wait for the final state. Enqueued faults remain. */
  stop(): void;
  /** The faults of requests so far, in order. */
  readonly injected: readonly { method: string; fault: RequestFault }[];
}

const SERVER_ERRORS = [500, 502, 503] as const;
const NO_DELIVERY_FAULT: DeliveryFault = { copies: 1, isHeld: false };

/** Creates a plan whose decisions are reproducible from the seed. */
export function createFaultPlan(seed: number, rates: FaultRates = {}): FaultPlan {
  const { rate429 = 0, rate5xx = 0, appliedThenCut = 0, duplicate = 0, reorder = 0 } = rates;
  const sequences = new Map<string, () => number>();
  const enqueued = new Map<string, (RequestFault | undefined)[]>();
  const injected: { method: string; fault: RequestFault }[] = [];
  let isStopped = false;

  function sequence(name: string): () => number {
    const known = sequences.get(name) ?? seeded(seed ^ hash(name));
    sequences.set(name, known);
    return known;
  }

  function draw(method: string): RequestFault | undefined {
    const random = sequence(`request ${method}`);
    // Both numbers are always drawn, so that one rate does not change the faults of another.
    const [which, detail] = [random(), random()];
    if (isStopped) return undefined;
    if (which < rate429) return { kind: 'rate_limited', retryAfterSeconds: 1 };
    if (which < rate429 + rate5xx) {
      return { kind: 'server_error', status: SERVER_ERRORS[Math.floor(detail * 3)] ?? 500 };
    }
    return which < rate429 + rate5xx + appliedThenCut ? { kind: 'applied_then_cut' } : undefined;
  }

  return {
    injected,
    forRequest(method) {
      const waiting = enqueued.get(method);
      const fault = waiting?.length ? waiting.shift() : draw(method);
      if (fault) injected.push({ method, fault });
      return fault;
    },
    forDelivery(key) {
      const random = sequence(`delivery ${key}`);
      const [copies, order] = [random(), random()];
      if (isStopped) return NO_DELIVERY_FAULT;
      return { copies: copies < duplicate ? 2 : 1, isHeld: order < reorder };
    },
    enqueue(method, ...faults) {
      enqueued.set(method, [...(enqueued.get(method) ?? []), ...faults]);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** FNV-1a with 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}
