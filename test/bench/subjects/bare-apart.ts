/**
 * The bare limit of webhooks in three processes, as a system with a process per target: `edge` reads the HTTP request,
 * `deployments` verifies the signature, and `sessions` stores the rows. Each request is one message of a gRPC stream that stays
 * open between two processes.
 */
import { Client, credentials, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { isSigned, openStore, serve } from './bare-webhook.ts';

const [role = '', port = '', nextPort = '', url = '', secret = ''] = process.argv.slice(2);
const READY_MS = 30_000;
const PATH = '/bare.Hop/Exchange';
/** The number of the request before each message. */
const NUMBER_BYTES = 4;
const LINE_END = 10;
const UNSIGNED = Buffer.alloc(0);
const asBytes = (message: Buffer) => message;

type Hop = (message: Buffer) => Promise<Buffer>;

async function connect(): Promise<Hop> {
  const client = new Client(`127.0.0.1:${nextPort}`, credentials.createInsecure());
  await new Promise<void>((resolve, reject) =>
    client.waitForReady(Date.now() + READY_MS, (error) => (error ? reject(error) : resolve())),
  );
  const stream = client.makeBidiStreamRequest<Buffer, Buffer>(PATH, asBytes, asBytes);
  const waiting = new Map<number, (answer: Buffer) => void>();
  stream.on('data', (message: Buffer) => {
    const number = message.readUInt32BE();
    waiting.get(number)?.(message.subarray(NUMBER_BYTES));
    waiting.delete(number);
  });
  let last = 0;
  return (body) =>
    new Promise((resolve) => {
      const message = Buffer.allocUnsafe(NUMBER_BYTES + body.length);
      message.writeUInt32BE(++last);
      message.set(body, NUMBER_BYTES);
      waiting.set(last, resolve);
      stream.write(message);
    });
}

function listen(answer: Hop): Promise<unknown> {
  const server = new Server();
  const method = {
    path: PATH,
    requestStream: true,
    responseStream: true,
    requestSerialize: asBytes,
    requestDeserialize: asBytes,
    responseSerialize: asBytes,
    responseDeserialize: asBytes,
  } as const;
  const exchange = (stream: ServerDuplexStream<Buffer, Buffer>) =>
    stream.on('data', (message: Buffer) => {
      const number = message.subarray(0, NUMBER_BYTES);
      void answer(message.subarray(NUMBER_BYTES)).then((text) => stream.write(Buffer.concat([number, text])));
    });
  server.addService({ exchange: method }, { exchange });
  return new Promise((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
}

if (role === 'edge') {
  const deployments = await connect();
  serve(Number(port), async ({ timestamp, signature, body }) => {
    const answer = await deployments(Buffer.concat([Buffer.from(`${timestamp} ${signature}\n`), body]));
    return answer.length > 0 ? answer.toString() : undefined;
  });
} else if (role === 'deployments') {
  const sessions = await connect();
  await listen(async (message) => {
    const end = message.indexOf(LINE_END);
    const [timestamp = '', signature = ''] = message.toString('latin1', 0, end).split(' ');
    const body = message.subarray(end + 1);
    return isSigned({ timestamp, signature, body }, secret) ? sessions(body) : UNSIGNED;
  });
} else {
  const store = await openStore(url);
  await listen(async (body) => Buffer.from(await store(body)));
}
