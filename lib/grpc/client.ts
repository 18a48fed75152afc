import type { Clock } from '../clock.ts';
import { Refusal, refuse } from '../errors.ts';
import { type Span, silentTracer, type Tracer } from '../telemetry/tracer.ts';
import type { CallOptions, Client, Contract } from './contract.ts';
import { createIssuer } from './passport.ts';
import { Relay } from './relay.ts';
import { type Headers, spanOf, type Transport } from './transport.ts';

export interface ClientOptions<C extends Contract> {
  contract: C;
  transport: Transport;
  /** The name under which this process calls. */
  self: string;
  /** The shared service secret. */
  secret: string;
  clock: Clock;
  /** The longest an answer may take, in milliseconds. Streams, either way, have no limit of their own. */
  timeoutMs?: number;
  /** Without one, calls have no spans. */
  tracer?: Tracer;
}

const TIMEOUT_MS = 15_000;
/** The longest time a timer can be set to: about 24 days. */
const LONGEST_MS = 2 ** 31 - 1;
/** What a caller keeps of its own deadline, so that it hears of the failure instead of failing itself. */
const HOP_MS = 25;

/** A client of a service. Each call names its caller, carries its trace and has a deadline that shrinks per hop. */
export function createClient<C extends Contract>(options: ClientOptions<C>): Client<C> {
  const { contract, transport, clock, tracer = silentTracer } = options;
  const issue = createIssuer(options.self, options.secret, clock);
  const limit = options.timeoutMs ?? TIMEOUT_MS;
  const spans = new Map(Object.keys(contract.methods).map((name) => [name, spanOf(contract, name)]));

  function headers(call: CallOptions, span: Span | undefined, timeoutMs: number | undefined): Headers {
    const { trace, requestId } = call;
    return { passport: issue(call.caller), trace: span?.trace ?? trace, requestId, timeoutMs };
  }

  /** What belongs to no trace has no span either. */
  function begin(method: string, { trace: parent }: CallOptions): Span | undefined {
    const known = spans.get(method);
    if (!parent || !known || tracer.silent) return undefined;
    return tracer.begin(known.name, { kind: 'client', parent, attributes: known.attributes });
  }

  async function unary(method: string, request: unknown, call: CallOptions = {}): Promise<unknown> {
    const timeoutMs = Math.min(
      contract.methods[method]?.requestStream ? LONGEST_MS : limit,
      (call.deadline ?? Number.POSITIVE_INFINITY) - HOP_MS - clock.now().getTime(),
    );
    if (timeoutMs <= 0) throw tooLate(contract.name, method);
    const controller = new AbortController();
    let late = false;
    const cancelTimer = clock.after(timeoutMs, () => {
      late = true;
      controller.abort();
    });
    const leave = () => controller.abort();
    if (call.signal?.aborted) leave();
    call.signal?.addEventListener('abort', leave, { once: true });
    const span = begin(method, call);
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
      const failure = late ? tooLate(contract.name, method) : error;
      span?.end(codeOf(failure));
      throw failure;
    } finally {
      cancelTimer();
      call.signal?.removeEventListener('abort', leave);
    }
  }

  function stream(method: string, request: unknown, call: CallOptions = {}): AsyncIterable<unknown> {
    const signal = call.signal ?? new AbortController().signal;
    const span = begin(method, call);
    const messages = transport.stream(method, request, headers(call, span, undefined), signal);
    return span ? new Spanned(() => messages, span) : messages;
  }

  const methods = Object.entries(contract.methods).map(([name, method]) => [
    name,
    (request: unknown, call?: CallOptions) => (method.responseStream ? stream : unary)(name, request, call),
  ]);
  return Object.fromEntries(methods) as Client<C>;
}

/** The span ends with the stream, whoever ends it. */
class Spanned extends Relay {
  readonly #span: Span;

  constructor(open: () => AsyncIterable<unknown>, span: Span) {
    super(open);
    this.#span = span;
  }

  protected override ended(): void {
    this.#span.end();
  }

  protected override left(): void {
    this.#span.end('CANCELLED');
  }

  protected failed(error: unknown): unknown {
    this.#span.end(codeOf(error));
    return error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Refusal ? error.code : 'INTERNAL';
}

function tooLate(service: string, method: string) {
  return refuse('DEADLINE_EXCEEDED', `${service}.${method} did not answer in time`);
}
