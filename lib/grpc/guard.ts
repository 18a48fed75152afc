import type { Clock } from '../clock.ts';
import { Refusal, refuse } from '../errors.ts';
import { type Attributes, type Span, silentTracer, type Tracer } from '../telemetry/tracer.ts';
import { startTrace, type Trace } from '../trace.ts';
import type { Call, Caller, Contract, Handlers, Peers } from './contract.ts';
import { createInspector } from './passport.ts';
import { type Opened, Relay } from './relay.ts';
import { unexpected } from './trailer.ts';
import { type Endpoint, type Headers, type Observation, spanOf } from './transport.ts';

export interface GuardOptions<C extends Contract> {
  contract: C;
  handlers: Handlers<C>;
  /** Which service may call what. */
  peers: Peers<C>;
  /** The shared service secret. */
  secret: string;
  clock: Clock;
  observe: (observation: Observation) => void;
  /** Without one, calls have no spans. */
  tracer?: Tracer;
}

type AnyHandler = (request: unknown, call: Call) => unknown;

/** What is known of a method before it is called. */
interface Guarded {
  method: string;
  handler: AnyHandler | undefined;
  peers: readonly string[];
  span: { name: string; attributes: Attributes };
}

/**
 * Stands before a service's handlers, the same over both transports: who calls, may it, how did it
 * end. What leaves it is a `Refusal` or an answer, never another kind of error.
 */
export function guard<C extends Contract>(options: GuardOptions<C>): Endpoint {
  const { contract, clock, observe, tracer = silentTracer } = options;
  const inspect = createInspector(options.secret, clock);
  const handlers = new Map<string, AnyHandler>(Object.entries(options.handlers) as [string, AnyHandler][]);
  const peers: Readonly<Record<string, readonly string[]>> = options.peers;
  const methods = new Map(
    Object.keys(contract.methods).map((method): [string, Guarded] => [
      method,
      { method, handler: handlers.get(method), peers: peers[method] ?? [], span: spanOf(contract, method) },
    ]),
  );

  /** One call from its arrival to its end. */
  class Visit {
    readonly #startedAt = performance.now();
    readonly #guarded: Guarded;
    readonly #request: unknown;
    readonly #requestId: string | undefined;
    readonly #trace: Trace;
    readonly #span: Span | undefined;
    #peer: string | undefined;
    #caller: Caller | undefined;

    constructor(method: string, request: unknown, headers: Headers) {
      this.#guarded = methods.get(method) ?? unknownMethod(contract, method);
      this.#request = request;
      const { trace, requestId } = headers;
      this.#requestId = requestId;
      // What belongs to no trace is given an id, by which its log lines are found, but no span.
      this.#span = trace && this.#begin(trace);
      this.#trace = this.#span?.trace ?? startTrace();
    }

    #begin(parent: Trace): Span {
      const { name, attributes } = this.#guarded.span;
      return tracer.begin(name, { kind: 'server', parent, attributes });
    }

    /** Hands the call to its handler, if the caller may make it. */
    admit({ passport, timeoutMs, requestId }: Headers, signal: AbortSignal): unknown {
      const { peer, caller } = inspect(passport);
      const { method, handler, peers: allowed } = this.#guarded;
      if (!handler || !allowed.includes(peer))
        throw refuse('FORBIDDEN', `${peer} may not call ${contract.name}.${method}`);
      const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now().getTime() + timeoutMs;
      this.#peer = peer;
      this.#caller = caller;
      return handler(this.#request, { peer, caller, signal, deadline, trace: this.#trace, requestId });
    }

    finish(code: string, cause?: unknown): void {
      this.#span?.end(code === 'OK' ? undefined : code);
      observe({
        service: contract.name,
        method: this.#guarded.method,
        request: this.#request,
        peer: this.#peer ?? 'unknown',
        caller: this.#caller,
        code,
        durationMs: performance.now() - this.#startedAt,
        traceId: this.#trace.traceId,
        requestId: this.#requestId,
        cause,
      });
    }

    fail(error: unknown, signal: AbortSignal): Refusal {
      const refusal = asRefusal(error, signal);
      this.finish(refusal.code, refusal.cause);
      return refusal;
    }
  }

  /** What a call is answered with, message by message. */
  class Watched extends Relay {
    readonly #visit: Visit;
    readonly #signal: AbortSignal;

    constructor(open: () => Opened, visit: Visit, signal: AbortSignal) {
      super(open);
      this.#visit = visit;
      this.#signal = signal;
    }

    protected override ended(): void {
      this.#visit.finish('OK');
    }

    protected override left(): void {
      this.#visit.finish('CANCELLED');
    }

    protected failed(error: unknown): unknown {
      return this.#visit.fail(error, this.#signal);
    }
  }

  return {
    contract,
    async unary(method, request, headers, signal) {
      const visit = new Visit(method, request, headers);
      try {
        const response = await visit.admit(headers, signal);
        visit.finish('OK');
        return response;
      } catch (error) {
        throw visit.fail(error, signal);
      }
    },
    stream(method, request, headers, signal) {
      const visit = new Visit(method, request, headers);
      return new Watched(() => visit.admit(headers, signal) as Opened, visit, signal);
    },
  };
}

/** A caller of a newer release may know methods that are not here. */
function unknownMethod(contract: Contract, method: string): Guarded {
  return { method, handler: undefined, peers: [], span: spanOf(contract, method) };
}

function asRefusal(error: unknown, signal: AbortSignal): Refusal {
  if (error instanceof Refusal) return error;
  if (signal.aborted) return refuse('CANCELLED', 'the caller left before the answer');
  return unexpected(error);
}
