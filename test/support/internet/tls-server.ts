import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Certificate } from '../certificates.ts';

/** A TLS server of the simulated internet. */
export interface TlsServerConfig {
  certificate: Certificate;
  /** Hosts with another certificate. */
  others: Record<string, Certificate>;
  /** The value that the server accepts as password and token. */
  token: string;
  /** Further passwords and tokens that it accepts, also in the header X-Api-Key. */
  moreTokens?: readonly string[];
  /** The access tokens that it issues at /token, by grant type. */
  issued?: Readonly<Record<string, string>>;
  /** A directory with bare git repositories. */
  repositories: string;
  /** A wheel for pip, as base64. */
  wheel: { name: string; content: string };
}

/** Starts a server on port 443 that has an API, a git repository, and registries of pip and npm, all for its token. */
export async function startTlsServer(config: TlsServerConfig): Promise<void> {
  const server = createServer({
    ...config.certificate,
    SNICallback: (name, done) => {
      const other = config.others[name];
      if (other)
        import('node:tls').then(({ createSecureContext }) => done(null, createSecureContext(other)), done);
      else done(null);
    },
  });
  server.on('request', (request, response) => answer(request, response, config));
  await new Promise<void>((resolve) => server.listen(443, '0.0.0.0', resolve));
}

function answer(request: IncomingMessage, response: ServerResponse, config: TlsServerConfig): void {
  const { url = '/', headers } = request;
  const { pathname, searchParams } = new URL(url, 'https://host');
  const key = headers['x-api-key'] ?? searchParams.get('key') ?? undefined;
  const sent = tokenOf(headers.authorization) ?? key?.toString();
  process.send?.({ requestedHost: `${headers.host}${pathname}` });
  if (pathname === '/echo') return void response.end(`you have sent ${headers.authorization}`);
  if (pathname === '/token') return void issueToken(request, response, config);
  if (sent === undefined || ![config.token, ...(config.moreTokens ?? [])].includes(sent)) {
    const challenge = { 'WWW-Authenticate': 'Basic realm="test"' };
    return void response
      .writeHead(401, challenge)
      .end(`{"message": "refused ${sent === undefined ? 'none' : 'another'}"}`);
  }
  if (pathname.startsWith('/git/')) return void serveGit(request, response, pathname, config);
  if (pathname === '/simple/sample/') {
    response.setHeader('Content-Type', 'text/html');
    const { name, content } = config.wheel;
    const digest = createHash('sha256').update(Buffer.from(content, 'base64')).digest('hex');
    return void response.end(`<!DOCTYPE html><a href="/files/${name}#sha256=${digest}">${name}</a>`);
  }
  if (pathname.startsWith('/files/')) return void response.end(Buffer.from(config.wheel.content, 'base64'));
  if (pathname === '/sample') {
    const version = { name: 'sample', version: '1.2.3', dist: { tarball: 'https://npm.test/sample.tgz' } };
    const document = { name: 'sample', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } };
    return void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
  }
  response.setHeader('Content-Type', 'application/json').end('{"login": "authenticated"}');
}

function tokenOf(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) (.+)$/.exec(authorization ?? '') ?? [];
  if (scheme.toLowerCase() !== 'basic') return value || undefined;
  return Buffer.from(value, 'base64').toString().split(':')[1];
}

/** Answers a request for an access token (RFC 6749, 5.1). */
async function issueToken(
  request: IncomingMessage,
  response: ServerResponse,
  { issued = {} }: TlsServerConfig,
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const token = issued[new URLSearchParams(body).get('grant_type') ?? ''];
  const answer = { access_token: token, token_type: 'Bearer', expires_in: 3_600 };
  response.writeHead(token === undefined ? 400 : 200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(token === undefined ? { error: 'unsupported_grant_type' } : answer));
}

/** Runs `git http-backend` (git-http-backend(1)) as a CGI program. */
function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { repositories }: TlsServerConfig,
): void {
  const { method = '', headers, url = '' } = request;
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: repositories,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      REMOTE_USER: 'x-access-token',
      REQUEST_METHOD: method,
      PATH_INFO: path.slice('/git'.length),
      QUERY_STRING: url.split('?')[1] ?? '',
      CONTENT_TYPE: headers['content-type'] ?? '',
      CONTENT_LENGTH: headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  backend.stdout.once('end', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    for (const line of output.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(output.subarray(end + 4));
  });
}
