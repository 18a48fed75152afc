import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, signed, type Webhook } from '../support/api.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';

const MESSAGE = 'only the agent may read this';
const SENDER = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174' };
const TRIGGER = 'POST /api/v1/deployments/:deployment_id/trigger';
const SERVICES = ['edge', 'auth', 'agents', 'deployments', 'sessions', 'runner'];
const TURN = 'invoke_agent Echo';
const SECRET_HEADER = 'a token that only the collector may see';

const traceIdOf = (headers: Headers) => headers.get('traceparent')?.split('-')[1] ?? '';
const named = (spans: ReceivedSpan[], name: string, kind?: ReceivedSpan['kind']) =>
  spans.filter((span) => span.name === name && (kind === undefined || span.kind === kind));
const only = (spans: ReceivedSpan[], name: string, kind?: ReceivedSpan['kind']): ReceivedSpan => {
  const found = named(spans, name, kind);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0]!;
};
const rpc = (service: string, method: string) =>
  `ahs.${service}.v1.${service[0]?.toUpperCase()}${service.slice(1)}Service/${method}`;
/** Returns the spans without a parent among the others. */
const rootsOf = (spans: ReceivedSpan[]) => {
  const ids = new Set(spans.map((span) => span.spanId));
  return spans.filter((span) => !ids.has(span.parentSpanId));
};

describe('traces', () => {
  let collector: Collector;
  let fleet: Fleet;
  let api: Api;
  let agent: string;
  let webhook: Webhook;
  let spans: ReceivedSpan[];
  let session: string;

  /** Waits until a trace contains the named spans and has a single root. */
  const traceOf = (headers: Headers, ...names: string[]) =>
    until(`${names} of trace ${traceIdOf(headers)} have arrived`, () => {
      const found = collector.of(traceIdOf(headers));
      const isWhole = names.every((name) => found.some((span) => span.name === name));
      return isWhole && rootsOf(found).length === 1 && found;
    });

  /** Sends a signed request and returns all spans of its trace. */
  async function traceWebhook(): Promise<ReceivedSpan[]> {
    const headers = {
      ...signed(webhook.secret, MESSAGE),
      traceparent: `00-${SENDER.traceId}-${SENDER.spanId}-01`,
    };
    const accepted = await api.trigger(webhook, MESSAGE, headers);
    expect(accepted.status).toBe(200);
    session = String(accepted.body.data.session_id);
    const parts = [TURN, 'chat echo', 'sessions.reports', 'sessions.creations', 'agents.standing'];
    await traceOf(accepted.headers, TRIGGER, ...parts);
    return until('the spans of every service have arrived', () => {
      const all = collector.of(traceIdOf(accepted.headers));
      const isFromAll = new Set(all.map(({ service }) => service)).size === SERVICES.length;
      return isFromAll && rootsOf(all).length === 1 && all;
    });
  }

  beforeAll(async () => {
    collector = await startCollector();
    fleet = await startFleet({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `x-token=${encodeURIComponent(SECRET_HEADER)}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test',
    });
    api = fleet.api;
    agent = await api.createAgent();
    webhook = await api.createWebhook(agent);
    spans = await traceWebhook();
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
  });

  describe('of a signed webhook request', () => {
    it('form one trace from the request through every service to the end of the turn', () => {
      expect(rootsOf(spans).map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([[TRIGGER, '']]);
      expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(SERVICES));
      for (const [service, method] of [
        ['deployments', 'Trigger'],
        ['sessions', 'CreateSession'],
      ] as const) {
        const [client, server] = (['client', 'server'] as const).map((kind) =>
          only(spans, rpc(service, method), kind),
        );
        expect(server).toMatchObject({ service, parentSpanId: client?.spanId, failed: false });
      }
      expect(only(spans, rpc('sessions', 'CreateSession'), 'client').service).toBe('deployments');
    });

    it('follow the HTTP conventions of OpenTelemetry', () => {
      expect(only(spans, TRIGGER)).toMatchObject({
        kind: 'server',
        service: 'edge',
        failed: false,
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/api/v1/deployments/:deployment_id/trigger',
          'http.response.status_code': 200,
          'url.path': `/api/v1/deployments/${webhook.id}/trigger`,
          'client.address': '127.0.0.1',
          'ahs.request_id': expect.stringMatching(/^req_/),
          'ahs.session_id': session,
        },
      });
    });

    it("link to the sender's trace without joining it", () => {
      expect(only(spans, TRIGGER).links).toEqual([SENDER]);
      expect(collector.of(SENDER.traceId)).toEqual([]);
    });

    it('link the grouped statement and its batch to each other', async () => {
      const member = only(spans, 'sessions.creations');
      expect(member.parentSpanId).toBe(only(spans, rpc('sessions', 'CreateSession'), 'server').spanId);
      expect(member.attributes).toMatchObject({
        'db.system.name': 'postgresql',
        'db.operation.batch.size': 1,
      });
      const batch = await until('the batch has arrived', () =>
        collector.spans.find(({ spanId }) => spanId === member.links[0]?.spanId),
      );
      expect(batch).toMatchObject({
        name: 'sessions.creations batch',
        parentSpanId: '',
        service: 'sessions',
      });
      expect(batch.traceId).not.toBe(member.traceId);
      expect(batch.links).toContainEqual({ traceId: member.traceId, spanId: member.spanId });
      expect(collector.of(batch.traceId).map(({ name }) => name)).toContain('sessions.create');
    });

    it('contain the turn with its model step and its reports', () => {
      const turn = only(spans, TURN);
      expect(turn).toMatchObject({
        kind: 'internal',
        service: 'runner',
        parentSpanId: only(spans, rpc('sessions', 'CreateSession'), 'server').spanId,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.id': agent,
          'gen_ai.agent.name': 'Echo',
          'gen_ai.conversation.id': session,
          'gen_ai.provider.name': 'rehearsal',
          'gen_ai.request.model': 'echo',
          'ahs.session_id': session,
          'ahs.attempt': 1,
        },
        failed: false,
      });
      expect(only(spans, 'chat echo')).toMatchObject({
        kind: 'client',
        parentSpanId: turn.spanId,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'rehearsal',
          'gen_ai.request.model': 'echo',
          'gen_ai.usage.output_tokens': expect.any(Number),
          'gen_ai.response.finish_reasons': ['stop'],
          'gen_ai.response.time_to_first_chunk': expect.any(Number),
        },
      });
      const written = named(spans, 'sessions.reports');
      expect(written.length).toBeGreaterThan(0);
      for (const one of written)
        expect(one).toMatchObject({ service: 'sessions', parentSpanId: turn.spanId });
    });

    it('link to the claim of the turn, which links back, and to its last report', async () => {
      const turn = only(spans, TURN);
      const claim = await until('the claim has arrived', () =>
        collector.spans.find(({ spanId }) => spanId === turn.links[0]?.spanId),
      );
      const { parentSpanId: queuedBy } = turn;
      expect(claim).toMatchObject({ name: 'claim turns', service: 'runner' });
      expect(claim.links).toContainEqual({ traceId: turn.traceId, spanId: queuedBy });
      const report = await until('the report has arrived', () =>
        collector.spans.find(
          ({ name, links }) => name === 'report turns' && links.some(({ spanId }) => spanId === turn.spanId),
        ),
      );
      expect(report.parentSpanId).toBe('');
    });

    it('last as long as the child spans that they wait for', () => {
      const root = only(spans, TRIGGER);
      const create = only(spans, rpc('sessions', 'CreateSession'), 'server');
      const slack = 5_000_000n;
      expect(create.startedAt).toBeGreaterThanOrEqual(root.startedAt - slack);
      expect(create.endedAt).toBeLessThanOrEqual(root.endedAt + slack);
    });
  });

  it('carry the release and the resource attributes of the operator', () => {
    for (const { resource } of spans)
      expect(resource).toMatchObject({
        'service.namespace': 'agent-hosting-service',
        'service.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
        'service.instance.id': expect.any(String),
        'deployment.environment.name': 'a test',
      });
    expect(collector.headers['x-token']).toBe(SECRET_HEADER);
  });

  it("continue a client's trace and respect its sampling decision", async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const seen = await api.send('GET', `/agents/${agent}`, undefined, {
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    });
    expect(traceIdOf(seen.headers)).toBe(traceId);
    const spans = await traceOf(seen.headers, 'GET /api/v1/agents/:agent_id', 'agents.by_id');
    expect(rootsOf(spans)).toMatchObject([
      { name: 'GET /api/v1/agents/:agent_id', parentSpanId: 'b7ad6b7169203331' },
    ]);
    const quiet = '1af7651916cd43dd8448eb211c80319c';
    await api.send('GET', `/agents/${agent}`, undefined, { traceparent: `00-${quiet}-b7ad6b7169203331-00` });
    const later = await api.get(`/agents/${agent}`);
    await traceOf(later.headers, 'GET /api/v1/agents/:agent_id', 'agents.by_id');
    expect(collector.of(quiet)).toEqual([]);
  });

  it('contain requests for unknown routes and refusals, which are not errors', async () => {
    const nowhere = await api.get('/nowhere');
    const refused = await api.get('/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
    const [first, second] = await Promise.all([
      traceOf(nowhere.headers, 'GET'),
      traceOf(refused.headers, 'GET /api/v1/sessions/:session_id', 'sessions.by_id'),
    ]);
    expect(rootsOf(first)).toMatchObject([
      { name: 'GET', failed: false, attributes: { 'error.type': 'ROUTE_NOT_FOUND' } },
    ]);
    expect(rootsOf(second)).toMatchObject([
      {
        name: 'GET /api/v1/sessions/:session_id',
        failed: false,
        attributes: { 'error.type': 'SESSION_NOT_FOUND', 'http.response.status_code': 404 },
      },
    ]);
  });

  it('omit probes and metrics requests', async () => {
    await fetch(`${api.origin}/metrics`);
    const later = await api.get('/nowhere');
    await traceOf(later.headers, 'GET');
    expect(collector.spans.filter(({ name }) => /livez|readyz|healthz|metrics/.test(name))).toEqual([]);
  });

  it('contain a followed stream with its full duration', async () => {
    const url = `${api.origin}/api/v1/sessions/${session}/events/stream`;
    const name = 'GET /api/v1/sessions/:session_id/events/stream';
    await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    const stream = await until('the span of the stream has arrived', () => named(collector.spans, name)[0]);
    expect(stream).toMatchObject({
      kind: 'server',
      failed: false,
      attributes: { 'ahs.session_id': session },
    });
  });

  it('contain no message content and no secrets', () => {
    const everything = JSON.stringify(collector.spans, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    const { 'X-WEBHOOK-SIGNATURE': signature } = signed(webhook.secret, MESSAGE);
    for (const secret of [
      MESSAGE,
      webhook.secret,
      signature,
      SECRET_HEADER,
      'a sealing key',
      'service secret',
    ])
      expect(everything).not.toContain(secret);
    expect(everything).not.toMatch(/\b(select|insert|update|delete) /i);
  });
});
