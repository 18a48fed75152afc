import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import type { Contract, MethodName, RequestOf, ResponseOf } from './contract.ts';

/** Calls a program of another vendor, which knows no service tokens, over a unix socket. */
export interface SocketClient<C extends Contract> {
  /** Rejects with `SocketCallError`. */
  call<M extends MethodName<C>>(method: M, request: RequestOf<C, M>): Promise<ResponseOf<C, M>>;
  close(): void;
}

interface SocketClientOptions {
  clock: Clock;
  timeoutMs: number;
  /** Longer responses are refused. */
  maxResponseBytes: number;
}

/** The call got no response, or the program refused it. The message contains nothing of the request. */
export class SocketCallError extends Error {
  override readonly name = 'SocketCallError';
  /** The name of the gRPC status. */
  readonly status: string;

  constructor(method: string, statusName: string, details: string) {
    super(`${method}: ${statusName} ${details.slice(0, MAX_DETAILS)}`);
    this.status = statusName;
  }

  /** Whether the program may answer a later call. */
  get isUnreachable(): boolean {
    return this.status === 'UNAVAILABLE' || this.status === 'DEADLINE_EXCEEDED';
  }
}

const MAX_DETAILS = 200;

/** Opens a client of one socket, which connects on first use and reconnects within a second. */
export function openSocketClient<C extends Contract>(
  contract: C,
  path: string,
  { clock, timeoutMs, maxResponseBytes }: SocketClientOptions,
): SocketClient<C> {
  const client = new Client(`unix:${path}`, credentials.createInsecure(), {
    'grpc.enable_http_proxy': 0,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.max_receive_message_length': maxResponseBytes,
  });

  return {
    call: (name, request) =>
      new Promise((resolve, reject) => {
        const method = contract.methods[name];
        if (!method) throw new Error(`${contract.name} has no method ${name}`);
        const { requestType, responseType } = method;
        let timedOut = false;
        const call = client.makeUnaryRequest(
          `/${contract.fullName}/${method.name}`,
          (message: unknown) => Buffer.from(requestType.encode(message).finish()),
          (bytes: Buffer) => responseType.decode(bytes),
          request,
          (error, response) => {
            cancelTimer();
            if (error) reject(failureOf(method.name, error, timedOut));
            else resolve(response as ResponseOf<C, typeof name>);
          },
        );
        const cancelTimer = clock.after(timeoutMs, () => {
          timedOut = true;
          call.cancel();
        });
      }),
    close: () => client.close(),
  };
}

function failureOf(method: string, { code, details }: ServiceError, timedOut: boolean): SocketCallError {
  return timedOut
    ? new SocketCallError(method, 'DEADLINE_EXCEEDED', 'no response in time')
    : new SocketCallError(method, status[code] ?? 'UNKNOWN', details);
}
