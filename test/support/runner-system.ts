import { Type } from 'typebox';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import { localTransport } from '../../lib/grpc/local.ts';
import type { Module } from '../../lib/modules.ts';
import type { OpenService } from '../../lib/service.ts';
import type { Permission, ToolEffect } from '../../lib/tools.ts';
import { AgentsServiceDefinition, type Tool as AgentTool } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { type Approval, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openRunner } from '../../services/runner/service.ts';
import type { Tool } from '../../services/runner/tools/tool.ts';
import { openSessions } from '../../services/sessions/service.ts';
import { createFakeAgents } from '../services/runner/fake-agents.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { createContext } from './context.ts';
import { createDatabase } from './database.ts';
import { FakeAuth } from './fake-auth.ts';
import { fakeService } from './fake-service.ts';
import { NO_KEYS } from './no-keys.ts';
import { advanceUntil } from './wait.ts';

export interface ToolRun {
  input: { value: number };
  toolUseId: string;
  attempt: number;
}

/** `sessions` and a runner with the counting tool `count`, in this process, with a manual clock. */
export interface RunnerSystem extends AsyncDisposable {
  databaseUrl: string;
  clock: FakeClock;
  edge: Client<SessionsServiceDefinition>;
  /** A client of `sessions` for another service. */
  clientOf(self: string): Client<SessionsServiceDefinition>;
  /** The runs of the tool, in order. */
  toolRuns: ToolRun[];
  /** Blocks the tool. Returns the function that unblocks it. */
  hold(): () => void;
  /** Creates a session whose agent plays `steps` and has `permission` for the tool `count`. Returns its id. */
  begin(steps: unknown[], permission: Permission, moreTools?: readonly AgentTool[]): Promise<string>;
  /** Advances the clock in small steps until the condition holds. */
  pass(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Advances the clock until the session has this status and `needsAction` value. */
  reaches(sessionId: string, status: string, needsAction?: boolean): Promise<void>;
  pending(sessionId: string): Promise<Approval[]>;
  decide(approval: Approval | undefined, decision: string, more?: object): Promise<Approval | undefined>;
  /** Returns the parsed events of the journal. */
  journal(sessionId: string): Promise<JournalEntry[]>;
  /** Stops the runner without a final report, as a crash does. */
  crash(): Promise<void>;
  /** Stops both services and opens them again on the same database. */
  restart(): Promise<void>;
}

interface JournalEntry {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

export const USER = { userId: 'usr_00000000000000000000000001', roles: ['administrator'] };
const PAGE = { limit: 100, cursor: '' };
export const TTL_SECONDS = 600;

export async function openRunnerSystem(
  effect: ToolEffect = 'once',
  moreTools: readonly Tool[] = [],
): Promise<RunnerSystem> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await createDatabase());
  const clock = createFakeClock();
  const context = createContext(database.url, { clock });
  context.log.level = 'silent';
  const fakeAgents = createFakeAgents(context);
  const toolRuns: ToolRun[] = [];
  let toolBarrier: Promise<void> = Promise.resolve();
  const input = Type.Object({ value: Type.Number() }, { additionalProperties: false });
  const count: Tool<typeof input> = {
    name: 'count',
    kind: { effect, permission: 'ask', about: 'Counts.' },
    input,
    async run(given, { toolUseId, attempt }) {
      toolRuns.push({ input: given, toolUseId, attempt });
      await toolBarrier;
      return `counted ${given.value}`;
    },
  };
  const shared = { secret: context.serviceSecret, clock };
  const agentsOf = (self: string) =>
    createClient({
      ...shared,
      contract: AgentsServiceDefinition,
      self,
      transport: localTransport(fakeAgents.endpoint),
    });
  let sessions: OpenService | undefined;
  let runner: Module | undefined;

  const clientOf = (self: string) => {
    const transport = () => localTransport((sessions as OpenService).endpoint);
    return createClient({ ...shared, contract: SessionsServiceDefinition, self, transport: transport() });
  };

  async function open(): Promise<void> {
    sessions = await openSessions(
      context,
      {
        pool: 6,
        leaseSeconds: 10,
        approvalTtlSeconds: TTL_SECONDS,
        maxFailures: 3,
        maxTurnsPerAgent: 100,
        quotaTurnsPerDay: 0,
        purgeAfterSeconds: 3_600,
      },
      {
        agents: agentsOf('sessions'),
        files: fakeService(FilesServiceDefinition, {}, 'sessions', context),
        auth: new FakeAuth(),
      },
    );
    runner = await openRunner(
      context,
      {
        slots: 8,
        reportIntervalMs: 30,
        unfollowedReportIntervalMs: 500,
        stepTimeoutSeconds: 600,
        toolTimeoutSeconds: 600,
        maxSandboxes: 1,
        drainMs: 0,
        mcpMaxTools: 256,
        ...NO_KEYS,
      },
      {
        sessions: clientOf('runner'),
        agents: agentsOf('runner'),
        files: fakeService(FilesServiceDefinition, {}, 'runner', context),
        vaults: fakeService(VaultsServiceDefinition, {}, 'runner', context),
      },
      { tools: [count as Tool, ...moreTools] },
    );
  }

  async function crash(): Promise<void> {
    await runner?.stop?.();
    runner = undefined;
  }

  async function close(): Promise<void> {
    await crash();
    await sessions?.stop?.();
    sessions = undefined;
  }

  await open();
  opened.defer(close);
  const stack = opened.move();
  const caller = USER;
  const edge = () => clientOf('edge');

  const system: RunnerSystem = {
    databaseUrl: database.url,
    clock,
    toolRuns,
    clientOf,
    get edge() {
      return edge();
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      toolBarrier = promise;
      return () => {
        toolBarrier = Promise.resolve();
        resolve();
      };
    },
    async begin(steps, permission, moreTools = []) {
      const agentVersion = fakeAgents.add({
        model: 'rehearsal/script',
        modelOptionsJson: JSON.stringify({ steps }),
        tools: [{ name: 'count', permission }, ...moreTools],
      });
      const { sessionId } = await clientOf('deployments').createSession({
        invocationId: context.ids('inv'),
        deploymentId: 'dep_1',
        agentId: 'agt_1',
        agentVersion,
        ownerId: USER.userId,
        text: 'count for me',
        bodyBytes: 0,
        sourceAddress: '',
      });
      return sessionId;
    },
    async pass(what, holds) {
      await advanceUntil(what, () => clock.advance(50), holds);
    },
    async reaches(sessionId, status, needsAction = false) {
      const holds = async () => {
        const { session } = await edge().getSession({ sessionId }, { caller });
        return session?.status === status && session.needsAction === needsAction;
      };
      try {
        await system.pass(`the session is ${status}`, holds);
      } catch (cause) {
        const events = (await system.journal(sessionId)).map(({ type }) => type);
        throw new Error(`the session is not ${status}; its journal: ${events.join(', ')}`, { cause });
      }
    },
    async pending(sessionId) {
      const request = { sessionId, status: 'pending', page: PAGE };
      return (await edge().listApprovals(request, { caller })).approvals.toReversed();
    },
    async decide(approval, decision, more = {}) {
      const { sessionId = '', approvalId = '' } = approval ?? {};
      const request = { sessionId, approvalId, decision, reason: '', editedInputJson: '', ...more };
      return (await edge().decideApproval(request, { caller })).approval;
    },
    async journal(sessionId) {
      const request = { sessionId, page: PAGE, afterSeq: 0, types: [] };
      const { events } = await edge().listEvents(request, { caller });
      return events.map(({ json }) => JSON.parse(json) as JournalEntry);
    },
    crash,
    async restart() {
      await close();
      await open();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return system;
}
