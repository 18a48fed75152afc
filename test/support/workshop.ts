import { Type } from 'typebox';
import { createClient } from '../../lib/grpc/client.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import { localTransport } from '../../lib/grpc/local.ts';
import type { Module } from '../../lib/modules.ts';
import type { OpenService } from '../../lib/service.ts';
import type { Permission, ToolEffect } from '../../lib/tools.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { type Approval, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openRunner } from '../../services/runner/service.ts';
import type { Tool } from '../../services/runner/tools/tool.ts';
import { openSessions } from '../../services/sessions/service.ts';
import { createAgentBook } from '../services/runner/agents.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { createContext } from './context.ts';
import { createDatabase } from './database.ts';
import { fakeService } from './fake-service.ts';
import { Ledger } from './ledger.ts';
import { NO_KEYS } from './no-keys.ts';
import { passing } from './wait.ts';

export interface Counted {
  input: { value: number };
  toolUseId: string;
  attempt: number;
}

/** Sessions and a runner with a tool that counts, in this process, by a clock that stands still. */
export interface Workshop extends AsyncDisposable {
  databaseUrl: string;
  clock: FakeClock;
  edge: Client<SessionsServiceDefinition>;
  /** What the tool was called with, call by call. */
  counted: Counted[];
  /** The next calls of the tool do not return until this is called. */
  hold(): () => void;
  /** Begins a session whose agent plays these steps and has this permission for the tool `count`. */
  begin(steps: unknown[], permission: Permission): Promise<string>;
  /** Moves time in small steps until the condition holds. */
  pass(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Moves time until the session has this status; `needsAction`: until it waits for somebody. */
  reaches(sessionId: string, status: string, needsAction?: boolean): Promise<void>;
  pending(sessionId: string): Promise<Approval[]>;
  decide(approval: Approval | undefined, decision: string, more?: object): Promise<Approval | undefined>;
  /** Everything of the journal, as objects. */
  journal(sessionId: string): Promise<JournalEntry[]>;
  /** Ends the runner without another word, as a crash does. */
  crash(): Promise<void>;
  /** Ends what still runs, and opens it all again over the same database. */
  restart(): Promise<void>;
}

export interface JournalEntry {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

export const USER = { userId: 'usr_00000000000000000000000001', roles: ['administrator'] };
const PAGE = { limit: 100, cursor: '' };
export const TTL_SECONDS = 600;

export async function openWorkshop(effect: ToolEffect = 'once'): Promise<Workshop> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await createDatabase());
  const clock = createFakeClock();
  const context = createContext(database.url, { clock });
  context.log.level = 'silent';
  const book = createAgentBook(context);
  const counted: Counted[] = [];
  let held: Promise<void> = Promise.resolve();
  const input = Type.Object({ value: Type.Number() }, { additionalProperties: false });
  const count: Tool<typeof input> = {
    name: 'count',
    kind: { effect, permission: 'ask', about: 'Counts.' },
    input,
    async run(given, { toolUseId, attempt }) {
      counted.push({ input: given, toolUseId, attempt });
      await held;
      return `counted ${given.value}`;
    },
  };
  const shared = { secret: context.serviceSecret, clock };
  const agentsOf = (self: string) =>
    createClient({
      ...shared,
      contract: AgentsServiceDefinition,
      self,
      transport: localTransport(book.endpoint),
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
        leaseSeconds: 3,
        approvalTtlSeconds: TTL_SECONDS,
        maxFailures: 3,
        maxTurnsPerAgent: 100,
        quotaTurnsPerDay: 0,
        purgeAfterSeconds: 3_600,
      },
      {
        agents: agentsOf('sessions'),
        files: fakeService(FilesServiceDefinition, {}, 'sessions', context),
        auth: new Ledger(),
      },
    );
    runner = await openRunner(
      context,
      {
        slots: 8,
        reportIntervalMs: 30,
        stepTimeoutSeconds: 600,
        toolTimeoutSeconds: 600,
        mostSandboxes: 1,
        drainMs: 0,
        ...NO_KEYS,
      },
      {
        sessions: clientOf('runner'),
        agents: agentsOf('runner'),
        files: fakeService(FilesServiceDefinition, {}, 'runner', context),
      },
      { tools: [count as Tool] },
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

  const workshop: Workshop = {
    databaseUrl: database.url,
    clock,
    counted,
    get edge() {
      return edge();
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = Promise.resolve();
        resolve();
      };
    },
    async begin(steps, permission) {
      const agentVersion = book.add({
        model: 'rehearsal/script',
        modelOptionsJson: JSON.stringify({ steps }),
        tools: [{ name: 'count', permission }],
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
      await passing(what, () => clock.advance(50), holds);
    },
    reaches: (sessionId, status, needsAction = false) =>
      workshop.pass(`the session is ${status}`, async () => {
        const { session } = await edge().getSession({ sessionId }, { caller });
        return session?.status === status && session.needsAction === needsAction;
      }),
    async pending(sessionId) {
      const asked = { sessionId, status: 'pending', page: PAGE };
      return (await edge().listApprovals(asked, { caller })).approvals.toReversed();
    },
    async decide(approval, decision, more = {}) {
      const { sessionId = '', approvalId = '' } = approval ?? {};
      const said = { sessionId, approvalId, decision, reason: '', editedInputJson: '', ...more };
      return (await edge().decideApproval(said, { caller })).approval;
    },
    async journal(sessionId) {
      const asked = { sessionId, page: PAGE, afterSeq: 0, types: [] };
      const { events } = await edge().listEvents(asked, { caller });
      return events.map(({ json }) => JSON.parse(json) as JournalEntry);
    },
    crash,
    async restart() {
      await close();
      await open();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return workshop;
}
