import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_DATA, type EventType } from '../../lib/events.ts';
import { type Api, createApi } from '../support/api.ts';
import { exchange } from '../support/raw.ts';
import { runOn } from '../support/sql.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import {
  bodyOf,
  type Document,
  misfits,
  newName,
  type Operation,
  operationsOf,
  queryOf,
} from './document.ts';
import { expectRefusal, expectSuccess, type Seen, see } from './envelope.ts';

const NOWHERE = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
/** Their answers are no JSON. */
const STREAMS = [
  ...['streamEvents', 'exportSession', 'streamTurn', 'resumeTurnStream', 'reconnectTurnStream'],
  // Nor are those of a login, of which there is none in local mode.
  ...['beginLogin', 'finishLogin'],
  ...['getSessionFileContent', 'getSessionFileArchive', 'getAssistantFileContent', 'getAssistantFileArchive'],
];
/** Where AI SDK puts a name of its own, which may be anything. */
const FREE = 'chat_id';
const TRIGGER = 'triggerDeployment';
const ASK = { tool: 'calculator', input: { expression: '6 * 7' } };
const GOOD = [ASK, { text: 'Hello' }];
const BAD = [ASK, { text: 'Hel' }, { error: { kind: 'bad_request' } }];

describe('every operation of /openapi.json', () => {
  let system: System;
  let api: Api;
  let document: Document;
  let operations: Operation[];
  /** Ids of what there is, by the name of the parameter. */
  const there: Record<string, string> = {};

  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    document = (await (await fetch(`${system.url}/openapi.json`)).json()) as Document;
    operations = operationsOf(document);
    Object.assign(there, await furnish(api, GOOD), { user_id: await addUser(system.databaseUrl) });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const fill = (path: string, ids: Record<string, string>) =>
    system.url + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? ''));
  const urlOf = (operation: Operation, ids: Record<string, string>) =>
    fill(operation.path, ids) + queryOf(operation);
  const send = async ({ method }: Operation, url: string, init: RequestInit = {}): Promise<Seen> => {
    const response = await fetch(url, { method, ...init });
    if (!response.headers.get('content-type')?.startsWith('application/json')) {
      await response.body?.cancel();
      return { status: response.status, headers: response.headers, text: '' };
    }
    return see(response);
  };

  /** What must hold however wrong a request is. */
  function judge(operation: Operation, what: string, seen: Seen): void {
    const said = `${operation.operationId}, ${what}: ${seen.status} ${seen.text.slice(0, 300)}`;
    expect(seen.status, said).toBeLessThan(500);
    if (seen.status < 400) {
      expect(Object.keys(operation.responses), said).toContain(String(seen.status));
      return;
    }
    expectRefusal(seen);
    expect(operation.errors.get(seen.status), said).toContain(JSON.parse(seen.text).code);
  }

  it('the document is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('has an id of its own, a tag, a summary, its errors, and examples that fit', () => {
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
      expect(successes, operationId).toHaveLength(1);
      const contents = successes.flatMap(([, { content = {} }]) => Object.entries(content));
      for (const [type, { schema, example }] of [
        ...contents,
        ...Object.entries(requestBody?.content ?? {}),
      ]) {
        expect(example, operationId).toBeDefined();
        if (type === 'application/json') expect(misfits(document, schema, example), operationId).toEqual([]);
      }
    }
  });

  it('refuses texts in the path that are no ids, and never fails', async () => {
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
          [...texts, `usr_${NOWHERE}`, `${there[name]}x`, there[name]?.toLowerCase() ?? ''].map((text) => ({
            name,
            text,
          })),
        ),
        async ({ name, text }) => {
          const seen = await send(operation, urlOf(operation, { ...there, [name]: text }), bodyOf(operation));
          judge(operation, `${name}=${JSON.stringify(text)}`, seen);
          // Where a sender must sign, the signature is missing besides.
          expect(seen.status, text).toBe(404);
        },
      );
      await all(['%zz', '%ff', 'x'.repeat(2_000)], async (text) => {
        const target = operation.path.replace(/\{\w+\}/g, text);
        if (target === operation.path) return;
        const line = `${operation.method} ${target} HTTP/1.1`;
        const head = [line, `Host: ${new URL(system.url).host}`, 'Connection: close', 'Content-Length: 0'];
        judge(operation, text.slice(0, 9), await exchange(system.url, `${head.join('\r\n')}\r\n\r\n`));
      });
    }
  });

  it('answers ids of things that do not exist with the name of what is missing', async () => {
    const absent = Object.fromEntries(
      Object.entries(there).map(([name, id]) => [name, `${id.slice(0, 4)}${NOWHERE}`]),
    );
    for (const operation of operations) {
      const names = idsOf(operation);
      for (const missing of [...names.map((name) => [name]), names]) {
        if (missing.length === 0) continue;
        const ids = { ...there, ...Object.fromEntries(missing.map((name) => [name, absent[name] ?? ''])) };
        const seen = await send(operation, urlOf(operation, ids), bodyOf(operation));
        judge(operation, missing.join(), seen);
        const expected = missing.map((name) => `${name.replace('_id', '').toUpperCase()}_NOT_FOUND`);
        const parent = names.includes('deployment_id') ? ['DEPLOYMENT_NOT_FOUND'] : [];
        expect([...expected, ...parent], `${operation.operationId} ${missing}`).toContain(
          JSON.parse(seen.text).code,
        );
      }
    }
  });

  it('refuses what is wrong in the query and in headers, and never fails', async () => {
    const values = ['', '0', '-0', '101', 'abc', '%00', '%zz', '👋', '9'.repeat(30), 'x'.repeat(3_000)];
    for (const operation of operations) {
      const takes = (place: string) =>
        operation.parameters.filter((one) => one.in === place).map((one) => one.name);
      const url = fill(operation.path, there);
      const queries = [...takes('query'), 'unknown', '__proto__', 'limit[]'].flatMap((name) =>
        [...values, `1&${name}=2`].map((value) => `${name}=${value}`),
      );
      if (operation.method === 'GET') {
        await all(queries, async (query) =>
          judge(operation, query, await send(operation, `${url}?${query}`)),
        );
      }
      const headers = [...takes('header'), 'Content-Type'].flatMap((name) =>
        ['', '*', '"x"', '\u00e9', '9'.repeat(30)].map((value) => ({
          [name]: value,
        })),
      );
      if (!['DELETE', 'POST'].includes(operation.method) || operation.operationId === TRIGGER) {
        await all(headers, async (header) => {
          const init = bodyOf(operation);
          const headers = { ...init.headers, ...header };
          const seen = await send(operation, urlOf(operation, there), { ...init, headers });
          judge(operation, JSON.stringify(header).slice(0, 60), seen);
        });
      }
    }
  });

  it('refuses bodies that are malformed or have another shape, and never fails', async () => {
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
    const random = fc.sample(fc.jsonValue(), { numRuns: 30, seed: 1 }).map((value) => JSON.stringify(value));
    for (const operation of operations) {
      const content = operation.requestBody?.content['application/json'];
      if (!content) continue;
      const example = content.example as Record<string, unknown>;
      const names = Object.keys((content.schema as { properties?: object }).properties ?? example);
      const bent = [...names, 'unknown'].flatMap((name) =>
        odd.map((value) => JSON.stringify({ ...example, [name]: value })),
      );
      const url = fill(operation.path, there);
      await all([...texts, ...bent, ...random], async (body) => {
        const headers = { 'Content-Type': 'application/json' };
        judge(operation, body.slice(0, 100), await send(operation, url, { body, headers }));
      });
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1']) {
        const seen = await send(operation, url, { body: '{}', headers: { 'Content-Type': type } });
        expectRefusal(seen, 'UNSUPPORTED_MEDIA_TYPE');
      }
    }
  });

  it.each([
    ['with', GOOD],
    ['without', BAD],
  ])('answers as its schema says, %s success of the agent', async (_, steps) => {
    Object.assign(there, await furnish(api, steps));
    // What is deleted is deleted last, and what it belongs to after it.
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
      ...['deleteAssistant', 'deleteEnvironment', 'deleteToken'],
    ];
    const sorted = operations.toSorted((a, b) => order.indexOf(a.operationId) - order.indexOf(b.operationId));
    const asked: string[] = [];
    for (const operation of sorted) {
      const { operationId, responses } = operation;
      // They have tests of their own: one is no JSON, one wants a signature, one answers 409 by design.
      if ([...STREAMS, TRIGGER, 'updateDeployment', 'readMetrics'].includes(operationId)) continue;
      const seen = await send(operation, urlOf(operation, there), bodyOf(operation));
      expect(Object.keys(responses), `${operationId} ${seen.text}`).toContain(String(seen.status));
      const body = expectSuccess(seen);
      const schema = responses[seen.status]?.content?.['application/json']?.schema ?? {};
      expect(misfits(document, schema, body), `${operationId} ${seen.text.slice(0, 500)}`).toEqual([]);
      if (Array.isArray(body.data)) expect(body.data.length, operationId).toBeGreaterThan(0);
      asked.push(operationId);
    }
    expect(asked.length).toBeGreaterThan(20);
  });

  it('events have the data that the table says for their type', async () => {
    const types = new Set<string>();
    const sessions = await Promise.all(
      [GOOD, BAD].map(async (steps) => (await furnish(api, steps)).session_id),
    );
    const pages = await Promise.all(sessions.map((one) => api.get(`/sessions/${one}/events?limit=100`)));
    const events = pages.flatMap(({ body }) => body.data as { type: EventType; data: object }[]);
    for (const event of events) {
      types.add(event.type);
      const closed = Compile({ ...EVENT_DATA[event.type], additionalProperties: false });
      expect([...closed.Errors(event.data)], JSON.stringify(event)).toEqual([]);
    }
    for (const type of ['session.created', 'user.message', 'agent.message', 'turn.completed', 'turn.failed'])
      expect(types).toContain(type);
  });
});

/** The parameters of a path that name something. */
function idsOf({ parameters }: Operation): string[] {
  return parameters.filter((one) => one.in === 'path' && one.name !== FREE).map((one) => one.name);
}

/**
 * Something of everything: an agent, a webhook that was called, a session with a turn that has asked and ended, an
 * assistant with a sandbox, an environment that nobody needs.
 */
async function furnish(api: Api, steps: object[]): Promise<Record<string, string>> {
  const agent = await api.createAgent({
    model: 'rehearsal/script',
    model_options: { steps },
    tools: [{ name: 'calculator', permission: 'ask' }],
    budget: { max_turn_seconds: 60 },
    metadata: { a: 'b' },
  });
  const webhook = await api.createWebhook(agent, { prompt_prefix: 'Look:' });
  const called = await api.trigger(webhook, 'called');
  await api.trigger(webhook, 'unsigned', {});
  const session = String(called.body.data.session_id);
  const approvals = `/sessions/${session}/approvals`;
  const approval = await until('somebody is asked', async () => {
    const { body } = await api.get(approvals);
    return (body.data as { approval_id: string }[])[0]?.approval_id;
  });
  // The same decision again is answered as the first one was.
  await api.post(`${approvals}/${approval}`, { decision: 'allow' });
  const turn = await until('the turn has ended', async () => {
    const { body } = await api.get(`/sessions/${session}/turns`);
    const [first] = body.data as { turn_id: string; finished_at: string | null }[];
    return first?.finished_at ? first : undefined;
  });
  const invocations = `/admin/agents/${agent}/deployments/${webhook.id}/invocations`;
  await until('the refusal is logged', async () => (await api.get(invocations)).body.data.length === 2);
  const helper = await api.post('/assistants', { name: 'Helper', model: 'rehearsal/shell' });
  const assistant = String(helper.body.data.assistant_id);
  const talk = await api.post(`/assistants/${assistant}/conversations`, { message: '$ date > now.txt' });
  const sandbox = await until('a command has run', async () => {
    const { body } = await api.get(`/sessions/${talk.body.data.session_id}`);
    const { status } = body.data;
    const used = body.data.sandbox as { sandbox_id: string } | null;
    return status === 'idle' && used ? used.sandbox_id : undefined;
  });
  for (const place of [`/sessions/${session}`, `/assistants/${assistant}`]) {
    for (const path of ['notes.md', 'draft.md']) {
      const init = { method: 'POST', body: '# Notes', headers: { 'Content-Type': 'text/markdown' } };
      await fetch(`${api.origin}/api/v1${place}/files?path=${path}`, init);
    }
  }
  const environment = await api.post('/admin/environments', { name: newName() });
  const token = await api.post('/auth/tokens', { name: 'Walk', scopes: ['read'] });
  return {
    agent_id: agent,
    assistant_id: assistant,
    sandbox_id: sandbox,
    environment_id: String(environment.body.data.environment_id),
    token_id: String(token.body.data.token_id),
    session_id: session,
    turn_id: turn.turn_id,
    approval_id: approval,
    chat_id: 'a chat',
    deployment_id: webhook.id,
  };
}

/** Somebody whom an identity provider knows. */
async function addUser(databaseUrl: string): Promise<string> {
  const id = `usr_${'A'.repeat(26)}`;
  await runOn(
    databaseUrl,
    `insert into auth.users (user_id, display_name, roles, issuer, subject)
     values ('${id}', 'Ada', '{member}', 'https://login.example.com', 'ada')`,
  );
  return id;
}

/** A few at a time, in no order that matters. */
async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
