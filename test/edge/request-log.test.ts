import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../edge/app.ts';
import { settings } from '../../edge/config.ts';
import { createRequestLog } from '../../edge/plugins/request-log.ts';
import { readSettings } from '../../lib/env/read-settings.ts';
import { createLog } from '../../lib/log.ts';
import { standaloneContext } from '../../scripts/reference/access.ts';
import { until } from '../support/wait.ts';

type Line = Record<string, unknown>;
const lines: Line[] = [];
const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
const log = createLog({ level: 'info', destination });

beforeEach(() => {
  lines.length = 0;
});

describe('the log of the edge at level info', () => {
  let edge: Awaited<ReturnType<typeof createApp>>;
  let url: URL;

  beforeAll(async () => {
    const config = { ...readSettings(settings, {}, []), authMode: 'local' } as const;
    edge = await createApp({ ...standaloneContext(), log }, config);
    url = new URL(await edge.app.listen({ host: '127.0.0.1', port: 0 }));
    edge.setListeningUrl(url);
  });
  afterAll(() => edge.app.close());

  it('has one line for a request that fails because a service is unavailable', async () => {
    const answer = await fetch(new URL('/api/v1/agents?q=secret', url));
    expect(answer.status).toBe(503);
    await until('the line is there', () => lines.length > 0);
    expect(lines).toMatchObject([
      {
        level: 'warn',
        request_id: answer.headers.get('x-request-id'),
        method: 'GET',
        route: '/api/v1/agents',
        status: 503,
        code: 'DEPENDENCY_UNAVAILABLE',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('has one line for bytes that are no HTTP request', async () => {
    const socket = connect(Number(url.port), url.hostname);
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    socket.write('secret bytes\r\n\r\n');
    await new Promise((resolve) => socket.once('end', resolve));
    socket.destroy();
    const requestId = /x-request-id: (\S+)/.exec(answer)?.[1];
    expect(lines).toMatchObject([
      { level: 'info', request_id: requestId, status: 400, code: 'INVALID_REQUEST' },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('has no line for a request that succeeds', async () => {
    expect((await fetch(new URL('/livez', url))).status).toBe(200);
    expect(lines).toEqual([]);
  });
});

describe('the log line of a request', () => {
  const ids = () => ({
    request_id: 'req_1',
    trace_id: '0123456789abcdef0123456789abcdef',
    span_id: '0123456789abcdef',
    session_id: undefined,
    turn_id: undefined,
    assistant_id: undefined,
    deployment_id: undefined,
  });
  const write = (status: number, code: string | undefined, cause?: unknown) =>
    createRequestLog(log)({ ids, method: 'GET', route: '/', status, code, cause, durationMs: 1 });

  it('has level error and the cause for the code INTERNAL', () => {
    write(500, 'INTERNAL', new Error('the cause'));
    expect(lines).toMatchObject([{ level: 'error', request_id: 'req_1', err: { message: 'the cause' } }]);
  });

  it('is left out at level info when the client disconnected before the response', () => {
    write(499, 'CANCELLED');
    expect(lines).toEqual([]);
  });
});
