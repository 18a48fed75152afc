import type { ServerCredentials } from '@grpc/grpc-js';
import { type CallContext, createServer, type Metadata, ServerError } from 'nice-grpc';
import { Refusal, refuse } from '../errors.ts';
import { parseTraceparent } from '../trace.ts';
import { createCallService } from './calls/call-server.ts';
import { CHANNEL_OPTIONS } from './channel-options.ts';
import { withSharedWriter } from './encoding.ts';
import { createHealthService, HealthDefinition } from './health.ts';
import { REQUEST_ID, SERVICE_TOKEN, TIMEOUT } from './metadata.ts';
import { encodeStatusDetails, STATUS_TRAILER, statusMessage } from './status-details.ts';
import { ERROR_TRAILER, encodeRefusal, grpcStatus, internalError } from './trailer.ts';
import type { CallHeaders, Endpoint } from './transport.ts';

export interface GrpcServer {
  port: number;
  /** Refuses new calls, ends streams, waits at most `limitMs` for running calls, then closes. */
  stop(limitMs: number): Promise<void>;
}

interface ServeOptions {
  /** Without credentials, connections are not encrypted. */
  credentials?: ServerCredentials | undefined;
  /** Also describes the contracts of the endpoints by server reflection. */
  hasReflection?: boolean;
}

/**
 * Serves endpoints over gRPC together with the standard health service. The health service reports NOT_SERVING while
 * `check` rejects and after `stop` is called.
 */
export async function serveGrpc(
  address: string,
  endpoints: Endpoint[],
  check: () => Promise<void> = async () => {},
  { credentials, hasReflection = false }: ServeOptions = {},
): Promise<GrpcServer> {
  const server = createServer(CHANNEL_OPTIONS);
  const draining = new AbortController();
  const health = createHealthService(
    endpoints.map(({ contract }) => contract.fullName),
    check,
  );
  server.add(HealthDefinition, health.implementation);
  const calls = createCallService(endpoints, draining.signal);
  server.add(calls.definition, calls.implementation as never);
  for (const endpoint of endpoints) {
    // The methods are known only at run time here. The type in contract.ts has checked the handlers.
    server.add(withSharedWriter(endpoint.contract), implementation(endpoint, draining.signal) as never);
  }
  if (hasReflection) {
    const { createReflectionService, REFLECTION_DEFINITIONS } = await import('./reflection.ts');
    const served = [...endpoints.map(({ contract }) => contract), HealthDefinition, calls.definition];
    const reflection = await createReflectionService(
      served.map(({ fullName }) => fullName),
      draining.signal,
    );
    for (const definition of REFLECTION_DEFINITIONS) server.add(definition, reflection);
  }
  const port = await server.listen(address, credentials);
  return {
    port,
    async stop(limitMs) {
      health.stop();
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
    const received = (request: unknown, { signal }: CallContext) =>
      method.requestStream ? uncancelled(request as AsyncIterable<unknown>, signal) : request;
    methods[name] = method.responseStream
      ? async function* (request, context) {
          const signal = AbortSignal.any([context.signal, draining]);
          try {
            yield* endpoint.stream(name, received(request, context), readHeaders(context.metadata), signal);
          } catch (error) {
            throw asServerError(draining.aborted ? stoppingRefusal() : error, context);
          }
          if (draining.aborted) throw asServerError(stoppingRefusal(), context);
        }
      : async (request, context) => {
          try {
            return await endpoint.unary(
              name,
              received(request, context),
              readHeaders(context.metadata),
              context.signal,
            );
          } catch (error) {
            throw asServerError(error, context);
          }
        };
  }
  return methods;
}

/** The messages of a request stream. The stream of a cancelled call ends like a complete one, and must fail instead. */
async function* uncancelled(messages: AsyncIterable<unknown>, signal: AbortSignal): AsyncGenerator<unknown> {
  yield* messages;
  // The end of the messages is reported before the cancellation.
  await new Promise<void>((resolve) => setImmediate(resolve));
  if (signal.aborted)
    throw refuse('CANCELLED', 'The caller cancelled the call before the end of its request.');
}

function stoppingRefusal(): Refusal {
  return refuse('DEPENDENCY_UNAVAILABLE', 'This instance is stopping.', { retryAfterSeconds: 1 });
}

function readHeaders(metadata: Metadata): CallHeaders {
  const timeout = Number(metadata.get(TIMEOUT));
  return {
    serviceToken: metadata.get(SERVICE_TOKEN) ?? '',
    trace: parseTraceparent(metadata.get('traceparent')),
    requestId: metadata.get(REQUEST_ID),
    timeoutMs: timeout > 0 ? timeout : undefined,
  };
}

function asServerError(error: unknown, context: CallContext): ServerError {
  const refusal = error instanceof Refusal ? error : internalError(error);
  context.trailer.set(ERROR_TRAILER, encodeRefusal(refusal));
  context.trailer.set(STATUS_TRAILER, encodeStatusDetails(refusal, context.metadata.get(REQUEST_ID)));
  return new ServerError(grpcStatus(refusal), statusMessage(refusal));
}
