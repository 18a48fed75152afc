/**
 * A runner process whose tool `read_log` returns long outputs, and which kills itself at a point of a compaction. It reports
 * each claim and each read history to its parent. Its first argument is a LongRunnerConfig as JSON.
 */
import { Type } from 'typebox';
import { systemClock } from '../../../lib/clock.ts';
import { openChannel } from '../../../lib/grpc/channel.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Contract } from '../../../lib/grpc/contract.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { type Event, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openRunner, type RunnerClients } from '../../../services/runner/service.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { NO_KEYS } from '../../support/no-keys.ts';
import { compatible } from '../../support/providers/compatible.ts';
import type { CompactionPoint } from './compaction-points.ts';

export interface LongRunnerConfig {
  address: string;
  providerUrl: string;
  point?: CompactionPoint;
}

/** What a runner process tells its parent. Times are milliseconds of the machine's clock. */
export type RunnerMessage = { claimedAt: number; events: number; bytes: number };

const runnerConfig = JSON.parse(process.argv[2] ?? '') as LongRunnerConfig;

function hit(point: CompactionPoint): void {
  if (point === runnerConfig.point) process.kill(process.pid, 'SIGKILL');
}

const input = Type.Object({ label: Type.String(), bytes: Type.Integer() });
const readLog: Tool<typeof input> = {
  name: 'read_log',
  kind: { effect: 'read', permission: 'allow', about: 'Reads a log.' },
  input,
  run: async ({ label, bytes }) => `${label} ${'lorem ipsum '.repeat(Math.ceil(bytes / 12)).slice(0, bytes)}`,
};

const context = createContext('');
// Killed runners and busy machines make warnings.
context.log.level = 'error';
const channel = openChannel(runnerConfig.address, { clock: systemClock });
const clientOf = <C extends Contract>(contract: C) =>
  createClient({
    ...{ contract, self: 'runner', secret: context.serviceSecret, clock: context.clock },
    transport: channel.transport(contract),
  });
const sessions = clientOf(SessionsServiceDefinition);
const files = clientOf(FilesServiceDefinition);

const NO_MODEL_KEYS = { listModelKeyUsers: async () => ({ users: [], isComplete: true }) };
const bytesOf = (events: readonly Event[]) => events.reduce((sum, { json }) => sum + json.length, 0);
const tell = (message: RunnerMessage) => process.send?.(message);
let claimed: RunnerMessage | undefined;

const clients: RunnerClients = {
  agents: clientOf(AgentsServiceDefinition),
  vaults: fakeService(VaultsServiceDefinition, NO_MODEL_KEYS, 'runner', context),
  sessions: {
    ...sessions,
    async claimTurns(request, options) {
      const answer = await sessions.claimTurns(request, options);
      const [turn] = answer.turns;
      if (turn) {
        const claimedAt = performance.timeOrigin + performance.now();
        claimed = { claimedAt, events: turn.messages.length, bytes: bytesOf(turn.messages) };
        if (!turn.messagesIncomplete) tell(claimed);
      }
      return answer;
    },
    async listMessages(request, options) {
      const answer = await sessions.listMessages(request, options);
      if (claimed) {
        claimed.events += answer.events.length;
        claimed.bytes += bytesOf(answer.events);
        if (!answer.page?.nextCursor) tell(claimed);
      }
      return answer;
    },
    async reportTurns(request, options) {
      const types = request.reports.flatMap(({ events }) => events.map(({ type }) => type));
      const isCompacted = types.includes('agent.context_compacted');
      if (isCompacted) hit('before the event');
      const answer = await sessions.reportTurns(request, options);
      if (isCompacted) hit('after the event');
      return answer;
    },
  },
  files: {
    ...files,
    async writeContents(request, options) {
      hit('before the files are written');
      return files.writeContents(request, options);
    },
    async changeWorkspace(request, options) {
      const answer = await files.changeWorkspace(request, options);
      hit('after the files are moved');
      return answer;
    },
  },
};
const config = {
  ...{ slots: 4, reportIntervalMs: 25, unfollowedReportIntervalMs: 500 },
  ...{ stepTimeoutSeconds: 60, toolTimeoutSeconds: 60, maxSandboxes: 1, drainMs: 0, mcpMaxTools: 256 },
  ...NO_KEYS,
  ...compatible.settings(runnerConfig.providerUrl),
};
await openRunner(context, config, clients, { tools: [readLog as Tool] });
// Hints do not reach this process, so it polls for turns.
setInterval(() => context.bus.publish('turns.ready', ''), 20);
process.once('disconnect', () => process.exit(1));
