import {
  type CallContext,
  type Channel,
  ClientError,
  createChannel,
  createClientFactory,
  createServer,
  Metadata,
  ServerError,
} from 'nice-grpc';
import { HealthDefinition } from 'nice-grpc-server-health';
import { Refusal, refuse } from '../errors.ts';
import { parseTraceparent, traceparent } from '../trace.ts';
import type { Contract } from './contract.ts';
import { economical } from './encoding.ts';
import { askHealth, createHealth } from './health.ts';
import { decodeRefusal, ERROR_TRAILER, encodeRefusal, grpcStatus, unexpected } from './trailer.ts';
import { type Endpoint, type Headers, MAX_MESSAGE_BYTES, type Transport } from './transport.ts';
import { Upload } from './upload.ts';

const PASSPORT = 'ahs-passport';
const TIMEOUT = 'ahs-timeout-ms';
const REQUEST_ID = 'ahs-request-id';
const CHANNEL = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // A service that restarts is found again within a second, also under another address, as containers get them.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
};

export interface GrpcServer {
  port: number;
  /** Refuses new work, ends live streams, waits for calls under way for at most `limitMs`, then closes. */
  stop(limitMs: number): Promise<void>;
}

/**
 * Serves endpoints over gRPC, with the standard health service beside them, which says NOT_SERVING while `check`
 * fails and from the moment in which the server stops.
 */
export async function serveGrpc(
  address: string,
  endpoints: Endpoint[],
  check: () => Promise<void> = async () => {},
): Promise<GrpcServer> {
  const server = createServer(CHANNEL);
  const draining = new AbortController();
  const health = createHealth(
    endpoints.map(({ contract }) => contract.fullName),
    check,
  );
  server.add(HealthDefinition, health.service);
  for (const endpoint of endpoints) {
    // The methods are only known at run time here; contract.ts has checked them against the handlers.
    server.add(economical(endpoint.contract), implementation(endpoint, draining.signal) as never);
  }
  const port = await server.listen(address);
  return {
    port,
    async stop(limitMs) {
      health.end();
      draining.abort();
      const timer = setTimeout(() => server.forceShutdown(), limitMs);
      await server.shutdown();
      clearTimeout(timer);
    },
  };
}

type Implementation = Record<
  string,
  (request: unknown, context: CallContext) => Promise<unknown> | AsyncIterable<unknown>
>;

function implementation(endpoint: Endpoint, draining: AbortSignal): Implementation {
  const methods: Implementation = {};
  for (const [name, method] of Object.entries(endpoint.contract.methods)) {
    methods[name] = method.responseStream
      ? async function* (request, context) {
          const signal = AbortSignal.any([context.signal, draining]);
          try {
            yield* endpoint.stream(name, request, readHeaders(context.metadata), signal);
          } catch (error) {
            throw asServerError(draining.aborted ? leaving() : error, context);
          }
          if (draining.aborted) throw asServerError(leaving(), context);
        }
      : async (request, context) => {
          try {
            return await endpoint.unary(name, request, readHeaders(context.metadata), context.signal);
          } catch (error) {
            throw asServerError(error, context);
          }
        };
  }
  return methods;
}

function leaving(): Refusal {
  return refuse('DEPENDENCY_UNAVAILABLE', 'this instance is stopping', { retryAfterSeconds: 1 });
}

function readHeaders(metadata: Metadata): Headers {
  const timeout = Number(metadata.get(TIMEOUT));
  return {
    passport: metadata.get(PASSPORT) ?? '',
    trace: parseTraceparent(metadata.get('traceparent')),
    requestId: metadata.get(REQUEST_ID),
    timeoutMs: timeout > 0 ? timeout : undefined,
  };
}

function asServerError(error: unknown, context: CallContext): ServerError {
  const refusal = error instanceof Refusal ? error : unexpected(error);
  context.trailer.set(ERROR_TRAILER, encodeRefusal(refusal));
  return new ServerError(grpcStatus(refusal), refusal.code);
}

export interface GrpcChannel {
  transport(contract: Contract): Transport;
  /** Fails unless the service at the other end can be reached and says that it can do its work. */
  check(contract: Contract): Promise<void>;
  close(): void;
}

/** A connection to `host:port`. It is made when first used and finds a restarted service again by itself. */
export function openChannel(address: string): GrpcChannel {
  const channel = createChannel(address, undefined, CHANNEL);
  return {
    transport: (contract) => networkTransport(channel, contract),
    async check(contract) {
      const isServing = await askHealth(channel, contract).catch((error: unknown) => {
        throw asRefusal(error, undefined, contract.name);
      });
      if (!isServing) throw refuse('DEPENDENCY_UNAVAILABLE', `${contract.name} cannot do its work now`);
    },
    close: () => channel.close(),
  };
}

type RawMethod = (
  request: unknown,
  options: { metadata: Metadata; signal: AbortSignal; onTrailer: (trailer: Metadata) => void },
) => Promise<unknown> & AsyncIterable<unknown>;

function networkTransport(channel: Channel, contract: Contract): Transport {
  const raw = createClientFactory().create(economical(contract), channel) as Record<string, RawMethod>;

  function open(name: string, request: unknown, headers: Headers, signal: AbortSignal) {
    const method = raw[name];
    if (!method) throw refuse('FORBIDDEN', `${contract.name} has no method ${name}`);
    let trailer: Metadata | undefined;
    const metadata = Metadata({ [PASSPORT]: headers.passport });
    if (headers.trace) metadata.set('traceparent', traceparent(headers.trace));
    if (headers.requestId !== undefined) metadata.set(REQUEST_ID, headers.requestId);
    if (headers.timeoutMs !== undefined) metadata.set(TIMEOUT, String(Math.ceil(headers.timeoutMs)));
    const onTrailer = (received: Metadata) => {
      trailer = received;
    };
    const answer = method(request, { metadata, signal, onTrailer });
    return { answer, fail: (error: unknown) => asRefusal(error, trailer, contract.name) };
  }

  return {
    async unary(name, request, headers, signal) {
      const upload = contract.methods[name]?.requestStream
        ? new Upload(request as AsyncIterable<unknown>, signal)
        : undefined;
      const { answer, fail } = open(name, upload ?? request, headers, signal);
      try {
        return await answer;
      } catch (error) {
        throw upload?.failure ? upload.failure.error : fail(error);
      } finally {
        upload?.leave();
      }
    },
    async *stream(name, request, headers, signal) {
      const { answer, fail } = open(name, request, headers, signal);
      try {
        yield* answer;
      } catch (error) {
        throw fail(error);
      }
    },
  };
}

/** What went wrong on the way has no trailer; what the service refused has one. */
function asRefusal(error: unknown, trailer: Metadata | undefined, service: string): Refusal {
  const detail = trailer?.get(ERROR_TRAILER);
  if (detail instanceof Uint8Array) return decodeRefusal(detail);
  if (!(error instanceof ClientError)) return refuse('CANCELLED', 'the caller left before the answer');
  switch (error.code) {
    case 14:
      return refuse('DEPENDENCY_UNAVAILABLE', `${service} cannot be reached`, {
        retryAfterSeconds: 1,
        cause: error,
      });
    case 8:
      return refuse('PAYLOAD_TOO_LARGE', 'the message is larger than services exchange', { cause: error });
    case 1:
      return refuse('CANCELLED', 'the caller left before the answer');
    case 4:
      return refuse('DEADLINE_EXCEEDED', `${service} did not answer in time`);
    default:
      return unexpected(error);
  }
}
