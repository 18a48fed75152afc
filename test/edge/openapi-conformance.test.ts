import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skillZip } from '../services/agents/skills/archives.ts';
import { type Api, createApi } from '../support/api.ts';
import { createChannelClient } from '../support/channel-client.ts';
import { type McpTestServer, startMcpServer } from '../support/mcp-server.ts';
import { exchange } from '../support/raw-http.ts';
import { runOn } from '../support/sql.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import {
  bodyOf,
  type Document,
  misfits,
  newName,
  type Operation,
  OTHER_USER,
  operationsOf,
  queryOf,
  resolved,
  undocumentedHeaders,
} from './document.ts';
import { expectRefusal, expectSuccess, type ReceivedResponse, readResponse } from './envelope.ts';
import { exampleOf } from './example.ts';

const NOWHERE = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
/** Operations whose responses are not JSON. */
const NON_JSON = [
  ...['streamEvents', 'exportSession', 'streamTurn', 'resumeTurnStream', 'reconnectTurnStream'],
  // Login redirects, which do not exist in local mode.
  ...['beginLogin', 'finishLogin'],
  ...['getSessionFileContent', 'getSessionFileArchive', 'getAssistantFileContent', 'getAssistantFileArchive'],
  'getSessionPart',
  'getSkillFileContent',
  // A redirect, and a document without envelope (test/edge/connections.test.ts).
  ...['finishConnection', 'getClientMetadata'],
];
/** Their bodies are archives (test/edge/skills.test.ts). */
const ARCHIVES = ['createSkill', 'createSkillVersion'];
/** Parameters that are no ids: the chat id of AI SDK, the digest of a part, the number of a version and the code of a link. */
const FREE = ['chat_id', 'sha256', 'version', 'code'];
const TRIGGER = 'triggerDeployment';
/** Their requests are signed. */
const SIGNED = [TRIGGER, 'receiveCallback', 'pullPosts'];
const OF_SCHEDULES = [
  ...['updateDeployment', 'listUpcomingTimes', 'runSchedule', 'listRuns', 'getRun', 'replayRun', 'cancelRun'],
  ...['createBackfill', 'listBackfills', 'getBackfill', 'deleteBackfill'],
];
const OF_CHANNELS = [
  ...['probeChannel', 'getChannelSetup', 'listDeliveries', 'listChannelConversations', 'listPosts'],
  ...['resendPost', 'listChannelLinks', 'deleteChannelLink'],
];
const ASK = { tool: 'calculator', input: { expression: '6 * 7' } };
const LOCATE = {
  type: 'client',
  name: 'get_location',
  description: 'Locates the device.',
  input_schema: { type: 'object' },
};
const CALLS = [{ tool: LOCATE.name }, ASK];
/** The body of the example in the document. */
const RESULT = { tool_use_id: 'call_1_1', output: { latitude: 52.52, longitude: 13.41 } };
const GOOD = [...CALLS, { text: 'Hello' }];
const BAD = [...CALLS, { text: 'Hel' }, { error: { kind: 'bad_request' } }];

let remote: McpTestServer;

describe('every operation of /openapi.json', () => {
  let system: System;
  let api: Api;
  let document: Document;
  let operations: Operation[];
  /** Ids of existing objects by parameter name. */
  const existing: Record<string, string> = {};

  beforeAll(async () => {
    remote = await startMcpServer({ find: { description: 'Finds.' } });
    system = await startSystem({ SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${remote.port}` });
    api = createApi(system.url);
    document = (await (await fetch(`${system.url}/openapi.json`)).json()) as Document;
    // Protocols have shapes of their own (test/edge/protocols).
    operations = operationsOf(document).filter(({ tags }) => !tags.includes('Protocols'));
    Object.assign(existing, await createObjects(api, GOOD), { user_id: await addUser(system.databaseUrl) });
  });
  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    await remote[Symbol.asyncDispose]();
  });

  const fill = (path: string, ids: Record<string, string>) =>
    system.url + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? ''));
  /** The schedule or the channel instead of the webhook, where only these succeed. */
  function idsFor({ operationId }: Operation, ids: Record<string, string>) {
    if (ids.deployment_id !== existing.deployment_id) return ids;
    if (OF_SCHEDULES.includes(operationId)) return { ...ids, deployment_id: existing.schedule_id ?? '' };
    return OF_CHANNELS.includes(operationId) ? { ...ids, deployment_id: existing.channel_id ?? '' } : ids;
  }
  /** The ids of objects that one operation alone uses. */
  const ownIds = ({ operationId }: Operation) =>
    Object.fromEntries(
      Object.entries(existing).flatMap(([name, id]) => {
        const [operation, parameter = ''] = name.split(':');
        return operation === operationId && parameter ? [[parameter, id]] : [];
      }),
    );
  const urlOf = (operation: Operation, ids: Record<string, string>) =>
    fill(operation.path, idsFor(operation, ids)) + queryOf(operation);
  const send = async (
    operation: Operation,
    url: string,
    init: RequestInit = {},
  ): Promise<ReceivedResponse> => {
    const { method } = operation;
    const response = await fetch(url, { method, ...init });
    const context = `${operation.operationId} ${response.status}`;
    expect(undocumentedHeaders(operation, response.status, response.headers), context).toEqual([]);
    if (!response.headers.get('content-type')?.startsWith('application/json')) {
      await response.body?.cancel();
      return { status: response.status, headers: response.headers, text: '' };
    }
    return readResponse(response);
  };

  /** Checks that hold for the response to any request. */
  function checkResponse(operation: Operation, what: string, response: ReceivedResponse): void {
    const context = `${operation.operationId}, ${what}: ${response.status} ${response.text.slice(0, 300)}`;
    expect(response.status, context).toBeLessThan(500);
    if (response.status < 400) {
      expect(Object.keys(operation.responses), context).toContain(String(response.status));
      return;
    }
    expectRefusal(response);
    expect(operation.errors.get(response.status), context).toContain(JSON.parse(response.text).code);
  }

  it('the document is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('has a unique id, a tag, a summary, error codes and valid examples', () => {
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const operation of operations) {
      const { operationId, tags, summary, requestBody, responses, errors, parameters, path } = operation;
      expect(operationId).toMatch(/^[a-z][a-zA-Z]+$/);
      expect(tags).toHaveLength(1);
      expect(summary).toMatch(/^[A-Z].*[^.]$/);
      expect(errors.size, operationId).toBeGreaterThan(0);
      expect(parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(
        Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name),
      );
      const successes = Object.entries(responses).filter(
        ([status]) => Number(status) < 400 && !['204', '206', '304'].includes(status),
      );
      // Several successes with JSON have the same data.
      const schemas = successes.flatMap(([, { content }]) =>
        content?.['application/json'] ? [JSON.stringify(content['application/json'].schema)] : [],
      );
      expect(new Set(schemas).size, operationId).toBeLessThanOrEqual(1);
      for (const [type, { schema, example }] of successes.flatMap(([, { content = {} }]) =>
        Object.entries(content),
      )) {
        if (type !== 'application/json') expect(example, operationId).toBeDefined();
        else {
          const composed = exampleOf(resolved(document, schema) as object);
          expect(misfits(document, schema, composed), operationId).toEqual([]);
        }
      }
      for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
        expect(example, operationId).toBeDefined();
        if (type === 'application/json') expect(misfits(document, schema, example), operationId).toEqual([]);
      }
    }
  });

  it('returns a documented error for malformed ids in the path', async () => {
    const texts = [
      'x',
      '%',
      '\0',
      '../x',
      'a b',
      '👋',
      "'",
      '"',
      '\\',
      'x'.repeat(200),
      '{agent_id}',
      'null',
      '-1',
    ];
    for (const operation of operations) {
      const names = idsOf(operation);
      await all(
        names.flatMap((name) =>
          [...texts, `usr_${NOWHERE}`, `${existing[name]}x`, existing[name]?.toLowerCase() ?? ''].map(
            (text) => ({
              name,
              text,
            }),
          ),
        ),
        async ({ name, text }) => {
          const response = await send(
            operation,
            urlOf(operation, { ...existing, [name]: text }),
            bodyOf(operation),
          );
          checkResponse(operation, `${name}=${JSON.stringify(text)}`, response);
          // Signed operations also lack the signature.
          expect(response.status, text).toBe(404);
        },
      );
      await all(['%zz', '%ff', 'x'.repeat(2_000)], async (text) => {
        const target = operation.path.replace(/\{\w+\}/g, text);
        if (target === operation.path) return;
        const line = `${operation.method} ${target} HTTP/1.1`;
        const head = [line, `Host: ${new URL(system.url).host}`, 'Connection: close', 'Content-Length: 0'];
        checkResponse(
          operation,
          text.slice(0, 9),
          await exchange(system.url, `${head.join('\r\n')}\r\n\r\n`),
        );
      });
    }
  });

  it('returns a documented 404 code for unknown ids', async () => {
    const absent = Object.fromEntries(
      Object.entries(existing).map(([name, id]) => [name, `${id.slice(0, 4)}${NOWHERE}`]),
    );
    for (const operation of operations) {
      const names = idsOf(operation);
      for (const missing of [...names.map((name) => [name]), names]) {
        if (missing.length === 0) continue;
        const ids = { ...existing, ...Object.fromEntries(missing.map((name) => [name, absent[name] ?? ''])) };
        const response = await send(operation, urlOf(operation, ids), bodyOf(operation));
        checkResponse(operation, missing.join(), response);
        const expected = missing.map((name) => `${name.replace('_id', '').toUpperCase()}_NOT_FOUND`);
        const parent = names.includes('deployment_id')
          ? ['DEPLOYMENT_NOT_FOUND', 'NOT_A_SCHEDULE', 'NOT_A_CHANNEL']
          : [];
        expect([...expected, ...parent], `${operation.operationId} ${missing}`).toContain(
          JSON.parse(response.text).code,
        );
      }
    }
  });

  it('returns a documented error for invalid query parameters and headers', async () => {
    const values = ['', '0', '-0', '101', 'abc', '%00', '%zz', '👋', '9'.repeat(30), 'x'.repeat(3_000)];
    for (const operation of operations) {
      const takes = (place: string) =>
        operation.parameters.filter((one) => one.in === place).map((one) => one.name);
      const url = fill(operation.path, idsFor(operation, existing));
      const queries = [
        ...takes('query').flatMap((name) => [...values, `1&${name}=2`].map((value) => `${name}=${value}`)),
        ...['unknown', '__proto__', 'limit[]'].map((name) => `${name}=1`),
      ];
      if (operation.method === 'GET') {
        await all(queries, async (query) =>
          checkResponse(operation, query, await send(operation, `${url}?${query}`)),
        );
      }
      const headers = [...takes('header'), 'Content-Type'].flatMap((name) =>
        ['', '*', '"x"', '\u00e9', '9'.repeat(30)].map((value) => ({
          [name]: value,
        })),
      );
      if (!['DELETE', 'POST'].includes(operation.method) || SIGNED.includes(operation.operationId)) {
        await all(headers, async (header) => {
          const init = bodyOf(operation);
          const headers = { ...init.headers, ...header };
          const response = await send(operation, urlOf(operation, existing), { ...init, headers });
          checkResponse(operation, JSON.stringify(header).slice(0, 60), response);
        });
      }
    }
  });

  it('returns a documented error for malformed and invalid bodies', async () => {
    const texts = [
      '',
      '{',
      '[]',
      'null',
      '0',
      '""',
      '{"a":1,"a":2}',
      '{"__proto__":{}}',
      '\0',
      '\u00ff',
      '{"\\ud800":1}',
    ];
    const odd = [
      null,
      true,
      0,
      -1,
      1e308,
      1.5,
      '',
      '\0',
      '\ud800',
      [],
      [[]],
      {},
      { a: { b: [] } },
      'x'.repeat(70_000),
    ];
    const random = fc.sample(fc.jsonValue(), { numRuns: 10, seed: 1 }).map((value) => JSON.stringify(value));
    for (const operation of operations) {
      const content = operation.requestBody?.content['application/json'];
      if (!content) continue;
      const example = content.example as Record<string, unknown>;
      const names = Object.keys((content.schema as { properties?: object }).properties ?? example);
      // Every member with a third of the values, and every value in a third of the members.
      const bent = [...names, 'unknown'].flatMap((name, turn) =>
        odd
          .filter((_, at) => at % 3 === turn % 3)
          .map((value) => JSON.stringify({ ...example, [name]: value })),
      );
      const url = fill(operation.path, idsFor(operation, existing));
      await all([...texts, ...bent, ...random], async (body) => {
        const headers = { 'Content-Type': 'application/json' };
        checkResponse(operation, body.slice(0, 100), await send(operation, url, { body, headers }));
      });
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1']) {
        const response = await send(operation, url, { body: '{}', headers: { 'Content-Type': type } });
        expectRefusal(response, 'UNSUPPORTED_MEDIA_TYPE');
      }
    }
  });

  it.each([
    ['with', GOOD],
    ['without', BAD],
  ])('returns a response that matches its schema, %s success of the agent', async (_, steps) => {
    Object.assign(existing, await createObjects(api, steps));
    // Deletions run last, children before their parents.
    const order = [
      ...[
        'deleteSessionFile',
        'deleteAssistantFile',
        'terminateSandbox',
        'deleteDeployment',
        'archiveSession',
        'deleteSession',
        'deleteAgent',
      ],
      ...['deleteAssistant', 'deleteEnvironment', 'deleteToken', 'deleteCredential', 'deleteVault'],
      ...['deleteConnection', 'deleteMcpServer', 'deleteSkill'],
    ];
    const sorted = operations.toSorted((a, b) => order.indexOf(a.operationId) - order.indexOf(b.operationId));
    const tested: string[] = [];
    for (const operation of sorted) {
      const { operationId, responses } = operation;
      // These have separate tests: not JSON or signed.
      if ([...NON_JSON, ...ARCHIVES, ...SIGNED, 'readMetrics'].includes(operationId)) continue;
      const ids = { ...existing, ...ownIds(operation) };
      const response = await send(operation, urlOf(operation, ids), bodyWith(operation, ids));
      expect(Object.keys(responses), `${operationId} ${response.text}`).toContain(String(response.status));
      const body = expectSuccess(response);
      const schema = responses[response.status]?.content?.['application/json']?.schema ?? {};
      expect(misfits(document, schema, body), `${operationId} ${response.text.slice(0, 500)}`).toEqual([]);
      if (Array.isArray(body.data)) expect(body.data.length, operationId).toBeGreaterThan(0);
      tested.push(operationId);
    }
    expect(tested.length).toBeGreaterThan(20);
  });

  it('returns the documented status, media type and headers for every response that is not JSON', async () => {
    Object.assign(existing, await createObjects(api, GOOD));
    const downloads = operations.filter(
      ({ operationId }) =>
        NON_JSON.includes(operationId) && !/Login$|Connection$|Metadata$/.test(operationId),
    );
    for (const operation of downloads) {
      const response = await send(operation, urlOf(operation, existing), bodyOf(operation));
      const context = `${operation.operationId} ${response.status}`;
      expect(Object.keys(operation.responses), context).toContain(String(response.status));
      const [type = ''] = response.headers.get('content-type')?.split(';') ?? [];
      const documented = Object.keys(operation.responses[response.status]?.content ?? { '': {} });
      expect([type, '*/*'], context).toEqual(expect.arrayContaining(documented));
    }
  });

  it('streams events and control frames that match the schemas of their types', async () => {
    await createObjects(api, GOOD);
    await createObjects(api, BAD);
    const { body } = await api.get('/sessions?limit=100');
    const { discriminator } = document.components.schemas.Event as { discriminator: Discriminator };
    const schemas: Record<string, string> = {
      ...discriminator.mapping,
      'stream.caught_up': '#/components/schemas/CaughtUpFrame',
    };
    const types = new Set<string>();
    await all(body.data as { session_id: string }[], async ({ session_id: id }) => {
      const url = `${system.url}/api/v1/sessions/${id}/events/stream`;
      for (const { event = '', data = '' } of await readStream(url, isCaughtUp)) {
        const item = JSON.parse(data) as { type: string };
        expect(item.type).toBe(event);
        expect(misfits(document, { $ref: schemas[event] ?? '' }, item), data).toEqual([]);
        types.add(event);
      }
    });
    for (const type of ['session.created', 'user.message', 'agent.message', 'turn.completed', 'turn.failed'])
      expect(types).toContain(type);
    for (const type of ['approval.requested', 'agent.tool_result', 'files.uploaded', 'stream.caught_up'])
      expect(types).toContain(type);
  });
});

/** The body of the example, with ids that exist. */
function bodyWith(operation: Operation, ids: Record<string, string>) {
  const { mcp_server_id, skill_id, catalogue_sha256 } = ids;
  const extensions = { mcp_server_ids: [mcp_server_id], skill_ids: [skill_id] };
  const members: Record<string, object> = {
    reviewMcpCatalogue: { sha256: catalogue_sha256 },
    putAgentExtensions: extensions,
    putAssistantExtensions: extensions,
    beginConnection: { mcp_server_id: ids.connectable_server_id, token: 'valid' },
  };
  const init = bodyOf(operation);
  const given = members[operation.operationId];
  return given ? { ...init, body: JSON.stringify({ ...JSON.parse(init.body ?? '{}'), ...given }) } : init;
}

const isCaughtUp = (frames: Frame[]) => frames.at(-1)?.event === 'stream.caught_up';

interface Discriminator {
  mapping: Record<string, string>;
}

/** The path parameters that are ids. */
function idsOf({ parameters }: Operation): string[] {
  return parameters.filter((one) => one.in === 'path' && !FREE.includes(one.name)).map((one) => one.name);
}

/**
 * Creates one of every object: an agent, a webhook with invocations, a session with an approval, a client call and an ended turn, a
 * session with a queued turn, an assistant with a sandbox, and an unused environment.
 */
async function createObjects(api: Api, steps: object[]): Promise<Record<string, string>> {
  const agent = await api.createAgent({
    model: 'rehearsal/script',
    model_options: { steps },
    tools: [{ name: 'calculator', permission: 'ask' }, LOCATE],
    budget: { max_turn_seconds: 60 },
    metadata: { a: 'b' },
  });
  const webhook = await api.createWebhook(agent, { prompt_prefix: 'Look:' });
  const called = await api.trigger(webhook, 'called');
  await api.trigger(webhook, 'unsigned', {});
  const session = String(called.body.data.session_id);
  const approvals = `/sessions/${session}/approvals`;
  const approval = await until('the approval is pending', async () => {
    const { body } = await api.get(approvals);
    return (body.data as { approval_id: string }[])[0]?.approval_id;
  });
  // Repeating a decision or a result returns the first one.
  await api.post(`/sessions/${session}/tool-results`, RESULT);
  await api.post(`${approvals}/${approval}`, { decision: 'allow' });
  const turn = await until('the turn has ended', async () => {
    const { body } = await api.get(`/sessions/${session}/turns`);
    const [first] = body.data as { turn_id: string; finished_at: string | null }[];
    return first?.finished_at ? first : undefined;
  });
  const deployments = `/admin/agents/${agent}/deployments`;
  const schedule = await api.post(deployments, {
    type: 'schedule',
    name: 'Report',
    prompt: 'Report on {{date}}.',
    cron: '0 9 * * *',
  });
  const scheduled = `${deployments}/${schedule.body.data.deployment_id}`;
  const run = await api.post(`${scheduled}/run`);
  const backfill = await api.post(`${scheduled}/backfills`, {
    from: '2026-01-01T00:00:00Z',
    until: '2026-01-02T00:00:00Z',
  });
  const invocations = `/admin/agents/${agent}/deployments/${webhook.id}/invocations`;
  await until('the refusal is logged', async () => (await api.get(invocations)).body.data.length === 2);
  const helper = await api.post('/assistants', { name: 'Helper', model: 'rehearsal/shell' });
  const assistant = String(helper.body.data.assistant_id);
  const conversation = await api.post(`/assistants/${assistant}/conversations`, {
    message: '$ date > now.txt',
  });
  const sandbox = await until('a command has run', async () => {
    const { body } = await api.get(`/sessions/${conversation.body.data.session_id}`);
    const { status } = body.data;
    const used = body.data.sandbox as { sandbox_id: string } | null;
    return status === 'idle' && used ? used.sandbox_id : undefined;
  });
  const idleSession = String(conversation.body.data.session_id);
  const [idleTurn = {}] = (await api.get(`/sessions/${idleSession}/turns`)).body.data as {
    turn_id?: string;
  }[];
  for (const place of [`/sessions/${session}`, `/assistants/${assistant}`]) {
    for (const path of ['notes.md', 'draft.md']) {
      const init = { method: 'PUT', body: '# Notes', headers: { 'Content-Type': 'text/markdown' } };
      await fetch(`${api.origin}/api/v1${place}/files/content?path=${path}`, init);
    }
  }
  const blocked = await api.post(`/agents/${agent}/conversations`, { message: 'Ask first' });
  const blockedSession = String(blocked.body.data.session_id);
  await until('another approval is pending', async () => {
    const { body } = await api.get(`/sessions/${blockedSession}/approvals`);
    return body.data.length > 0;
  });
  const queued = await api.post(`/sessions/${blockedSession}/messages`, { content: 'Then this' });
  const environment = await api.post('/admin/environments', { name: newName() });
  const vault = await api.post('/admin/vaults', { name: newName() });
  const credentials = `/admin/vaults/${vault.body.data.vault_id}/credentials`;
  const credential = await api.post(credentials, {
    type: 'environment_variable',
    name: 'GITHUB_TOKEN',
    value: 'a secret that is long enough',
    allowed_hosts: ['api.github.com'],
  });
  const rotation = await api.post('/admin/vaults/rotate');
  const server = { name: newName(), url: remote.url, transport: 'streamable_http' };
  const mcpServer = String((await api.post('/admin/mcp-servers', server)).body.data.mcp_server_id);
  const probe = await api.post(`/admin/mcp-servers/${mcpServer}/probe`);
  const { sha256: catalogue } = probe.body.data.catalogue as { sha256: string };
  const tools = [{ name: 'find', offered: true, permission: 'ask', effect: 'read' }];
  await fetch(`${api.origin}/api/v1/admin/mcp-servers/${mcpServer}/catalogue`, {
    method: 'PUT',
    body: JSON.stringify({ sha256: catalogue, tools }),
    headers: { 'Content-Type': 'application/json' },
  });
  const connectable = await api.post('/admin/mcp-servers', {
    ...server,
    name: newName(),
    authorization: 'any',
  });
  const connectableServer = String(connectable.body.data.mcp_server_id);
  const connected = await api.post('/auth/connections', { mcp_server_id: connectableServer, token: 'valid' });
  const { connection_id: connection } = connected.body.data.connection as { connection_id: string };
  const published = await fetch(`${api.origin}/api/v1/admin/skills`, {
    method: 'POST',
    body: new Uint8Array(skillZip(newName(), { 'notes.md': 'Notes.' })),
    headers: { 'Content-Type': 'application/zip' },
  });
  const { data: skill } = (await published.json()) as { data: { skill_id: string } };
  const token = await api.post('/auth/tokens', { name: 'Walk', scopes: ['read'] });
  return {
    agent_id: agent,
    assistant_id: assistant,
    sandbox_id: sandbox,
    environment_id: String(environment.body.data.environment_id),
    vault_id: String(vault.body.data.vault_id),
    credential_id: String(credential.body.data.credential_id),
    rotation_id: String(rotation.body.data.rotation_id),
    mcp_server_id: mcpServer,
    connectable_server_id: connectableServer,
    connection_id: connection,
    skill_id: skill.skill_id,
    version: '1',
    catalogue_sha256: catalogue,
    token_id: String(token.body.data.token_id),
    session_id: session,
    turn_id: turn.turn_id,
    // Operations that need a turn in another state than that of `turn_id`.
    'cancelTurn:session_id': blockedSession,
    'cancelTurn:turn_id': String(queued.body.data.turn_id),
    'regenerateAnswer:session_id': idleSession,
    'regenerateAnswer:turn_id': String(idleTurn.turn_id),
    'compactSession:session_id': idleSession,
    approval_id: approval,
    chat_id: 'a chat',
    sha256: '0'.repeat(64),
    deployment_id: webhook.id,
    schedule_id: String(schedule.body.data.deployment_id),
    run_id: String(run.body.data.run_id),
    backfill_id: String(backfill.body.data.backfill_id),
    ...(await createChannel(api, deployments)),
  };
}

/** Creates a channel to which three people have written, and two of them are linked. */
async function createChannel(api: Api, deployments: string): Promise<Record<string, string>> {
  const { body } = await api.post(deployments, { type: 'channel', provider: 'http', name: 'Support' });
  const channel = String(body.data.deployment_id);
  const client = createChannelClient(api.origin, channel, String(body.data.shared_secret));
  for (const user of ['u1', 'u2', 'u3']) await client.sendMessage(`room of ${user}`, user, 'Hello', user);
  const posts = await until('everyone has a link', async () => {
    const pulled = await client.pull();
    return pulled.posts.length === 3 ? pulled.posts : undefined;
  });
  const [first = '', second = '', third = ''] = posts.map(({ text }) => text.split('/link/')[1] ?? '');
  const link = async (code: string) => String((await api.post(`/auth/link-codes/${code}`)).body.data.link_id);
  const linkId = await link(first);
  const { conversation = '', post_id: postId = '' } = posts[0] ?? {};
  await client.sendMessage(conversation, 'again', 'Hello', conversation.slice('room of '.length));
  await until('a linked person has written', async () => {
    const { body: links } = await api.get(`${deployments}/${channel}/links`);
    return links.data.length > 0;
  });
  return {
    channel_id: channel,
    post_id: postId,
    link_id: linkId,
    'deleteLink:link_id': await link(second),
    code: third,
  };
}

/** Inserts a user of an identity provider. */
async function addUser(databaseUrl: string): Promise<string> {
  await runOn(
    databaseUrl,
    `insert into auth.users (user_id, display_name, roles, issuer, subject)
     values ('${OTHER_USER}', 'Ada', '{member}', 'https://login.example.com', 'ada')`,
  );
  return OTHER_USER;
}

/** Processes a few items at a time, in any order. */
async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
