/**
 * A runner in a process of its own, with tools that count at a server, that stops at a point: for good, or paused.
 * Told in its first argument, as JSON, where to go.
 */
import { Type } from 'typebox';
import { createClient } from '../../../lib/grpc/client.ts';
import { openChannel } from '../../../lib/grpc/network.ts';
import type { ToolEffect } from '../../../lib/tools.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openRunner } from '../../../services/runner/service.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { NO_KEYS } from '../../support/no-keys.ts';
import { type Point, watched } from './points.ts';

export interface RunnerOrders {
  address: string;
  /** URL of the counting server. */
  counter: string;
  /** Where it stops, the how manyeth time it comes there; nowhere when absent. */
  point?: Point;
  times: number;
  /** SIGKILL when absent. */
  signal?: 'SIGKILL' | 'SIGSTOP';
}

const orders = JSON.parse(process.argv[2] ?? '') as RunnerOrders;
const { counter } = orders;
let passed = 0;

function hit(point: Point): void {
  if (point === orders.point && ++passed === orders.times)
    process.kill(process.pid, orders.signal ?? 'SIGKILL');
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
      // The head is the server's word that it has counted.
      hit('tool is counted');
      const count = await response.text();
      hit('tool is done');
      return count;
    },
  };
}

const context = createContext('');
const channel = openChannel(orders.address);
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
  stepTimeoutSeconds: 60,
  toolTimeoutSeconds: 60,
  mostSandboxes: 1,
  drainMs: 0,
  ...NO_KEYS,
};
await openRunner(context, config, { sessions: watched(sessions, hit), agents, files }, { tools });
// Hints do not reach this process: it looks for itself.
setInterval(() => context.bus.publish('turns.ready', ''), 20);
