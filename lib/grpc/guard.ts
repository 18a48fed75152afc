import type { Clock } from '../clock.ts';
import { Refusal, refuse } from '../errors.ts';
import type { ServiceContext } from '../service.ts';
import { type Attributes, type Span, silentTracer, type Tracer } from '../telemetry/tracer.ts';
import { startTrace, type Trace } from '../trace.ts';
import { applyCallerRules } from './caller-rules.ts';
import type { Call, Caller, Contract, Handlers, Peers } from './contract.ts';
import { createServiceTokenVerifier } from './service-token.ts';
import { StreamRelay, type StreamSource } from './stream-relay.ts';
import { internalError } from './trailer.ts';
import { type CallHeaders, type Endpoint, type Observation, spanOf } from './transport.ts';

interface GuardOptions<C extends Contract> {
  contract: C;
  handlers: Handlers<C>;
  /** The services that may call each method. */
  peers: Peers<C>;
  /** The shared service secret. */
  secret: string;
  clock: Clock;
  observe: (observation: Observation) => void;
  /** Without a tracer, calls have no spans. */
  tracer?: Tracer;
}

/**
 * Guards the handlers of a service with the secret, the clock and the telemetry of its process. `peers` are the default
 * callers, which the configuration of the process can change.
 */
export function guardService<C extends Contract>(
  { serviceSecret, callerRules = [], clock, observe, tracer }: ServiceContext,
  served: Pick<GuardOptions<C>, 'contract' | 'handlers' | 'peers'>,
): Endpoint {
  const peers = applyCallerRules(served.contract, served.peers, callerRules);
  return guard({ ...served, peers, secret: serviceSecret, clock, observe, tracer });
}

type AnyHandler = (request: unknown, call: Call) => unknown;

/** The precomputed facts of a method. */
interface GuardedMethod {
  method: string;
  handler: AnyHandler | undefined;
  peers: readonly string[];
  span: { name: string; attributes: Attributes };
}

/**
 * Wraps the handlers of a service for both transports: authenticates the calling service, authorizes the call and
 * reports its outcome. A call ends with a response or a `Refusal`, never with another kind of error.
 */
export function guard<C extends Contract>(options: GuardOptions<C>): Endpoint {
  const { contract, clock, observe, tracer = silentTracer } = options;
  const verify = createServiceTokenVerifier(options.secret, clock);
  const handlers = new Map<string, AnyHandler>(Object.entries(options.handlers) as [string, AnyHandler][]);
  const peers: Readonly<Record<string, readonly string[]>> = options.peers;
  const methods = new Map(
    Object.keys(contract.methods).map((method): [string, GuardedMethod] => [
      method,
      { method, handler: handlers.get(method), peers: peers[method] ?? [], span: spanOf(contract, method) },
    ]),
  );

  /** One RPC from its arrival to its end. */
  class RpcInvocation {
    readonly #startedAt = performance.now();
    readonly #guarded: GuardedMethod;
    readonly #request: unknown;
    readonly #requestId: string | undefined;
    readonly #trace: Trace;
    readonly #span: Span | undefined;
    #peer: string | undefined;
    #caller: Caller | undefined;

    constructor(method: string, request: unknown, headers: CallHeaders) {
      this.#guarded = methods.get(method) ?? unknownMethod(contract, method);
      this.#request = request;
      const { trace, requestId } = headers;
      this.#requestId = requestId;
      // A call without a trace gets a trace id for its log lines, but no span.
      this.#span = trace && !tracer.silent ? this.#startSpan(trace) : undefined;
      this.#trace = this.#span?.trace ?? trace ?? startTrace();
    }

    #startSpan(parent: Trace): Span {
      const { name, attributes } = this.#guarded.span;
      return tracer.begin(name, { kind: 'server', parent, attributes });
    }

    /** Authorizes the call and passes it to its handler. */
    dispatch({ serviceToken, timeoutMs, requestId }: CallHeaders, signal: AbortSignal): unknown {
      const { peer, caller } = verify(serviceToken);
      const { method, handler, peers: allowed } = this.#guarded;
      if (!handler || !allowed.includes(peer))
        throw refuse('FORBIDDEN', `The service ${peer} may not call ${contract.name}.${method}.`);
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
        spanId: this.#trace.spanId,
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

  /** The response stream of a call, which reports its end. */
  class ObservedStream extends StreamRelay {
    readonly #invocation: RpcInvocation;
    readonly #signal: AbortSignal;

    constructor(open: () => StreamSource, invocation: RpcInvocation, signal: AbortSignal) {
      super(open);
      this.#invocation = invocation;
      this.#signal = signal;
    }

    protected override onEnd(): void {
      this.#invocation.finish('OK');
    }

    protected override onReturn(): void {
      this.#invocation.finish('CANCELLED');
    }

    protected mapError(error: unknown): unknown {
      return this.#invocation.fail(error, this.#signal);
    }
  }

  return {
    contract,
    async unary(method, request, headers, signal) {
      const invocation = new RpcInvocation(method, request, headers);
      try {
        const response = await invocation.dispatch(headers, signal);
        invocation.finish('OK');
        return response;
      } catch (error) {
        throw invocation.fail(error, signal);
      }
    },
    stream(method, request, headers, signal) {
      const invocation = new RpcInvocation(method, request, headers);
      return new ObservedStream(
        () => invocation.dispatch(headers, signal) as StreamSource,
        invocation,
        signal,
      );
    },
  };
}

/** A caller of a newer release can know methods that this release lacks. */
function unknownMethod(contract: Contract, method: string): GuardedMethod {
  return { method, handler: undefined, peers: [], span: spanOf(contract, method) };
}

function asRefusal(error: unknown, signal: AbortSignal): Refusal {
  if (error instanceof Refusal) return error;
  if (signal.aborted) return refuse('CANCELLED', 'The caller disconnected before the response.');
  return internalError(error);
}
