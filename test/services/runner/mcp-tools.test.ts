import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { catalogueText } from '../../../lib/mcp-catalogue/catalogue.ts';
import type { AgentRuntime, McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type McpTestServer, startMcpServer, type TestTool } from '../../support/mcp-server.ts';
import { until } from '../../support/wait.ts';
import { type Journal, queuedTurn } from './fake-sessions.ts';
import {
  dataOf,
  openTestRunner,
  outcomeOf,
  type RunnerSettings,
  type RunnerUnderTest,
  script,
} from './runner-fixture.ts';

const SERVER = 'mcp_1';
const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };

interface Fixture extends RunnerUnderTest {
  remote: McpTestServer;
  /** The server as its review offers it. */
  server: McpServerRuntime;
  /** Runs a turn that calls the tool once and ends. Returns its journal. */
  call(name: string, input?: object, runtime?: Partial<AgentRuntime>): Promise<Journal>;
}

interface McpSettings extends RunnerSettings {
  isLegacy?: boolean;
  isStateful?: boolean;
  effect?: string;
  server?: Partial<McpServerRuntime>;
}

describe('tools of MCP servers', () => {
  let stack = new AsyncDisposableStack();
  afterEach(async () => {
    await stack.disposeAsync();
    stack = new AsyncDisposableStack();
  });

  async function open(tools: Record<string, TestTool>, settings: McpSettings = {}): Promise<Fixture> {
    const remote = stack.use(await startMcpServer(tools, settings));
    const fixture = stack.use(await openTestRunner({ ...settings, mcpPorts: [remote.port] }));
    const catalogue = catalogueText({
      ...{ title: '', instructions: 'Search <first>.' },
      tools: Object.entries(tools).map(([name, tool]) => ({
        ...{ name, title: '', description: tool.description ?? '', annotations: {} },
        input_schema: tool.inputSchema ?? { type: 'object' },
        output_schema: tool.outputSchema ?? null,
      })),
    });
    fixture.agents.catalogues.set(catalogue.sha256, catalogue.json);
    const { effect = 'once' } = settings;
    const rules = Object.keys(tools).map((name) => ({ name, offered: true, permission: 'allow', effect }));
    const server: McpServerRuntime = {
      ...{ mcpServerId: SERVER, name: 'example', url: remote.url, transport: 'streamable_http' },
      ...{ authorization: 'none', timeoutSeconds: 30, enabled: true, trustAnnotations: false },
      ...{ offerInstructions: false, review: 3, catalogueSha256: catalogue.sha256, changedTools: [], rules },
      ...{ offerResources: false, protocolVersion: '', oauth: undefined },
      ...settings.server,
    };
    fixture.agents.mcpServers = [server];
    let turns = 0;
    async function call(name: string, input: object = {}, runtime: Partial<AgentRuntime> = {}) {
      const turnId = `trn_${++turns}`;
      const steps = script({ tool: name, input }, { text: 'done' });
      fixture.queueTurns({ ...steps, mcpServers: { ids: [SERVER] }, ...runtime }, queuedTurn(turnId, ''));
      return fixture.waitForOutcome(turnId);
    }
    return Object.assign(fixture, { remote, server, call });
  }

  const resultOf = (journal: Journal) => dataOf<Record<string, unknown>>(journal, 'agent.tool_result')[0];
  const callsOf = ({ remote }: Fixture) => remote.requests.filter((method) => method === 'tools/call').length;

  it.each([
    ['2026-07-28', false],
    ['2025-11-25', true],
  ])('are called with the input of the model at a server of %s', async (_, isLegacy) => {
    const inputs: unknown[] = [];
    const find: TestTool = {
      call: (input) => {
        inputs.push(input);
        return { content: [{ type: 'text', text: 'found it' }] };
      },
    };
    const fixture = await open({ find }, { isLegacy });
    const journal = await fixture.call('mcp__example__find', { query: 'a' });
    expect(resultOf(journal)).toMatchObject({ output: 'found it', is_error: false, mcp_server: 'example' });
    expect(inputs).toEqual([{ query: 'a' }]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('need one request for a call as soon as the protocol of the server is known', async () => {
    const fixture = await open({ find: {} });
    await fixture.call('mcp__example__find');
    await until('the catalogue is compared', () => fixture.agents.reportedCatalogues.length === 1);
    fixture.remote.requests.length = 0;
    await fixture.call('mcp__example__find');
    expect(fixture.remote.requests).toEqual(['tools/call']);
  });

  it('are offered and journaled without a request to the server', async () => {
    const fixture = await open({ find: { description: 'Finds.' }, send: {} });
    const runtime = { ...script({ text: 'done' }), mcpServers: { ids: [SERVER] } };
    fixture.queueTurns(runtime, queuedTurn('trn_a', ''));
    expect(dataOf(await fixture.waitForOutcome('trn_a'), 'agent.tools_offered')).toMatchObject([
      {
        tools: [
          { name: 'mcp__example__find', server: 'example', review: 3 },
          { name: 'mcp__example__send', server: 'example', review: 3 },
        ],
      },
    ]);
    expect(fixture.remote.requests).toEqual([]);
  });

  it('are journaled again in a session only when they change, also by a restarted runner', async () => {
    const fixture = await open({ find: {}, send: {} });
    const offered = async (turnId: string) => {
      const runtime = { ...script({ text: 'done' }), mcpServers: { ids: [SERVER] } };
      fixture.queueTurns(runtime, { ...queuedTurn(turnId, ''), sessionId: 'ses_a' });
      const events = dataOf<{ tools: object[] }>(await fixture.waitForOutcome(turnId), 'agent.tools_offered');
      return events.map(({ tools }) => tools.length);
    };
    expect(await offered('trn_a')).toEqual([2]);
    expect(await offered('trn_b')).toEqual([]);
    await fixture.crash();
    expect(await offered('trn_c')).toEqual([]);
    fixture.agents.mcpServers = [{ ...fixture.server, enabled: false }];
    await fixture.crash();
    expect(await offered('trn_d')).toEqual([0]);
    expect(await offered('trn_e')).toEqual([]);
  });

  it('are journaled once in a turn that a restarted runner continues', async () => {
    const rules = [{ name: 'find', offered: true, permission: 'ask', effect: 'once' }];
    const fixture = await open({ find: {} }, { server: { rules } });
    const { openCalls } = await fixture.call('mcp__example__find');
    await fixture.crash();
    fixture.requeue('trn_1', { [openCalls[0]?.toolUseId ?? '']: { decision: 'allow' } });
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(dataOf(journal, 'agent.tools_offered')).toHaveLength(1);
  });

  it.each<[string, Partial<McpServerRuntime>, string]>([
    ['a disabled server', { enabled: false }, 'There is no tool mcp__example__find.'],
    ['a server without a review', { review: 0, rules: [] }, 'There is no tool mcp__example__find.'],
    [
      'a tool that differs from its review',
      { changedTools: ['find'] },
      'The tool has changed since it was reviewed, so it was not called. An administrator must review example.',
    ],
  ])('of %s are not called', async (_, server, output) => {
    const fixture = await open({ find: {} }, { server });
    expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ output, is_error: true });
    expect(fixture.remote.requests).toEqual([]);
  });

  it.each([
    ['allow', 'mcp__example__find', 'ask', 'ask'],
    ['allow', 'mcp__example__*', 'deny', 'deny'],
    ['ask', 'mcp__example__find', 'allow', 'ask'],
    ['allow', undefined, undefined, 'allow'],
  ])(
    'have the stricter permission of review (%s) and agent (%s: %s)',
    async (reviewed, entry, given, expected) => {
      const rules = [{ name: 'find', offered: true, permission: reviewed, effect: 'once' }];
      const fixture = await open({ find: {} }, { server: { rules } });
      const tools = entry === undefined ? [] : [{ name: entry, permission: given ?? '' }];
      const journal = await fixture.call('mcp__example__find', {}, { tools });
      expect(dataOf(journal, 'agent.tool_use')[0]).toMatchObject({ evaluated_permission: expected });
      expect(callsOf(fixture)).toBe(expected === 'allow' ? 1 : 0);
    },
  );

  it('refuse input that does not match the reviewed schema, without running its regular expressions', async () => {
    const inputSchema = {
      type: 'object' as const,
      properties: { pattern: { type: 'string', pattern: '^(a+)+$' }, size: { type: 'number' } },
    };
    const fixture = await open({ find: { inputSchema } });
    const journal = await fixture.call('mcp__example__find', { size: 'large' });
    expect(resultOf(journal)).toMatchObject({
      output: expect.stringContaining('The input was refused and the tool was not run: /size'),
    });
    expect(callsOf(fixture)).toBe(0);
    await fixture.call('mcp__example__find', { pattern: `${'a'.repeat(40)}!` });
    expect(callsOf(fixture)).toBe(1);
  });

  it('return errors of the tool, and structured content that has no text', async () => {
    const fixture = await open({
      fail: { call: () => ({ isError: true, content: [{ type: 'text', text: 'no such issue' }] }) },
      list: {
        outputSchema: { type: 'object', properties: { count: { type: 'number' } } },
        call: () => ({ content: [], structuredContent: { count: 'many' } }),
      },
    });
    expect(resultOf(await fixture.call('mcp__example__fail'))).toMatchObject({
      ...{ output: 'no such issue', is_error: true },
    });
    expect(resultOf(await fixture.call('mcp__example__list'))).toMatchObject({
      output: expect.stringMatching(
        /^\{"count":"many"\}\n\[The result does not match the schema of the tool: \/count/,
      ),
    });
  });

  describe('with a credential', () => {
    const authorization = { server: { authorization: 'shared' } };

    it('send the lent headers, and ask for them once in a turn', async () => {
      const fixture = await open({ find: {} }, authorization);
      fixture.remote.authorization = 'Bearer lent';
      fixture.vaults.token = 'lent';
      expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ output: 'find ran' });
      expect(fixture.vaults.lends).toMatchObject([
        { needs: [{ target: { $case: 'mcpServerId', value: SERVER } }] },
      ]);
    });

    it.each([
      [1, false],
      [2, true],
    ])(
      'are lent %i times for two calls of a turn if credentials change between them: %s',
      async (times, change) => {
        const fixture = await open({ find: {} }, authorization);
        fixture.vaults.token = 'lent';
        fixture.remote.tools.find = {
          call: () => {
            if (change) fixture.context.bus.publish('credentials.changed', 'crd_1');
            return { content: [] };
          },
        };
        const find = { tool: 'mcp__example__find', input: {} };
        // The thought begins another step of the model.
        const steps = script(find, { thinking: 'Once more.' }, find, { text: 'done' });
        fixture.queueTurns({ ...steps, mcpServers: { ids: [SERVER] } }, queuedTurn('trn_c', ''));
        await fixture.waitForOutcome('trn_c');
        expect(callsOf(fixture)).toBe(2);
        expect(fixture.vaults.lends).toHaveLength(times);
      },
    );

    it.each([
      ['shared', true],
      ['personal', false],
    ])('of the source %s compare the catalogue: %s', async (source, isCompared) => {
      const fixture = await open({ find: {} }, authorization);
      Object.assign(fixture.vaults, { token: 'lent', source });
      await fixture.call('mcp__example__find');
      if (isCompared)
        await until('the catalogue is compared', () => fixture.agents.reportedCatalogues.length === 1);
      // A comparison begins before the result of the call is journaled.
      else expect(fixture.remote.requests).toEqual(['server/discover', 'tools/call']);
    });

    it.each([
      ['none', []],
      ['scope', ['read', 'write']],
    ])('block the turn when it is missing: %s', async (reason, scopes) => {
      const fixture = await open({ find: {} }, authorization);
      Object.assign(fixture.vaults.missing, { reason, scopes });
      const outcome = outcomeOf(await fixture.call('mcp__example__find'));
      const { asks = [] } = outcome?.$case === 'blocked' ? outcome.value : {};
      expect(asks.map(({ kind, detailsJson = '' }) => [kind, JSON.parse(detailsJson)])).toEqual([
        [
          'authorization',
          {
            ...{ mcp_server_id: SERVER, name: 'example', host: new URL(fixture.remote.url).host },
            ...{ reason, who: 'administrator' },
            ...(scopes.length > 0 && { scopes }),
          },
        ],
      ]);
      expect(fixture.remote.requests).toEqual([]);
    });

    it('send a refused call once more with a newer credential', async () => {
      const fixture = await open({ find: {} }, authorization);
      fixture.remote.authorization = 'Bearer new';
      fixture.vaults.token = 'old';
      fixture.vaults.onRefusal = () => {
        fixture.vaults.token = 'new';
      };
      expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ output: 'find ran' });
      expect(fixture.vaults.refusals).toMatchObject([
        { credentialId: 'crd_1', generation: 1, status: 401, wwwAuthenticate: 'Bearer' },
      ]);
    });

    it.each([
      ['once more with the scopes that the server asks for', 'Bearer error="insufficient_scope"', 'find ran'],
      [
        'once when the server forbids the call for another reason',
        'Bearer error="invalid_request"',
        'The MCP server example failed: The server refused the request with status 403.',
      ],
    ])('are sent %s', async (_, challenge, output) => {
      const fixture = await open({ find: {} }, authorization);
      fixture.remote.authorization = 'Bearer wider';
      fixture.remote.refusal = { status: 403, challenge };
      fixture.vaults.token = 'lent';
      fixture.vaults.onRefusal = () => {
        fixture.vaults.token = 'wider';
      };
      expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ output });
      const reported = { status: 403, wwwAuthenticate: challenge };
      expect(fixture.vaults.refusals).toMatchObject(output === 'find ran' ? [reported] : []);
    });

    it('block the turn when the newer credential is refused, too', async () => {
      const fixture = await open({ find: {} }, authorization);
      fixture.remote.authorization = 'Bearer other';
      fixture.vaults.token = 'lent';
      const outcome = outcomeOf(await fixture.call('mcp__example__find'));
      const { asks = [] } = outcome?.$case === 'blocked' ? outcome.value : {};
      expect(asks.map(({ kind, detailsJson = '' }) => [kind, JSON.parse(detailsJson).reason])).toEqual([
        ['authorization', 'refused'],
      ]);
      expect(fixture.vaults.refusals).toHaveLength(2);
      expect(callsOf(fixture)).toBe(0);
    });

    it('are not dispatched while the vaults service is unavailable', async () => {
      const fixture = await open({ find: {} }, authorization);
      fixture.vaults.failure = refuse('DEPENDENCY_UNAVAILABLE', 'The database is unavailable.');
      const journal = await fixture.call('mcp__example__find');
      expect(outcomeOf(journal)).toMatchObject({ $case: 'retry' });
      expect(dataOf(journal, 'agent.tool_dispatched')).toEqual([]);
    });
  });

  describe('whose server ends the connection during a call', () => {
    /** A tool whose connection is closed by the server at its first call. */
    async function openBroken(effect: string) {
      let calls = 0;
      const remote: { close?: () => void } = {};
      const find: TestTool = {
        call: () => {
          if (++calls === 1) remote.close?.();
          return { content: [{ type: 'text', text: `call ${calls}` }] };
        },
      };
      const fixture = await open({ find }, { effect });
      remote.close = () => fixture.remote.closeConnections();
      return { fixture, calls: () => calls };
    }

    it('wait for a decision if they act once', async () => {
      const { fixture, calls } = await openBroken('once');
      const outcome = outcomeOf(await fixture.call('mcp__example__find'));
      expect(outcome).toMatchObject({ $case: 'blocked', value: { asks: [{ kind: 'outcome_unknown' }] } });
      expect(calls()).toBe(1);
    });

    it.each(['read', 'idempotent'])('are called once more with the effect %s', async (effect) => {
      const { fixture } = await openBroken(effect);
      expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ output: 'call 2' });
    });
  });

  describe('whose runner is killed during a call', () => {
    async function openKilled(effect: string) {
      const reached = Promise.withResolvers<void>();
      const never = new Promise<never>(() => {});
      let calls = 0;
      const find: TestTool = {
        call: () => {
          calls++;
          if (calls > 1) return { content: [{ type: 'text', text: `call ${calls}` }] };
          reached.resolve();
          return never;
        },
      };
      const fixture = await open({ find }, { effect });
      const steps = script({ tool: 'mcp__example__find', input: {} }, { text: 'done' });
      fixture.queueTurns({ ...steps, mcpServers: { ids: [SERVER] } }, queuedTurn('trn_1', ''));
      await reached.promise;
      fixture.sessions.revokeLease('trn_1');
      await fixture.crash();
      fixture.requeue('trn_1');
      return { journal: await fixture.waitForOutcome('trn_1'), calls };
    }

    it('are not sent again without a decision if they act once', async () => {
      const { journal, calls } = await openKilled('once');
      expect(outcomeOf(journal)).toMatchObject({
        ...{ $case: 'blocked', value: { asks: [{ kind: 'outcome_unknown' }] } },
      });
      expect(calls).toBe(1);
    });

    it.each(['read', 'idempotent'])('are sent once more with the effect %s', async (effect) => {
      const { journal, calls } = await openKilled(effect);
      expect(resultOf(journal)).toMatchObject({ output: 'call 2' });
      expect(calls).toBe(2);
    });
  });

  describe('of a server of 2025-11-25 with sessions', () => {
    const find = { tool: 'mcp__example__find', input: {} };
    const methodsOf = ({ remote }: Fixture) =>
      remote.requests.filter((method) => /^(initialize|tools.call|DELETE)$/.test(method));

    /** Runs a turn that calls the tool in two steps of the model. */
    async function callTwice(
      onCall: (fixture: Fixture) => void,
      sessions: number,
      settings: McpSettings = {},
    ) {
      const remote: { fixture?: Fixture } = {};
      const call = () => {
        if (remote.fixture) onCall(remote.fixture);
        return { content: [] };
      };
      const fixture = await open({ find: { call } }, { isLegacy: true, isStateful: true, ...settings });
      fixture.vaults.token = 'lent';
      const deletions = () => fixture.remote.requests.filter((method) => method === 'DELETE').length;
      // The comparison after the first call has a session of its own.
      await fixture.call('mcp__example__find');
      await until('the catalogue is compared', () => deletions() === 2);
      fixture.remote.requests.length = 0;
      remote.fixture = fixture;
      const steps = script(find, { thinking: 'Once more.' }, find, { text: 'done' });
      fixture.queueTurns({ ...steps, mcpServers: { ids: [SERVER] } }, queuedTurn('trn_s', ''));
      expect(outcomeOf(await fixture.waitForOutcome('trn_s'))).toEqual(END_TURN);
      await until('the sessions are ended', () => deletions() === sessions);
      return fixture;
    }

    it('share one session in a turn, which ends with the turn', async () => {
      const fixture = await callTwice(() => {}, 1, { server: { authorization: 'shared' } });
      expect(methodsOf(fixture)).toEqual(['initialize', 'tools/call', 'tools/call', 'DELETE']);
    });

    it('are called once in a new session when the server has forgotten the session', async () => {
      const fixture = await callTwice(({ remote }) => remote.forgetSessions(), 2);
      expect(methodsOf(fixture)).toEqual([
        ...['initialize', 'tools/call', 'tools/call', 'initialize', 'tools/call', 'DELETE', 'DELETE'],
      ]);
    });

    it('end their session when the turn is interrupted', async () => {
      const fixture = await open(
        { find: { call: () => new Promise<never>(() => {}) } },
        { isLegacy: true, isStateful: true },
      );
      const steps = script(find, { text: 'done' });
      fixture.queueTurns({ ...steps, mcpServers: { ids: [SERVER] } }, queuedTurn('trn_i', ''));
      await until('the tool runs', () => callsOf(fixture) === 1);
      fixture.context.bus.publish('turns.interrupted', 'trn_i');
      await until('the session is ended', () => fixture.remote.requests.includes('DELETE'));
    });
  });

  it('store images and the whole of long texts in the workspace', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000', 'hex');
    const fixture = await open({
      draw: {
        call: () => ({ content: [{ type: 'image', data: png.toString('base64'), mimeType: 'image/png' }] }),
      },
      read: { call: () => ({ content: [{ type: 'text', text: 'é'.repeat(200_000) }] }) },
    });
    const drawn = resultOf(await fixture.call('mcp__example__draw'));
    expect(drawn).toMatchObject({
      output: [
        { type: 'text', text: '[image/png in .outputs/call_1_1-1.png]' },
        { type: 'image', media_type: 'image/png', name: 'call_1_1-1.png', size: png.length },
      ],
    });
    const read = resultOf(await fixture.call('mcp__example__read'));
    expect(read?.output).toMatch(/\[The whole result is in \.outputs\/call_1_1\.json\.\]$/);
    expect(Buffer.byteLength(JSON.stringify(read?.output))).toBeLessThan(256 * 1024);
  });

  describe('for resources', () => {
    const offersResources = { server: { offerResources: true } };
    const allowed = {
      tools: ['mcp_list_resources', 'mcp_read_resource'].map((name) => ({ name, permission: 'allow' })),
    };
    const png = Buffer.from('89504e470d0a1a0a0000', 'hex').toString('base64');

    async function openWithResources(settings: McpSettings = offersResources) {
      const fixture = await open({ find: {} }, settings);
      fixture.remote.resources['doc://rules'] = { mimeType: 'text/plain', text: 'Be brief.' };
      fixture.remote.resources['doc://image'] = { mimeType: 'image/png', blob: png };
      return fixture;
    }

    it.each([
      ['2026-07-28', false],
      ['2025-11-25', true],
    ])('list and read those of a server of %s', async (_, isLegacy) => {
      const fixture = await openWithResources({ ...offersResources, isLegacy });
      const listed = resultOf(await fixture.call('mcp_list_resources', { server: 'example' }, allowed));
      expect(JSON.parse(String(listed?.output))).toEqual({
        resources: [
          { uri: 'doc://rules', name: 'rules', mimeType: 'text/plain' },
          { uri: 'doc://image', name: 'image', mimeType: 'image/png' },
        ],
        resourceTemplates: [],
      });
      const read = (uri: string) => fixture.call('mcp_read_resource', { server: 'example', uri }, allowed);
      expect(resultOf(await read('doc://rules'))).toMatchObject({
        ...{ output: 'Resource doc://rules:\nBe brief.', is_error: false, mcp_server: 'example' },
      });
      expect(resultOf(await read('doc://image'))).toMatchObject({
        output: [
          { text: '[image/png in .outputs/call_1_1-1.png]' },
          { type: 'image', media_type: 'image/png' },
        ],
      });
      expect(resultOf(await read('doc://none'))).toMatchObject({ is_error: true });
    });

    it('need an approval unless the agent allows them, and name only servers that offer resources', async () => {
      const fixture = await openWithResources();
      const journal = await fixture.call('mcp_read_resource', { server: 'example', uri: 'doc://rules' });
      expect(dataOf(journal, 'agent.tool_use')[0]).toMatchObject({ evaluated_permission: 'ask' });
      expect(dataOf(journal, 'agent.tools_offered')[0]).toMatchObject({
        tools: ['mcp__example__find', 'mcp_list_resources', 'mcp_read_resource'].map((name) => ({
          ...{ name, server: 'example', review: 3 },
        })),
      });
      const other = await fixture.call('mcp_list_resources', { server: 'other' }, allowed);
      expect(resultOf(other)).toMatchObject({ output: expect.stringContaining('/server') });
      expect(fixture.remote.requests).toEqual([]);
    });

    it('do not exist without a review that offers resources', async () => {
      const fixture = await openWithResources({});
      const journal = await fixture.call('mcp_list_resources', { server: 'example' }, allowed);
      expect(resultOf(journal)).toMatchObject({ output: 'There is no tool mcp_list_resources.' });
    });

    it('block the turn without a credential', async () => {
      const fixture = await openWithResources({ server: { offerResources: true, authorization: 'shared' } });
      const outcome = outcomeOf(await fixture.call('mcp_list_resources', { server: 'example' }, allowed));
      expect(outcome).toMatchObject({ $case: 'blocked', value: { asks: [{ kind: 'authorization' }] } });
      expect(fixture.remote.requests).toEqual([]);
    });
  });

  describe('whose server asks for input', () => {
    const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const request = (params: object) => ({ method: 'elicitation/create', params });

    /** A tool that asks for each of these requests, and then returns the responses. */
    const asking = (...params: object[]): TestTool => ({
      call: (_, { mcpReq }) => {
        const { inputResponses } = mcpReq as { inputResponses?: object };
        if (inputResponses) return { content: [{ type: 'text', text: JSON.stringify(inputResponses) }] };
        const inputRequests = Object.fromEntries(params.map((one, index) => [`r${index}`, request(one)]));
        return { resultType: 'input_required', inputRequests, requestState: 'opaque' } as never;
      },
    });
    const asksOf = (journal: Journal) => {
      const outcome = outcomeOf(journal);
      return outcome?.$case === 'blocked' ? outcome.value.asks : [];
    };

    it('block the turn, and continue with the content of the form', async () => {
      const fixture = await open({ find: asking({ message: 'Who?', requestedSchema: form }) });
      const [ask] = asksOf(await fixture.call('mcp__example__find'));
      expect(ask?.kind).toBe('input');
      expect(JSON.parse(ask?.detailsJson ?? '')).toEqual({
        ...{ mcp_server_id: SERVER, name: 'example', message: 'Who?', form },
      });
      const decision = {
        ...{
          kind: 'input',
          decision: 'accept',
          inputJson: ask?.inputJson ?? '',
          edited: false,
          dispatches: 1,
        },
        ...{ contentJson: '{"name":"Ada"}', state: ask?.state },
      };
      fixture.requeue('trn_1', { call_1_1: decision });
      const journal = await fixture.waitForOutcome('trn_1', 2);
      expect(resultOf(journal)).toMatchObject({
        output: JSON.stringify({ r0: { action: 'accept', content: { name: 'Ada' } } }),
      });
    });

    it.each([
      [
        { message: '', requestedSchema: { type: 'object', properties: { api_key: { type: 'string' } } } },
        'secret',
      ],
      [{ mode: 'url', message: '', url: 'http://example.com/', elicitationId: '1' }, 'not https'],
    ])('are declined without a person for %j', async (params, reason) => {
      const fixture = await open({ find: asking(params) });
      const result = resultOf(await fixture.call('mcp__example__find'));
      expect(result).toMatchObject({ output: expect.stringContaining('{"r0":{"action":"decline"}}') });
      expect(result).toMatchObject({ output: expect.stringContaining(reason) });
    });

    it('show the whole link of a request', async () => {
      const url = 'https://login.example.com/authorize?a=1';
      const fixture = await open({
        find: asking({ mode: 'url', message: 'Log in', url, elicitationId: '1' }),
      });
      const [ask] = asksOf(await fixture.call('mcp__example__find'));
      expect(JSON.parse(ask?.detailsJson ?? '')).toMatchObject({ message: 'Log in', url });
    });
  });

  it('fail at once after five failures, and are tried again after 30 seconds', async () => {
    const fixture = await open({ find: {} });
    const { url } = fixture.server;
    fixture.server.url = 'http://127.0.0.1:9/mcp';
    for (let count = 0; count < 5; count++)
      expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ is_error: true });
    fixture.server.url = url;
    fixture.context.bus.publish('extensions.changed', SERVER);
    expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({
      output: 'The MCP server example has failed repeatedly. It is not called now; try again later.',
    });
    fixture.clock.advance(30_000);
    expect(resultOf(await fixture.call('mcp__example__find'))).toMatchObject({ output: 'find ran' });
  });
});
