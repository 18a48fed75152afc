import type { Clock } from '../clock.ts';
import { refuse } from '../errors.ts';
import type { CallOptions, Client, Contract } from './contract.ts';
import { createIssuer } from './passport.ts';
import type { Headers, Transport } from './transport.ts';

export interface ClientOptions<C extends Contract> {
  contract: C;
  transport: Transport;
  /** The name under which this process calls. */
  self: string;
  /** The shared service secret. */
  secret: string;
  clock: Clock;
  /** The longest an answer may take, in milliseconds. Streams have no limit of their own. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
/** What a caller keeps of its own deadline, so that it hears of the failure instead of failing itself. */
const HOP_MS = 25;

/** A client of a service. Each call names its caller, carries its trace and has a deadline that shrinks per hop. */
export function createClient<C extends Contract>(options: ClientOptions<C>): Client<C> {
  const { contract, transport, clock } = options;
  const issue = createIssuer(options.self, options.secret, clock);
  const limit = options.timeoutMs ?? TIMEOUT_MS;

  function headers(call: CallOptions, timeoutMs: number | undefined): Headers {
    const { trace, requestId } = call;
    return { passport: issue(call.caller), trace, requestId, timeoutMs };
  }

  async function unary(method: string, request: unknown, call: CallOptions = {}): Promise<unknown> {
    const timeoutMs = Math.min(
      limit,
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
    try {
      return await transport.unary(method, request, headers(call, timeoutMs), controller.signal);
    } catch (error) {
      throw late ? tooLate(contract.name, method) : error;
    } finally {
      cancelTimer();
      call.signal?.removeEventListener('abort', leave);
    }
  }

  function stream(method: string, request: unknown, call: CallOptions = {}): AsyncIterable<unknown> {
    const signal = call.signal ?? new AbortController().signal;
    return transport.stream(method, request, headers(call, undefined), signal);
  }

  const methods = Object.entries(contract.methods).map(([name, method]) => [
    name,
    (request: unknown, call?: CallOptions) => (method.responseStream ? stream : unary)(name, request, call),
  ]);
  return Object.fromEntries(methods) as Client<C>;
}

function tooLate(service: string, method: string) {
  return refuse('DEADLINE_EXCEEDED', `${service}.${method} did not answer in time`);
}
