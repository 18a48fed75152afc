/**
 * Checks a target with the standard gRPC health service: `node deploy/health.js [port]`. Exits with 0 when the target is
 * SERVING and with 1 otherwise. With SERVICE_GRPC_TLS_CERT, it uses the certificate of the target itself.
 *
 * A container runs this every few seconds, so it uses HTTP/2 directly: loading a gRPC library takes five times as long as
 * the whole check. It is JavaScript, because Node would load its TypeScript compiler first.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';

const [port = '50051'] = process.argv.slice(2);
const TIMEOUT_MS = 3_000;

// A gRPC message has one byte of flags, four bytes of length and the content.
const CHECK_PROCESS_REQUEST = Buffer.from([0, 0, 0, 0, 0]);
const SERVING_RESPONSE = Buffer.from([0, 0, 0, 0, 2, 0x08, 0x01]);

const session = open();
session.on('error', (error) => end(error.message));
session.setTimeout(TIMEOUT_MS, () => end('no response within 3 seconds'));
const call = session.request({
  ':method': 'POST',
  ':path': '/grpc.health.v1.Health/Check',
  'content-type': 'application/grpc',
  te: 'trailers',
});
const chunks = [];
call.on('error', (error) => end(error.message));
call.on('data', (chunk) => chunks.push(chunk));
call.on('end', () => end(Buffer.concat(chunks).equals(SERVING_RESPONSE) ? undefined : 'not serving'));
call.end(CHECK_PROCESS_REQUEST);

function open() {
  // biome-ignore lint/style/noProcessEnv: this program has no other settings
  const { SERVICE_GRPC_TLS_CERT, SERVICE_GRPC_TLS_KEY, SERVICE_GRPC_TLS_CA } = process.env;
  if (!SERVICE_GRPC_TLS_CERT || !SERVICE_GRPC_TLS_KEY || !SERVICE_GRPC_TLS_CA)
    return connect(`http://127.0.0.1:${port}`);
  return connect(`https://127.0.0.1:${port}`, {
    cert: readFileSync(SERVICE_GRPC_TLS_CERT),
    key: readFileSync(SERVICE_GRPC_TLS_KEY),
    ca: readFileSync(SERVICE_GRPC_TLS_CA),
    // The certificate names the host under which other processes call the target.
    checkServerIdentity: () => undefined,
    servername: '',
  });
}

/** Exits with 1 when there is a problem. */
function end(problem) {
  if (problem) console.error(problem);
  process.exit(problem ? 1 : 0);
}
