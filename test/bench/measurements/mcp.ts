import { fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { systemClock } from '../../../lib/clock.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { SchemaValidator } from '../../../lib/json-schema/validator.ts';
import { createMcpConnector } from '../../../lib/mcp/open.ts';
import { catalogueText } from '../../../lib/mcp-catalogue/catalogue.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import type { McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { createMcpTools } from '../../../services/runner/tools/mcp/open.ts';
import type { RegisteredTool } from '../../../services/runner/tools/tool.ts';
import { createToolRegistry } from '../../../services/runner/tools/tool.ts';
import { toolboxFactory } from '../../../services/runner/tools/toolbox.ts';
import { createContext } from '../../support/context.ts';
import { type Bench, pause, percentile, type Spread, spreadOf } from '../bench.ts';
import { measureCatalogue } from './mcp-catalogue.ts';

/** Times of remote MCP tools in a runner. */
export interface McpFigures {
  /** Requests to servers while tools are offered. */
  requestsOfOffer: number;
  /** Offering 128 tools of 20 servers, beside writing their definitions as JSON, which each request to a model needs. */
  offer: Spread;
  bareOfferMs: number;
  /** A call, beside a call of one kept client of the SDK without limits. */
  call: Spread;
  bareCallMs: number;
  callCpuMs: number;
  bareCallCpuMs: number;
  /** Event loop delay during checks against a hostile schema, and at rest. */
  delayP99Ms: number;
  restP99Ms: number;
  /** Growth of the memory while the largest hostile catalogue is read, and its bytes. */
  catalogueMib: number;
  catalogueBytes: number;
}

const SERVERS = 20;
const TOOLS = 128;
const TIMES = 200;
const WARM_UPS = 30;
const MIB = 1024 * 1024;
const SERVER = fileURLToPath(new URL('../subjects/mcp-servers.ts', import.meta.url));

/** n": MCP tools in this process; their server is a process of its own. */
export async function measureMcp(bench: Bench): Promise<McpFigures> {
  await using stack = new AsyncDisposableStack();
  const child = fork(SERVER);
  stack.defer(() => void child.kill());
  const [remote] = (await once(child, 'message')) as [{ port: number; url: string }];
  const privateHosts = [{ host: '127.0.0.1', port: remote.port }];
  const outbound = stack.adopt(new OutboundClient({ clock: systemClock, privateHosts }), (one) =>
    one.close(),
  );
  const connect = createMcpConnector(outbound, systemClock);
  const runner = openTools(remote.url, connect);
  stack.defer(() => runner.mcpTools.stop());
  const times = Math.max(20, TIMES * bench.scale);
  const figures = {
    ...(await measureOffer(runner, times)),
    ...(await measureCalls(runner, remote.url, times)),
    ...(await measureDelay(runner)),
    ...(await measureCatalogue()),
  };
  const shown = (ms: number) => `${ms.toFixed(2)} ms`;
  bench.print(
    'n"',
    `offer ${shown(figures.offer.p50Ms)} (definitions as JSON ${shown(figures.bareOfferMs)}), call ` +
      `${shown(figures.call.p50Ms)} and CPU ${shown(figures.callCpuMs)} (bare client ${shown(figures.bareCallMs)}, CPU ` +
      `${shown(figures.bareCallCpuMs)}), delay p99 ${shown(figures.delayP99Ms)} (at rest ${shown(figures.restP99Ms)}), ` +
      `catalogue of ${(figures.catalogueBytes / MIB).toFixed(1)} MiB: ${figures.catalogueMib.toFixed(0)} MiB`,
  );
  return figures;
}

interface ToolsUnderTest {
  mcpTools: ReturnType<typeof createMcpTools>;
  ids: string[];
  connections(): number;
}

/** The tools of 20 servers whose reviews offer 128 tools. The first server has a hostile schema, too. */
function openTools(url: string, connect: ReturnType<typeof createMcpConnector>): ToolsUnderTest {
  const context = createContext('');
  const catalogues = new Map<string, string>();
  let connections = 0;
  const servers = Array.from({ length: SERVERS }, (_, index): McpServerRuntime => {
    const count = Math.floor(TOOLS / SERVERS) + (index < TOOLS % SERVERS ? 1 : 0);
    const names = index === 0 ? ['find', ...toolNames(count - 2), 'hostile'] : toolNames(count);
    const catalogue = catalogueText({ title: '', instructions: 'Use it.', tools: names.map(toolOf) });
    catalogues.set(catalogue.sha256, catalogue.json);
    const rules = names.map((name) => ({ name, offered: true, permission: 'allow', effect: 'once' }));
    return {
      ...{ mcpServerId: `mcp_${index}`, name: `server-${index}`, url, transport: 'streamable_http' },
      ...{ authorization: 'none', timeoutSeconds: 30, enabled: true, trustAnnotations: false },
      ...{ offerInstructions: true, review: 1, catalogueSha256: catalogue.sha256, changedTools: [], rules },
      ...{ offerResources: true, protocolVersion: '', oauth: undefined },
    };
  });
  const agents = {
    lookUpMcpServers: async ({ mcpServerIds = [] as readonly string[] }) => ({
      mcpServers: servers.filter(({ mcpServerId }) => mcpServerIds.includes(mcpServerId)),
    }),
    getCatalogueBody: async ({ sha256 = '' }) => ({ catalogueJson: catalogues.get(sha256) ?? '' }),
    reportCatalogue: async () => ({}),
  };
  const unused = {} as never;
  const { bus, ids, log, metrics, serviceSecret } = context;
  const mcpTools = createMcpTools({
    ...{ agents, vaults: unused, files: unused, bus, ids, log, metrics, clock: systemClock, maxTools: 256 },
    sealer: createPeerSealer('runner', serviceSecret),
    connect: (...options) => {
      connections++;
      return connect(...options);
    },
    isAllowedLink: () => false,
  });
  return { mcpTools, ids: servers.map(({ mcpServerId }) => mcpServerId), connections: () => connections };
}

const toolNames = (count: number) => Array.from({ length: count }, (_, index) => `tool-${index}`);

function toolOf(name: string) {
  const properties = { query: { type: 'string', description: 'Words to find.' }, limit: { type: 'integer' } };
  return {
    ...{ name, title: '', description: 'Finds issues and pull requests that contain words.' },
    input_schema: name === 'hostile' ? hostileSchema() : { type: 'object', properties },
    ...{ output_schema: null, annotations: {} },
  };
}

/** Checks of it take twice as long with each level. */
function hostileSchema() {
  const $defs = Object.fromEntries(
    Array.from({ length: 24 }, (_, level) => [
      `l${level}`,
      level === 23
        ? { type: 'integer' }
        : { anyOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
    ]),
  );
  return { type: 'object', $defs, properties: { value: { $ref: '#/$defs/l0' } } };
}

const trace = { traceId: '1'.repeat(32), spanId: '1'.repeat(16), sampled: false };

async function measureOffer({ mcpTools, ids, connections }: ToolsUnderTest, times: number) {
  await using validator = new SchemaValidator(systemClock);
  const toolbox = toolboxFactory(createToolRegistry(), validator);
  const [offers, bare]: [number[], number[]] = [[], []];
  const before = connections();
  for (let time = -WARM_UPS; time < times; time++) {
    const startedAt = performance.now();
    const offered = await mcpTools.offer(ids, { trace });
    const { definitions } = toolbox([], { serverTools: [...offered.tools, ...offered.resourceTools] });
    const offeredAt = performance.now();
    JSON.stringify(definitions);
    const writtenAt = performance.now();
    await offered.close({ isLeaseLost: false });
    if (time < 0) continue;
    offers.push(offeredAt - startedAt);
    bare.push(writtenAt - offeredAt);
  }
  return {
    requestsOfOffer: connections() - before,
    offer: spreadOf(offers),
    bareOfferMs: percentile(bare, 0.5),
  };
}

/** Calls alternate with those of the bare client, so that a slowdown of the machine affects both. */
async function measureCalls({ mcpTools, ids }: ToolsUnderTest, url: string, times: number) {
  const offered = await mcpTools.offer(ids, { trace });
  const tool = toolNamed(offered.tools, 'mcp__server-0__find');
  const client = new Client({ name: 'bare', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const input = { query: 'words' };
  const turn = {
    lease: { sessionId: 's', turnId: 't', fence: 1 },
    agentId: 'a',
    ownerId: 'u',
    environmentId: '',
    trace,
  };
  const callTool = async (attempt: number) => {
    const { signal } = new AbortController();
    const call = { toolUseId: 'call', attempt, turn, signal, progress: () => {} };
    if ((await tool.inputProblem(input)) !== undefined) throw new Error('the input was refused');
    await tool.run(input, call);
  };
  const measures = [
    { run: () => callTool(1), ms: [] as number[], cpu: [] as number[] },
    {
      run: async () => void (await client.callTool({ name: 'find', arguments: input })),
      ms: [] as number[],
      cpu: [] as number[],
    },
  ];
  for (let time = -WARM_UPS; time < times; time++)
    for (const { run, ms, cpu } of measures) {
      const usage = process.cpuUsage();
      const startedAt = performance.now();
      await run();
      const took = performance.now() - startedAt;
      const { user, system } = process.cpuUsage(usage);
      if (time < 0) continue;
      ms.push(took);
      cpu.push((user + system) / 1_000);
    }
  await client.close();
  await offered.close({ isLeaseLost: false });
  const [ours, bare] = measures;
  return {
    call: spreadOf(ours?.ms ?? []),
    callCpuMs: percentile(ours?.cpu ?? [], 0.5),
    bareCallMs: percentile(bare?.ms ?? [], 0.5),
    bareCallCpuMs: percentile(bare?.cpu ?? [], 0.5),
  };
}

function toolNamed(tools: readonly RegisteredTool[], name: string): RegisteredTool {
  const tool = tools.find((one) => one.name === name);
  if (tool) return tool;
  throw new Error(`the tool ${name} is not offered`);
}

const CHECKS = 20;
const REST_MS = 1_000;

async function measureDelay({ mcpTools, ids }: ToolsUnderTest) {
  const offered = await mcpTools.offer(ids, { trace });
  const tool = toolNamed(offered.tools, 'mcp__server-0__hostile');
  await tool.inputProblem({ value: 'x' });
  const delayDuring = async (work: () => Promise<unknown>) => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await work();
    delay.disable();
    return delay.percentile(99) / 1e6;
  };
  return {
    delayP99Ms: await delayDuring(async () => {
      for (let check = 0; check < CHECKS; check++) await tool.inputProblem({ value: 'x' });
    }),
    restP99Ms: await delayDuring(() => pause(REST_MS)),
  };
}
