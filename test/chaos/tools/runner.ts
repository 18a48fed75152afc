/**
 * A runner process whose tools call the counting server, and which kills or suspends itself at a crash point. Its first
 * argument is a RunnerConfig as JSON.
 */
import { Type } from 'typebox';
import { systemClock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import { openChannel } from '../../../lib/grpc/channel.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { ToolEffect } from '../../../lib/tools.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openRunner } from '../../../services/runner/service.ts';
import { InputNeeded } from '../../../services/runner/tool-calls/tool-call.ts';
import { ToolError } from '../../../services/runner/tool-calls/tool-error.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { NO_KEYS } from '../../support/no-keys.ts';
import { type CrashPoint, withCrashPoints } from './crash-points.ts';

export interface RunnerConfig {
  address: string;
  /** URL of the counting server. */
  counter: string;
  /** The crash point, reached for the `times`-th time. Without it the runner does not crash. */
  point?: CrashPoint;
  times: number;
  /** Default: SIGKILL. */
  signal?: 'SIGKILL' | 'SIGSTOP';
}

const runnerConfig = JSON.parse(process.argv[2] ?? '') as RunnerConfig;
const { counter } = runnerConfig;
let passed = 0;

function hit(point: CrashPoint): void {
  if (point === runnerConfig.point && ++passed === runnerConfig.times)
    process.kill(process.pid, runnerConfig.signal ?? 'SIGKILL');
}

const input = Type.Object({ key: Type.String() });

function counting(name: string, effect: ToolEffect, outcomeUnknown?: 'ask' | 'tell'): Tool<typeof input> {
  return {
    name,
    kind: { effect, permission: 'allow', about: 'Counts.' },
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
    input,
    async run({ key }, { toolUseId, attempt, signal }) {
      hit('tool begins');
      return count({ key, toolUseId, attempt }, signal);
    },
  };
}

/** Counts a call at the counting server. */
async function count(call: { key: string; toolUseId: string; attempt: number }, signal: AbortSignal) {
  const response = await fetch(counter, { method: 'POST', body: JSON.stringify(call), signal });
  // The response head confirms that the call is counted.
  hit('tool is counted');
  const counted = await response.text();
  hit('tool is done');
  return counted;
}

const SERVER = { mcp_server_id: 'mcp_1', name: 'Counter', host: 'counter.test' };

/** Has no credential, or cannot tell, at random. */
const connecting: Tool<typeof input> = {
  ...counting('count_connect', 'once', 'ask'),
  server: SERVER,
  async prepare() {
    hit('call is prepared');
    const chance = Math.random();
    if (chance < 0.1) throw refuse('DEPENDENCY_UNAVAILABLE', 'Vaults are unavailable.');
    if (chance > 0.5) return { kind: 'ready' };
    return { kind: 'authorization_needed', details: { ...SERVER, reason: 'not_connected', who: 'you' } };
  },
};

/** Asks a person to open a link, and counts when they have done so. */
const asking: Tool<typeof input> = {
  ...counting('count_input', 'once', 'ask'),
  async run({ key }, { toolUseId, attempt, answer, signal }) {
    hit('tool begins');
    const { host: _, ...server } = SERVER;
    if (!answer)
      return new InputNeeded(
        { ...server, message: 'Open this.', url: 'https://counter.test' },
        Buffer.from(key),
      );
    if (Buffer.from(answer.state).toString() !== key) throw new Error('the state is not that of the request');
    if (answer.decision !== 'accept') throw new ToolError(`The input was answered with ${answer.decision}.`);
    return count({ key, toolUseId, attempt }, signal);
  },
};

const context = createContext('');
const channel = openChannel(runnerConfig.address, { clock: systemClock });
const shared = { self: 'runner', secret: context.serviceSecret, clock: context.clock };
const sessions = createClient({
  ...shared,
  contract: SessionsServiceDefinition,
  transport: channel.transport(SessionsServiceDefinition),
});
const agents = createClient({
  ...shared,
  contract: AgentsServiceDefinition,
  transport: channel.transport(AgentsServiceDefinition),
});
const tools = [
  counting('count_ask', 'once', 'ask') as Tool,
  counting('count_tell', 'once', 'tell') as Tool,
  counting('count_again', 'idempotent') as Tool,
  connecting as Tool,
  asking as Tool,
];
const files = fakeService(FilesServiceDefinition, {}, 'runner', context);
const config = {
  slots: 8,
  reportIntervalMs: 25,
  unfollowedReportIntervalMs: 500,
  stepTimeoutSeconds: 60,
  toolTimeoutSeconds: 60,
  maxSandboxes: 1,
  drainMs: 0,
  mcpMaxTools: 256,
  ...NO_KEYS,
};
const vaults = fakeService(VaultsServiceDefinition, {}, 'runner', context);
const clients = { sessions: withCrashPoints(sessions, hit), agents, files, vaults };
await openRunner(context, config, clients, { tools });
// Hints do not reach this process, so it polls for turns.
setInterval(() => context.bus.publish('turns.ready', ''), 20);
