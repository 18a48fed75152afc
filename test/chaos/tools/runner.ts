/**
 * A runner process whose tools call the counting server, and which kills or suspends itself at a crash point. Its first
 * argument is a RunnerConfig as JSON.
 */
import { Type } from 'typebox';
import { systemClock } from '../../../lib/clock.ts';
import { openChannel } from '../../../lib/grpc/channel.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { ToolEffect } from '../../../lib/tools.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openRunner } from '../../../services/runner/service.ts';
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
      const body = JSON.stringify({ key, toolUseId, attempt });
      const response = await fetch(counter, { method: 'POST', body, signal });
      // The response head confirms that the call is counted.
      hit('tool is counted');
      const count = await response.text();
      hit('tool is done');
      return count;
    },
  };
}

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
  ...NO_KEYS,
};
await openRunner(context, config, { sessions: withCrashPoints(sessions, hit), agents, files }, { tools });
// Hints do not reach this process, so it polls for turns.
setInterval(() => context.bus.publish('turns.ready', ''), 20);
