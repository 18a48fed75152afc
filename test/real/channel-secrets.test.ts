import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries } from '../support/canaries.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp/receiver.ts';
import { processTexts } from '../support/processes.ts';
import { recordCalls, recordTraffic } from '../support/recorded-traffic.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';
import { startProducts } from './channel-secrets/products.ts';
import { type RecordedResponse, recordResponses } from './channel-secrets/recorded-responses.ts';
import {
  findSecrets,
  type SearchedText,
  textsOfExports,
  textsOfResponses,
  textsOfTables,
} from './channel-secrets/search.ts';
import { useChannels } from './channel-secrets/use.ts';

const CHANNEL_NAME = 'A chat with a name';

describe('secrets of channels, with a process per target', () => {
  const stack = new AsyncDisposableStack();
  const canaries = new Canaries();
  const calls = stack.use(recordCalls());
  let responses: RecordedResponse[];
  let receiver: OtlpReceiver;
  let hints: Awaited<ReturnType<typeof recordTraffic>>;
  let fleet: Fleet;

  beforeAll(async () => {
    receiver = stack.use(await startOtlpReceiver());
    const products = stack.use(await startProducts(canaries));
    const redis = stack.use(await startRedis());
    const { port } = new URL(redis.url);
    hints = stack.use(await recordTraffic(Number(port)));
    const settings = {
      SERVICE_CHANNELS_API_URLS: products.apiUrls,
      SERVICE_REDIS_URL: redis.url.replace(`:${port}`, `:${hints.port}`),
      SERVICE_LOG_LEVEL: 'debug',
      SERVICE_METRICS_HISTOGRAMS: 'routes,rpcs,statements,models',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.httpUrl,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    };
    fleet = stack.use(await startFleet(settings, calls));
    const recorded = recordResponses(fleet.api);
    responses = recorded.responses;
    await useChannels({
      ...products,
      api: recorded.api,
      origin: fleet.api.origin,
      canaries,
      name: CHANNEL_NAME,
    });
  }, 500_000);
  afterAll(() => stack.disposeAsync());

  /** Returns which secrets occur where. */
  const found = (texts: Iterable<SearchedText>) => findSecrets(canaries, texts);

  it('are those of all products', () => {
    expect(canaries.all.length).toBeGreaterThan(10);
    for (const secret of canaries.all) expect(canaries.in(`"${secret}"`)).toHaveLength(1);
  });

  it('are in no response', () => {
    expect(found(textsOfResponses(responses))).toEqual([]);
    const statuses = new Set(responses.map(({ status }) => status));
    for (const status of [200, 201, 400, 409]) expect([...statuses]).toContain(status);
    const whole = responses.map(({ text }) => text).join('\n');
    for (const text of [CHANNEL_NAME, 'token_revoked', 'The answer to', '"state":"failed"'])
      expect(whole.includes(text), text).toBe(true);
  });

  it('are in no log line of any process at the most verbose level', () => {
    const outputs = fleet.names.map((name) => ({ name, content: fleet.outputOf(name) }));
    expect(found(outputs)).toEqual([]);
    for (const { name, content } of outputs) expect(content, name).not.toBe('');
    for (const name of ['edge', 'deployments', 'sessions'])
      expect(fleet.outputOf(name).includes('"level":"debug"'), name).toBe(true);
  });

  it('are in no exported span, metric or log record', async () => {
    const of = (signal: string) => receiver.exports.filter((one) => one.signal === signal);
    const expected = {
      traces: 'SessionsService/SendMessage',
      metrics: 'ahs_channel_posts',
      logs: 'a call ended',
    };
    for (const [signal, text] of Object.entries(expected))
      await until(`${signal} arrive`, () => JSON.stringify(of(signal)).includes(text));
    expect(found(textsOfExports(receiver))).toEqual([]);
  });

  it('are in no event and in no other row of the database', async () => {
    const rows = await textsOfTables(fleet.databaseUrl);
    expect(found(rows)).toEqual([]);
    const isFound = (table: string, text: string) =>
      rows.some(({ name, content }) => name === table && content.includes(text));
    for (const [table, text] of [
      ['sessions.journal', 'The answer to'],
      ['deployments.deliveries', 'read this in'],
      ['deployments.posts', 'pst_'],
      ['deployments.channels', 'bot_token'],
    ] as const)
      expect(isFound(table, text), table).toBe(true);
  });

  it('are in no arguments and no environment of a process', () => {
    const pids = fleet.names.map((name) => fleet.pidOf(name));
    const texts = processTexts(pids);
    expect(found(texts)).toEqual([]);
    for (const pid of pids) {
      const contentOf = (what: string) => texts.find(({ name }) => name === `${pid} ${what}`)?.content;
      expect(contentOf('environ')?.includes('SERVICE_CHANNELS_API_URLS='), `${pid}`).toBe(true);
      expect(contentOf('cmdline')?.includes('--target='), `${pid}`).toBe(true);
    }
  });

  it('are not readable in the traffic between processes', () => {
    const traffic = Array.from(calls.bytes(), ([name, content]) => ({ name, content }));
    const deployments = traffic.find(({ name }) => name === 'deployments')?.content;
    // The recording works: other texts are readable in it.
    for (const text of [CHANNEL_NAME, 'read this in', 'bot_token', '/callback'])
      expect(deployments?.includes(text), text).toBe(true);
    expect(hints.bytes().includes('channels.work')).toBe(true);
    expect(found([...traffic, { name: 'Redis', content: hints.bytes() }])).toEqual([]);
  });
});
