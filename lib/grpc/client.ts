import type { Clock } from '../clock.ts';
import { Refusal, refuse } from '../errors.ts';
import { type Span, silentTracer, type Tracer } from '../telemetry/tracer.ts';
import type { CallOptions, Client, Contract } from './contract.ts';
import { createServiceTokenIssuer } from './service-token.ts';
import { StreamRelay } from './stream-relay.ts';
import { type CallHeaders, spanOf, type Transport } from './transport.ts';

export interface ClientOptions<C extends Contract> {
  contract: C;
  transport: Transport;
  /** The name under which this process calls. */
  self: string;
  /** The shared service secret. */
  secret: string;
  clock: Clock;
  /** The timeout of a unary call in milliseconds. Request and response streams have no timeout. */
  timeoutMs?: number;
  /** Without a tracer, calls have no spans. */
  tracer?: Tracer;
}

const TIMEOUT_MS = 15_000;
/** The maximum timer value: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Each hop shortens the deadline by this, so that the caller receives the failure before its own deadline. */
const HOP_MS = 25;

/** Creates a client of a service. Each call carries its caller, its trace and a deadline that shrinks with each hop. */
export function createClient<C extends Contract>(options: ClientOptions<C>): Client<C> {
  const { contract, transport, clock, tracer = silentTracer } = options;
  const issue = createServiceTokenIssuer(options.self, options.secret, clock);
  const limit = options.timeoutMs ?? TIMEOUT_MS;
  const spans = new Map(Object.keys(contract.methods).map((name) => [name, spanOf(contract, name)]));

  function headers(call: CallOptions, span: Span | undefined, timeoutMs: number | undefined): CallHeaders {
    const { trace, requestId } = call;
    return { serviceToken: issue(call.caller), trace: span?.trace ?? trace, requestId, timeoutMs };
  }

  /** A call without a trace has no span. */
  function startSpan(method: string, { trace: parent }: CallOptions): Span | undefined {
    const known = spans.get(method);
    if (!parent || !known || tracer.silent) return undefined;
    return tracer.begin(known.name, { kind: 'client', parent, attributes: known.attributes });
  }

  async function unary(method: string, request: unknown, call: CallOptions = {}): Promise<unknown> {
    const timeoutMs = Math.min(
      contract.methods[method]?.requestStream ? MAX_TIMER_MS : (call.timeoutMs ?? limit),
      (call.deadline ?? Number.POSITIVE_INFINITY) - HOP_MS - clock.now().getTime(),
    );
    if (timeoutMs <= 0) throw deadlineExceeded(contract.name, method);
    const controller = new AbortController();
    let timedOut = false;
    const cancelTimer = clock.after(timeoutMs, () => {
      timedOut = true;
      controller.abort();
    });
    const abort = () => controller.abort();
    if (call.signal?.aborted) abort();
    call.signal?.addEventListener('abort', abort, { once: true });
    const span = startSpan(method, call);
    try {
      const answer = await transport.unary(
        method,
        request,
        headers(call, span, timeoutMs),
        controller.signal,
      );
      span?.end();
      return answer;
    } catch (error) {
      const failure = timedOut ? deadlineExceeded(contract.name, method) : error;
      span?.end(codeOf(failure));
      throw failure;
    } finally {
      cancelTimer();
      call.signal?.removeEventListener('abort', abort);
    }
  }

  function stream(method: string, request: unknown, call: CallOptions = {}): AsyncIterable<unknown> {
    const signal = call.signal ?? new AbortController().signal;
    const span = startSpan(method, call);
    const messages = transport.stream(method, request, headers(call, span, undefined), signal);
    return span ? new TracedStream(() => messages, span) : messages;
  }

  const methods = Object.entries(contract.methods).map(([name, method]) => [
    name,
    (request: unknown, call?: CallOptions) => (method.responseStream ? stream : unary)(name, request, call),
  ]);
  return Object.fromEntries(methods) as Client<C>;
}

/** Ends the span when the stream ends, fails or is abandoned. */
class TracedStream extends StreamRelay {
  readonly #span: Span;

  constructor(open: () => AsyncIterable<unknown>, span: Span) {
    super(open);
    this.#span = span;
  }

  protected override onEnd(): void {
    this.#span.end();
  }

  protected override onReturn(): void {
    this.#span.end('CANCELLED');
  }

  protected mapError(error: unknown): unknown {
    this.#span.end(codeOf(error));
    return error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Refusal ? error.code : 'INTERNAL';
}

function deadlineExceeded(service: string, method: string) {
  return refuse('DEADLINE_EXCEEDED', `${service}.${method} did not respond in time.`);
}
