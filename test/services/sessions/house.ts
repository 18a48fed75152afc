import { refuse } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition, type ForkWorkspaceRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  type ClaimedTurn,
  type Event,
  SessionsServiceDefinition,
  type TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { fakeService } from '../../support/fake-service.ts';
import { Ledger } from '../../support/ledger.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['member'] };
export const ADMINISTRATOR = { userId: 'usr_0000000000000000000000000A', roles: ['administrator'] };
/** Of the agent; the sessions with it are others'. */
export const MANAGER = { userId: 'usr_0000000000000000000000000M', roles: ['member'] };
export const STRANGER = { userId: 'usr_00000000000000000000000002', roles: ['member'] };
export const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
export const ASSISTANT = 'ast_01M7XYC91CC5TE06JQWDWRTJVC';
export const DISABLED_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVB';

const CONFIG = {
  pool: 8,
  leaseSeconds: 15,
  approvalTtlSeconds: 600,
  maxFailures: 2,
  maxTurnsPerAgent: 1_000,
  quotaTurnsPerDay: 0,
  purgeAfterSeconds: 3_600,
};

/** The sessions service on a database of its own, with an agents service that knows two agents. */
export async function openHouse(
  transport: TransportName,
  overrides: Partial<ServiceContext> = {},
  config: Partial<typeof CONFIG> = {},
) {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const replica = stack.use(await openReplica(transport, createContext(database.url, overrides), config));
  return { ...replica, database, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** One more sessions service on the database that the context names. */
export async function openReplica(
  transport: TransportName,
  context: ServiceContext,
  config: Partial<typeof CONFIG> = {},
) {
  const stack = new AsyncDisposableStack();
  const ledger = new Ledger();
  const asked: Asked = { forked: [], deleted: [], levels: [] };
  const service = stack.adopt(
    await openSessions(
      context,
      { ...CONFIG, ...config },
      { agents: agentsFor(context, asked), files: filesFor(context, asked), auth: ledger },
    ),
    (opened) => opened.stop(),
  );
  const connection = stack.use(
    await connect(SessionsServiceDefinition, service.endpoint, transport, context),
  );
  return {
    context,
    as: connection.as,
    edge: connection.as('edge'),
    deployments: connection.as('deployments'),
    runner: connection.as('runner'),
    files: connection.as('files'),
    asked,
    ledger,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type House = Awaited<ReturnType<typeof openReplica>>;

function agentsFor(context: ServiceContext, asked: Asked): Client<AgentsServiceDefinition> {
  return fakeService(
    AgentsServiceDefinition,
    {
      async getAgentVersion({ agentId, version }) {
        if (agentId !== AGENT || version > 4) throw refuse('AGENT_VERSION_NOT_FOUND', 'no such version');
        return { version: { agentId, version, runtime: undefined, createdBy: '', createdAt: new Date(0) } };
      },
      async getLevel({ agentId }, { caller }) {
        asked.levels.push(agentId);
        return { level: agentId === AGENT && caller?.userId === MANAGER.userId ? 'manage' : 'none' };
      },
      async resolveAgent({ agentId }) {
        if (agentId === AGENT) return { agentId, version: 3 };
        if (agentId === ASSISTANT && !asked.assistantIsGone) return { agentId, version: 0 };
        if (agentId === ASSISTANT) throw refuse('ASSISTANT_NOT_FOUND', 'there is no such assistant');
        if (agentId === DISABLED_AGENT) throw refuse('AGENT_NOT_RUNNABLE', 'the agent is disabled');
        throw refuse('AGENT_NOT_FOUND', 'there is no such agent');
      },
    },
    'sessions',
    context,
  );
}

/** What sessions has asked of its neighbours. */
export interface Asked {
  forked: ForkWorkspaceRequest[];
  /** ses_…: whose workspaces were deleted. */
  deleted: string[];
  /** agt_… or ast_…: what callers may do with them. */
  levels: string[];
  /** ses_…: whose workspace cannot be deleted. */
  stuck?: string;
  /** Says from now on that there is no assistant. */
  assistantIsGone?: boolean;
}

function filesFor(context: ServiceContext, asked: Asked): Client<FilesServiceDefinition> {
  return fakeService(
    FilesServiceDefinition,
    {
      async forkWorkspace(request) {
        asked.forked.push(request);
        return { version: request.version ?? 0 };
      },
      async deleteWorkspace({ place }) {
        if (place?.of?.value === asked.stuck) throw refuse('DEPENDENCY_UNAVAILABLE', 'it cannot be deleted');
        asked.deleted.push(place?.of?.value ?? '');
        return {};
      },
    },
    'sessions',
    context,
  );
}

export function content(text: string): string {
  return JSON.stringify([{ type: 'text', text }]);
}

/** A conversation of the owner's; with a message its first turn is queued. */
export async function converse(house: House, text?: string, agentId = AGENT): Promise<string> {
  const request = {
    agentId,
    contentJson: text === undefined ? '' : content(text),
    title: '',
    metadata: {},
    idempotencyKey: '',
  };
  const { session } = await house.edge.createConversation(request, { caller: OWNER });
  return session?.sessionId ?? '';
}

export async function say(house: House, sessionId: string, text: string, busyPolicy = 'enqueue') {
  return house.edge.sendMessage(
    { sessionId, contentJson: content(text), busyPolicy, idempotencyKey: '' },
    { caller: OWNER },
  );
}

export async function claim(house: House, slots = 10, runnerId = 'rnr_1'): Promise<ClaimedTurn[]> {
  return (await house.runner.claimTurns({ runnerId, slots })).turns;
}

export async function claimOne(house: House, runnerId = 'rnr_1'): Promise<ClaimedTurn> {
  const [turn] = await claim(house, 1, runnerId);
  if (!turn) throw new Error('there is no turn to claim');
  return turn;
}

export function reportOn(turn: ClaimedTurn, reportSeq: number, more: Partial<TurnReport> = {}): TurnReport {
  const { sessionId, turnId, fence } = turn;
  return {
    sessionId,
    turnId,
    fence,
    events: [],
    openMessageId: '',
    usage: undefined,
    outcome: undefined,
    reportSeq,
    traceparent: '',
    ...more,
  };
}

export const COMPLETED: TurnReport['outcome'] = {
  kind: { $case: 'completed', value: { stopReason: 'end_turn' } },
};

export async function send(house: House, ...reports: TurnReport[]) {
  return (await house.runner.reportTurns({ runnerId: 'rnr_1', reports })).results;
}

/** The whole journal, page after page. */
export async function journalOf(house: House, sessionId: string, limit = 100): Promise<Event[]> {
  const events: Event[] = [];
  let cursor = '';
  do {
    const request = { sessionId, page: { limit, cursor }, afterSeq: 0, types: [] };
    const page = await house.edge.listEvents(request, { caller: OWNER });
    events.push(...page.events);
    cursor = page.page?.nextCursor ?? '';
  } while (cursor !== '');
  return events;
}

export function typesOf(events: Event[]): string[] {
  return events.map((event) => event.type);
}
