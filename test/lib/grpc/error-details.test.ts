import { credentials, Client as GrpcClient, Metadata, type ServiceError } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { type Refusal, refuse } from '../../../lib/errors.ts';
import { serveGrpc } from '../../../lib/grpc/server.ts';
import { createServiceTokenIssuer } from '../../../lib/grpc/service-token.ts';
import { SessionsServiceDefinition as Service } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { BadRequest, ErrorInfo, RetryInfo } from '../../../proto/gen/google/rpc/error_details.ts';
import { Status } from '../../../proto/gen/google/rpc/status.ts';
import { createContext } from '../../support/context.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

const context = createContext('');
const token = createServiceTokenIssuer('edge', context.serviceSecret, context.clock)(undefined);

/** Calls a service that refuses every call, as a program in any language does. Returns the error of the call. */
async function refused(
  refusal: Refusal,
  method: 'GetSession' | 'Follow',
  metadata: Record<string, string> = { 'ahs-passport': token },
): Promise<ServiceError> {
  const fail = async () => {
    throw refusal;
  };
  const endpoint = fakeEndpoint(Service, { getSession: fail, follow: fail }, 'edge', context);
  const server = await serveGrpc('127.0.0.1:0', [endpoint]);
  const client = new GrpcClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const path = `/${Service.fullName}/${method}`;
  const sent = new Metadata();
  for (const [key, value] of Object.entries(metadata)) sent.set(key, value);
  const raw = (bytes: Buffer) => bytes;
  const empty = Buffer.alloc(0);
  try {
    return await new Promise<ServiceError>((resolve, reject) => {
      const onResponse = () => reject(new Error('the call was not refused'));
      if (method === 'GetSession')
        client.makeUnaryRequest(path, raw, raw, empty, sent, (error) =>
          error ? resolve(error) : onResponse(),
        );
      else {
        const stream = client.makeServerStreamRequest(path, raw, raw, empty, sent);
        stream.on('error', (error: ServiceError) => resolve(error));
        stream.on('data', onResponse);
      }
    });
  } finally {
    client.close();
    await server.stop(1_000);
  }
}

function bytesOf({ metadata }: ServiceError, name: string): Buffer {
  const [value] = metadata.get(name);
  if (!(value instanceof Buffer)) throw new Error(`the error has no ${name}`);
  return value;
}

const DECODERS = {
  'type.googleapis.com/google.rpc.ErrorInfo': ErrorInfo,
  'type.googleapis.com/google.rpc.BadRequest': BadRequest,
  'type.googleapis.com/google.rpc.RetryInfo': RetryInfo,
};

/** Decodes the standard details of an error: the status, and each message by the last part of its type. */
function detailsOf(error: ServiceError) {
  const { code, message, details } = Status.decode(bytesOf(error, 'grpc-status-details-bin'));
  const decoded = details.map(({ typeUrl, value }) => {
    const decoder = DECODERS[typeUrl as keyof typeof DECODERS];
    return [typeUrl.split('.').at(-1), decoder.decode(value)];
  });
  return { code, message, ...Object.fromEntries(decoded) };
}

describe.each(['GetSession', 'Follow'] as const)('the error details of %s', (method) => {
  it('name the error code, the request and the invalid fields', async () => {
    const details = [{ pointer: '/title', message: 'must be shorter' }];
    const refusal = refuse('INVALID_REQUEST', 'The title is 100 % too long.', { details });
    const error = await refused(refusal, method, { 'ahs-passport': token, 'ahs-request-id': 'req_1' });
    expect(error).toMatchObject({ code: INVALID_ARGUMENT, details: 'The title is 100 % too long.' });
    expect(detailsOf(error)).toEqual({
      code: INVALID_ARGUMENT,
      // Libraries such as Python's grpcio-status reject details whose message differs from that of the status.
      message: error.details,
      ErrorInfo: {
        reason: 'INVALID_REQUEST',
        domain: 'agent-hosting-service',
        metadata: { request_id: 'req_1' },
      },
      BadRequest: { fieldViolations: [{ field: '/title', description: 'must be shorter' }] },
    });
    expect(bytesOf(error, 'ahs-error-bin').length).toBeGreaterThan(0);
  });

  it('say when to retry', async () => {
    const refusal = refuse('DEPENDENCY_UNAVAILABLE', 'The queue is full.', { retryAfterSeconds: 7 });
    expect(detailsOf(await refused(refusal, method))).toEqual({
      code: UNAVAILABLE,
      message: 'The queue is full.',
      ErrorInfo: { reason: 'DEPENDENCY_UNAVAILABLE', domain: 'agent-hosting-service', metadata: {} },
      RetryInfo: { retryDelay: { seconds: 7, nanos: 0 } },
    });
  });

  it.each([
    ['is missing', {}],
    ['is malformed', { 'ahs-passport': 'no token' }],
    ['is signed with another secret', { 'ahs-passport': `${token.slice(0, -4)}AAAA` }],
  ])('have the status UNAUTHENTICATED for a service token that %s', async (_, metadata) => {
    const error = await refused(refuse('INTERNAL', 'the handler was called'), method, metadata);
    expect(error.code).toBe(UNAUTHENTICATED);
    expect(detailsOf(error)).toMatchObject({
      code: UNAUTHENTICATED,
      ErrorInfo: { reason: 'PEER_REJECTED' },
    });
  });

  it('fit into the trailers of HTTP/2 for the longest message and details', async () => {
    const details = Array.from({ length: 5_000 }, (_, index) => ({ pointer: `/${index}`, message: '…' }));
    const error = await refused(refuse('INVALID_REQUEST', '💥'.repeat(10_000), { details }), method);
    expect(error.code).toBe(INVALID_ARGUMENT);
    expect(detailsOf(error)).toMatchObject({
      message: error.details,
      ErrorInfo: { reason: 'INVALID_REQUEST' },
    });
    expect(bytesOf(error, 'ahs-error-bin').length).toBeGreaterThan(0);
  });
});
