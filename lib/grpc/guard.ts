import type { Clock } from '../clock.ts';
import { Refusal, refuse } from '../errors.ts';
import { childSpan, parseTraceparent, startTrace } from '../trace.ts';
import type { Call, Contract, Handlers, Peers } from './contract.ts';
import { createInspector } from './passport.ts';
import { unexpected } from './trailer.ts';
import type { Endpoint, Headers, Observation } from './transport.ts';

export interface GuardOptions<C extends Contract> {
  contract: C;
  handlers: Handlers<C>;
  /** Which service may call what. */
  peers: Peers<C>;
  /** The shared service secret. */
  secret: string;
  clock: Clock;
  observe: (observation: Observation) => void;
}

type AnyHandler = (request: unknown, call: Call) => unknown;

/**
 * Stands before a service's handlers, the same over both transports: who calls, may it, how did it
 * end. What leaves it is a `Refusal` or an answer, never another kind of error.
 */
export function guard<C extends Contract>(options: GuardOptions<C>): Endpoint {
  const { contract, clock } = options;
  const inspect = createInspector(options.secret, clock);
  const handlers = new Map<string, AnyHandler>(Object.entries(options.handlers) as [string, AnyHandler][]);
  const peers = new Map<string, readonly string[]>(Object.entries(options.peers));

  function admit(method: string, headers: Headers, signal: AbortSignal): { handler: AnyHandler; call: Call } {
    const { peer, caller } = inspect(headers.passport);
    const handler = handlers.get(method);
    if (!handler || !peers.get(method)?.includes(peer)) {
      throw refuse('FORBIDDEN', `${peer} may not call ${contract.name}.${method}`);
    }
    const parent = parseTraceparent(headers.traceparent);
    const deadline =
      headers.timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now().getTime() + headers.timeoutMs;
    return {
      handler,
      call: { peer, caller, signal, deadline, trace: parent ? childSpan(parent) : startTrace() },
    };
  }

  /** One call from admission to its end. */
  function watch(method: string) {
    const startedAt = performance.now();
    let call: Call | undefined;
    return {
      admit(headers: Headers, signal: AbortSignal) {
        const admitted = admit(method, headers, signal);
        call = admitted.call;
        return admitted;
      },
      finish(code: string, cause?: unknown) {
        options.observe({
          service: contract.name,
          method,
          peer: call?.peer ?? 'unknown',
          caller: call?.caller,
          code,
          durationMs: performance.now() - startedAt,
          traceId: call?.trace.traceId ?? '',
          cause,
        });
      },
      fail(error: unknown, signal: AbortSignal): Refusal {
        const refusal = asRefusal(error, signal);
        this.finish(refusal.code, refusal.cause);
        return refusal;
      },
    };
  }

  return {
    contract,
    async unary(method, request, headers, signal) {
      const watched = watch(method);
      try {
        const { handler, call } = watched.admit(headers, signal);
        const response = await handler(request, call);
        watched.finish('OK');
        return response;
      } catch (error) {
        throw watched.fail(error, signal);
      }
    },
    async *stream(method, request, headers, signal) {
      const watched = watch(method);
      let ended = false;
      try {
        const { handler, call } = watched.admit(headers, signal);
        yield* handler(request, call) as AsyncIterable<unknown>;
        ended = true;
        watched.finish('OK');
      } catch (error) {
        ended = true;
        throw watched.fail(error, signal);
      } finally {
        if (!ended) watched.finish('CANCELLED');
      }
    },
  };
}

function asRefusal(error: unknown, signal: AbortSignal): Refusal {
  if (error instanceof Refusal) return error;
  if (signal.aborted) return refuse('CANCELLED', 'the caller left before the answer');
  return unexpected(error);
}
