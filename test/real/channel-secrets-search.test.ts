import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { LogCopy } from '../../lib/log-copy.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { openTelemetry } from '../../lib/telemetry/open.ts';
import { SIGNALS } from '../../lib/telemetry/options.ts';
import type { Api } from '../support/api.ts';
import { Canaries } from '../support/canaries.ts';
import { createFakeClock } from '../support/clock.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { startOtlpReceiver } from '../support/otlp/receiver.ts';
import { processTexts } from '../support/processes.ts';
import { recordTraffic } from '../support/recorded-traffic.ts';
import { runOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';
import { recordResponses } from './channel-secrets/recorded-responses.ts';
import { findSecrets, textsOfExports, textsOfResponses, textsOfTables } from './channel-secrets/search.ts';

const LIMITS = { maxQueueSize: 100, maxExportBatchSize: 100, scheduledDelayMillis: 60_000 };

/** A token that was written somewhere, and one that was not. */
function plant() {
  const canaries = new Canaries();
  const planted = canaries.add('planted token', 'xoxb-12345-6789/"quoted"+=&%');
  canaries.add('other token', '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw');
  return { canaries, planted };
}

/** Shows for each surface that the search of channel-secrets.test.ts finds a secret that is there. */
describe('the search for secrets of channels finds a planted token', () => {
  it('in a log line, also within an error', () => {
    const { canaries, planted } = plant();
    for (const fields of [
      { address: `https://example.org/bot${planted}/getMe` },
      { err: new Error(planted) },
    ]) {
      const lines: string[] = [];
      const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
      log.debug({ address: 'https://example.org' }, 'a request');
      expect(findSecrets(canaries, [{ name: 'channels', content: lines.join('') }])).toEqual([]);
      log.debug(fields, 'a request failed');
      expect(findSecrets(canaries, [{ name: 'channels', content: lines.join('') }])).toEqual([
        'channels: planted token',
      ]);
    }
  });

  it.each(SIGNALS)('in exported %s', async (signal) => {
    const { canaries, planted } = plant();
    await using receiver = await startOtlpReceiver();
    const logCopy = new LogCopy();
    const log = createLog({ level: 'debug', destination: { write: () => {} }, copy: logCopy });
    const metrics = createMetrics();
    const requests = metrics.counter({ name: 'ahs_requests_total', help: 'Requests.', labels: ['address'] });
    requests.labels(signal === 'metrics' ? planted : 'an address').inc();
    const url = `${receiver.httpUrl}/v1/${signal}`;
    const telemetry = await openTelemetry({
      receivers: { [signal]: { protocol: 'http/protobuf', url, headers: {} } },
      ...{ sampler: 'always_on', samplerRatio: 1, serviceName: undefined, processName: 'channels' },
      ...{ resourceAttributes: {}, spanLimits: LIMITS, logLimits: LIMITS, metricIntervalMs: 60_000 },
      ...{ version: '1', clock: createFakeClock(), log, logCopy, metrics },
    });
    const span = telemetry.tracer('channels').begin('request');
    span.set({ 'url.full': signal === 'traces' ? planted : 'an address' });
    log.info({ address: signal === 'logs' ? planted : 'an address' }, 'a request');
    span.end();
    await telemetry.stop();
    const found = findSecrets(canaries, textsOfExports(receiver));
    expect(new Set(found)).toEqual(new Set([`${signal}: planted token`]));
  });

  it.each([
    ['text', 'as it is', (token: string) => token],
    ['text', 'in base64', (token: string) => Buffer.from(`before ${token} after`).toString('base64')],
    ['json', 'in a member', (token: string) => JSON.stringify({ credentials: { bot_token: token } })],
    ['jsonb', 'in an item', (token: string) => JSON.stringify([{ token }])],
    ['bytea', 'among bytes', (token: string) => `\\x${Buffer.from(`before ${token} after`).toString('hex')}`],
  ] as const)('in a column of type %s, %s', async (type, _, stored) => {
    const { canaries, planted } = plant();
    await using database = await createEmptyDatabase();
    await runOn(
      database.url,
      `create schema deployments; create table deployments.posts (id integer, content ${type})`,
    );
    expect(findSecrets(canaries, await textsOfTables(database.url))).toEqual([]);
    await runOn(database.url, `insert into deployments.posts values (1, '${stored(planted)}')`);
    expect(findSecrets(canaries, await textsOfTables(database.url))).toEqual([
      'deployments.posts: planted token',
    ]);
  });

  it('in the headers and the body of a response, but not in a member that is shown once', async () => {
    const { canaries, planted } = plant();
    const answers = [
      { location: `/x?token=${encodeURIComponent(planted)}`, data: {} },
      { location: '', data: { hint: planted } },
      { location: '', data: { shared_secret: planted } },
    ];
    const send: Api['send'] = async () => {
      const { location = '', data } = answers.shift() ?? {};
      return { status: 200, headers: new Headers({ location }), body: JSON.parse(JSON.stringify({ data })) };
    };
    const { api, responses } = recordResponses({ send });
    await api('GET', '/header');
    await api('GET', '/body');
    await api('POST', '/once', {}, ['shared_secret']);
    expect(findSecrets(canaries, textsOfResponses(responses))).toEqual([
      'GET /header 200: planted token',
      'GET /body 200: planted token',
    ]);
  });

  it('in the arguments and the environment of a process and of one that it started', async () => {
    const { canaries, planted } = plant();
    const child = spawn('sh', ['-c', 'sleep 60 & wait', planted], {
      env: { ...process.env, BOT_TOKEN: planted },
      stdio: 'ignore',
      detached: true,
    });
    try {
      const pid = await until('the process runs', () => child.pid);
      const found = () => findSecrets(canaries, processTexts([pid]));
      await until('its child runs', () => found().length >= 3);
      expect(found()).toEqual(
        expect.arrayContaining([`${pid} environ: planted token`, `${pid} cmdline: planted token`]),
      );
    } finally {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    }
  });

  it('in the traffic between processes, also in two pieces', async () => {
    const { canaries, planted } = plant();
    const server = createServer((socket) => socket.resume());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await using traffic = await recordTraffic((server.address() as AddressInfo).port);
      const socket = connect({ port: traffic.port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      socket.write(`before ${planted.slice(0, 9)}`);
      await until('the first piece has passed', () => traffic.bytes().length > 0);
      socket.end(`${planted.slice(9)} after`);
      await until('the second piece has passed', () => traffic.bytes().includes('after'));
      expect(findSecrets(canaries, [{ name: 'Redis', content: traffic.bytes() }])).toEqual([
        'Redis: planted token',
      ]);
    } finally {
      server.close();
    }
  });
});
