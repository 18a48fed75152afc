/**
 * Asks a target whether it can do its work, by the standard gRPC health service:
 * `node deploy/health.ts [port]`. Ends with 0 when it says so, otherwise with 1.
 *
 * A container runs this every few seconds, so it speaks HTTP/2 itself: loading a gRPC library takes
 * five times as long as all of this.
 */
import { connect } from 'node:http2';

const [port = '50051'] = process.argv.slice(2);
const ANSWER_MS = 3_000;

// A message of gRPC is one byte of flags, four bytes of length and the message.
const ABOUT_THE_PROCESS = Buffer.from([0, 0, 0, 0, 0]);
const SERVING = Buffer.from([0, 0, 0, 0, 2, 0x08, 0x01]);

const session = connect(`http://127.0.0.1:${port}`);
session.on('error', (error) => end(error.message));
session.setTimeout(ANSWER_MS, () => end('no answer'));
const call = session.request({
  ':method': 'POST',
  ':path': '/grpc.health.v1.Health/Check',
  'content-type': 'application/grpc',
  te: 'trailers',
});
const chunks: Buffer[] = [];
call.on('error', (error) => end(error.message));
call.on('data', (chunk: Buffer) => chunks.push(chunk));
call.on('end', () => end(Buffer.concat(chunks).equals(SERVING) ? undefined : 'not serving'));
call.end(ABOUT_THE_PROCESS);

function end(problem: string | undefined): never {
  if (problem) console.error(problem);
  process.exit(problem ? 1 : 0);
}
