import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Server, ServerCredentials, type UntypedHandleCall } from '@grpc/grpc-js';
import { SIGNALS, type Signal } from '../../../lib/telemetry/options.ts';
import { decodeMessage, type Message } from './protobuf.ts';
import { REQUESTS } from './schemas.ts';

/** One request as the receiver got it. The message has the form of the JSON encoding. */
interface ReceivedExport {
  signal: Signal;
  /** The content type. */
  encoding: string;
  /** The value of the header `x-token`. */
  token: string;
  message: Message;
  /** The body as received, also with the members that the message does not have. */
  bytes: Buffer;
}

export interface OtlpReceiver extends AsyncDisposable {
  httpUrl: string;
  grpcUrl: string;
  exports: ReceivedExport[];
}

const GRPC_SERVICES = { traces: 'trace', metrics: 'metrics', logs: 'logs' };

/** Starts a receiver of all signals over OTLP, with http/protobuf, http/json and gRPC. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const exports: ReceivedExport[] = [];
  const http = createServer(async (request, response) => {
    const bytes = await buffer(request);
    const encoding = String(request.headers['content-type']);
    const signal = SIGNALS.find((one) => request.url === `/v1/${one}`);
    if (!signal) return void response.writeHead(404).end();
    const isJson = encoding === 'application/json';
    const message = isJson ? JSON.parse(bytes.toString()) : decodeMessage(bytes, REQUESTS[signal]);
    exports.push({ signal, encoding, token: String(request.headers['x-token']), message, bytes });
    response.writeHead(200, { 'content-type': encoding }).end(isJson ? '{}' : '');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');

  const grpc = new Server();
  for (const signal of SIGNALS) addService(grpc, signal, exports);
  const port = await new Promise<number>((resolve, reject) =>
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    httpUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    grpcUrl: `http://127.0.0.1:${port}`,
    exports,
    async [Symbol.asyncDispose]() {
      grpc.forceShutdown();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

function addService(server: Server, signal: Signal, exports: ReceivedExport[]): void {
  const group = GRPC_SERVICES[signal];
  const service = `opentelemetry.proto.collector.${group}.v1.${group[0]?.toUpperCase()}${group.slice(1)}Service`;
  const exportCall: UntypedHandleCall = (
    call: { request: Buffer; metadata: { get(name: string): unknown[] } },
    callback: (error: null, response: Buffer) => void,
  ) => {
    const [token] = call.metadata.get('x-token');
    const message = decodeMessage(call.request, REQUESTS[signal]);
    exports.push({
      signal,
      encoding: 'application/grpc',
      token: String(token),
      message,
      bytes: call.request,
    });
    callback(null, Buffer.alloc(0));
  };
  const bytes = { serialize: (one: Buffer) => one, deserialize: (one: Buffer) => one };
  server.addService(
    {
      Export: {
        path: `/${service}/Export`,
        requestStream: false,
        responseStream: false,
        requestSerialize: bytes.serialize,
        requestDeserialize: bytes.deserialize,
        responseSerialize: bytes.serialize,
        responseDeserialize: bytes.deserialize,
      },
    },
    { Export: exportCall },
  );
}
