import { type Channel, ClientError, createClientFactory, Metadata } from 'nice-grpc';
import { Refusal, refuse } from '../errors.ts';
import { traceparent } from '../trace.ts';
import type { Contract } from './contract.ts';
import { withSharedWriter } from './encoding.ts';
import { REQUEST_ID, SERVICE_TOKEN, TIMEOUT } from './metadata.ts';
import { RequestStream } from './request-stream.ts';
import { decodeRefusal, ERROR_TRAILER, internalError } from './trailer.ts';
import type { CallHeaders, Transport } from './transport.ts';

type RawMethod = (
  request: unknown,
  options: { metadata: Metadata; signal: AbortSignal; onTrailer: (trailer: Metadata) => void },
) => Promise<unknown> & AsyncIterable<unknown>;

/** Calls a service over a channel, with one gRPC call for each call. */
export function nativeTransport(channel: Channel, contract: Contract): Transport {
  const raw = createClientFactory().create(withSharedWriter(contract), channel) as Record<string, RawMethod>;

  function open(name: string, request: unknown, headers: CallHeaders, signal: AbortSignal) {
    const method = raw[name];
    if (!method) throw refuse('FORBIDDEN', `${contract.name} has no method ${name}.`);
    let trailer: Metadata | undefined;
    const metadata = Metadata({ [SERVICE_TOKEN]: headers.serviceToken });
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
      const requestStream = contract.methods[name]?.requestStream
        ? new RequestStream(request as AsyncIterable<unknown>, signal)
        : undefined;
      const { answer, fail } = open(name, requestStream ?? request, headers, signal);
      try {
        return await answer;
      } catch (error) {
        throw requestStream?.failure ? requestStream.failure.error : fail(error);
      } finally {
        requestStream?.close();
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

/** A refusal of the service has a trailer. A transport failure has none and is mapped from its gRPC status. */
export function asRefusal(error: unknown, trailer: Metadata | undefined, service: string): Refusal {
  const detail = trailer?.get(ERROR_TRAILER);
  if (detail instanceof Uint8Array) return decodeRefusal(detail);
  if (error instanceof Refusal) return error;
  // The only other errors are those of aborted signals and of closed channels.
  if (!(error instanceof ClientError))
    return isAbortError(error)
      ? refuse('CANCELLED', 'The caller disconnected before the response.')
      : unreachable(service, error);
  switch (error.code) {
    case 14:
      return unreachable(service, error);
    case 8:
      return refuse('PAYLOAD_TOO_LARGE', 'The message exceeds the size limit between services.', {
        cause: error,
      });
    case 1:
      return refuse('CANCELLED', 'The caller disconnected before the response.');
    case 4:
      return refuse('DEADLINE_EXCEEDED', `${service} did not respond in time.`);
    case 16:
      return refuse('PEER_REJECTED', `${service} rejects the credential of this process.`, { cause: error });
    default:
      return internalError(error);
  }
}

function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

export function unreachable(service: string, cause: unknown): Refusal {
  return refuse('DEPENDENCY_UNAVAILABLE', `${service} cannot be reached.`, { retryAfterSeconds: 1, cause });
}
