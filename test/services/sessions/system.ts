import { refuse } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import {
  FilesServiceDefinition,
  type ForkWorkspaceRequest,
  type PlaceUploadsRequest,
  type StorePartsRequest,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  type ClaimedTurn,
  type Event,
  SessionsServiceDefinition,
  type TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import { fakeService } from '../../support/fake-service.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['member'] };
export const ADMINISTRATOR = { userId: 'usr_0000000000000000000000000A', roles: ['administrator'] };
/** Manages the agent, but owns none of its sessions. */
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

/** The sessions service on its own database, with fakes of the agents, files and auth services. */
export async function openSystem(
  transport: TransportName,
  overrides: Partial<ServiceContext> = {},
  config: Partial<typeof CONFIG> = {},
) {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const replica = stack.use(await openReplica(transport, createContext(database.url, overrides), config));
  return { ...replica, database, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A further sessions service on the database that the context names. */
export async function openReplica(
  transport: TransportName,
  context: ServiceContext,
  config: Partial<typeof CONFIG> = {},
) {
  const stack = new AsyncDisposableStack();
  const auth = new FakeAuth();
  const calls: NeighbourCalls = {
    ...{ forked: [], storedParts: [], placedUploads: [], deleted: [] },
    ...{ levels: [], resolved: [] },
  };
  const service = stack.adopt(
    await openSessions(
      context,
      { ...CONFIG, ...config },
      { agents: agentsFor(context, calls), files: filesFor(context, calls), auth },
    ),
    (opened) => opened.stop(),
  );
  const connection = stack.use(
    await connect(SessionsServiceDefinition, service.endpoint, transport, context),
  );
  return {
    context,
    drain: () => service.drain?.(),
    as: connection.as,
    edge: connection.as('edge'),
    deployments: connection.as('deployments'),
    channels: connection.as('channels'),
    runner: connection.as('runner'),
    files: connection.as('files'),
    neighbourCalls: calls,
    auth,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type SessionsSystem = Awaited<ReturnType<typeof openReplica>>;

function agentsFor(context: ServiceContext, calls: NeighbourCalls): Client<AgentsServiceDefinition> {
  return fakeService(
    AgentsServiceDefinition,
    {
      async getAgentVersion({ agentId, version }) {
        if (agentId !== AGENT || version > 4) throw refuse('AGENT_VERSION_NOT_FOUND', 'no such version');
        return {
          version: { agentId, version, runtime: undefined, createdBy: '', createdAt: new Date(0) },
          agentName: '',
        };
      },
      async getModelWindow() {
        return { window: undefined, declaredWindow: 10_000 };
      },
      async getLevel({ agentId }, { caller }) {
        calls.levels.push(agentId);
        return { level: agentId === AGENT && caller?.userId === MANAGER.userId ? 'manage' : 'none' };
      },
      /** Merges like the agents service. Overrides with `max_steps` 0 are refused. */
      async resolveOverrides({ agentVersion, sessionOverridesJson, overridesJson, mediaTypes }) {
        if (mediaTypes.includes('video/mp4')) throw refuse('CONTENT_NOT_SUPPORTED', 'no videos');
        calls.resolved.push(agentVersion);
        const given = JSON.parse(overridesJson || '{}');
        if (given.max_steps === 0)
          throw refuse('OVERRIDE_NOT_ALLOWED', 'The agent does not allow overriding /max_steps.', {
            details: [{ pointer: '/max_steps', message: 'is not in `overridable` of the agent' }],
          });
        return { overridesJson: JSON.stringify({ ...JSON.parse(sessionOverridesJson || '{}'), ...given }) };
      },
      async resolveAgent({ agentId }) {
        if (agentId === AGENT) return { agentId, version: 3 };
        if (agentId === ASSISTANT && !calls.assistantIsDeleted) return { agentId, version: 0 };
        if (agentId === ASSISTANT) throw refuse('ASSISTANT_NOT_FOUND', 'there is no such assistant');
        if (agentId === DISABLED_AGENT) throw refuse('AGENT_NOT_RUNNABLE', 'the agent is disabled');
        throw refuse('AGENT_NOT_FOUND', 'there is no such agent');
      },
    },
    'sessions',
    context,
  );
}

/** The calls that sessions made to the agents and files services, and how the fakes answer them. */
interface NeighbourCalls {
  forked: ForkWorkspaceRequest[];
  storedParts: StorePartsRequest[];
  placedUploads: PlaceUploadsRequest[];
  /** Runs before StoreParts answers. */
  beforeStoreParts?: (() => Promise<void>) | undefined;
  /** ses_… ids of the sessions whose workspaces were deleted. */
  deleted: string[];
  /** agt_… or ast_… ids for which GetLevel was called. */
  levels: string[];
  /** The agent versions for which ResolveOverrides was called. */
  resolved: number[];
  /** ses_…: deleting the workspace of this session fails. */
  undeletableWorkspace?: string;
  /** Runs before DeleteWorkspace answers. */
  beforeDelete?: (() => Promise<void>) | undefined;
  /** ResolveAgent refuses the assistant with ASSISTANT_NOT_FOUND. */
  assistantIsDeleted?: boolean;
  /** Runs before PlaceUploads answers, also when it only checks. */
  beforePlaceUploads?: (() => Promise<void>) | undefined;
  /** Runs before ForkWorkspace answers. */
  beforeFork?: ((request: ForkWorkspaceRequest) => Promise<void>) | undefined;
}

function filesFor(context: ServiceContext, calls: NeighbourCalls): Client<FilesServiceDefinition> {
  return fakeService(
    FilesServiceDefinition,
    {
      async forkWorkspace(request) {
        calls.forked.push(request);
        await calls.beforeFork?.(request);
        return { version: request.version ?? 0 };
      },
      async storeParts(request) {
        if (!request.checkOnly) calls.storedParts.push(request);
        await calls.beforeStoreParts?.();
        const parts = request.parts.map(({ mediaType, name, attachment }) => {
          const { source } = attachment ?? {};
          const size = source?.$case === 'data' ? source.value.length : 0;
          // The id of an upload contains its media type here.
          const ofUpload = source?.$case === 'uploadId' ? source.value.replace('upl_', '') : '';
          return { sha256: 'a'.repeat(64), size, mediaType: mediaType || ofUpload, name };
        });
        return { parts };
      },
      async placeUploads(request) {
        await calls.beforePlaceUploads?.();
        if (!request.checkOnly) calls.placedUploads.push(request);
        return {};
      },
      async deleteWorkspace({ place }) {
        await calls.beforeDelete?.();
        if (place?.of?.value === calls.undeletableWorkspace)
          throw refuse('DEPENDENCY_UNAVAILABLE', 'The workspace cannot be deleted.');
        calls.deleted.push(place?.of?.value ?? '');
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

/** Creates a conversation of OWNER and returns its id. With `text`, its first turn is queued. */
export async function createConversation(
  system: SessionsSystem,
  text?: string,
  agentId = AGENT,
  caller = OWNER,
): Promise<string> {
  const request = {
    agentId,
    contentJson: text === undefined ? '' : content(text),
    title: '',
    metadata: {},
    idempotencyKey: '',
  };
  const { session } = await system.edge.createConversation(request, { caller });
  return session?.sessionId ?? '';
}

export async function sendText(
  system: SessionsSystem,
  sessionId: string,
  text: string,
  busyPolicy = 'enqueue',
) {
  return system.edge.sendMessage(
    { sessionId, contentJson: content(text), busyPolicy, idempotencyKey: '' },
    { caller: OWNER },
  );
}

export async function claimTurns(
  system: SessionsSystem,
  slots = 10,
  runnerId = 'rnr_1',
): Promise<ClaimedTurn[]> {
  return (await system.runner.claimTurns({ runnerId, slots, waitMs: 0 })).turns;
}

export async function claimTurn(system: SessionsSystem, runnerId = 'rnr_1'): Promise<ClaimedTurn> {
  const [turn] = await claimTurns(system, 1, runnerId);
  if (!turn) throw new Error('no turn is ready to be claimed');
  return turn;
}

export function reportFor(turn: ClaimedTurn, reportSeq: number, more: Partial<TurnReport> = {}): TurnReport {
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
    openModelRequest: undefined,
    ...more,
  };
}

export const COMPLETED: TurnReport['outcome'] = {
  kind: { $case: 'completed', value: { stopReason: 'end_turn' } },
};

export async function sendReports(system: SessionsSystem, ...reports: TurnReport[]) {
  return (await system.runner.reportTurns({ runnerId: 'rnr_1', reports })).results;
}

/** Returns all events of the journal, read in pages of `limit` events. */
export async function journalOf(system: SessionsSystem, sessionId: string, limit = 100): Promise<Event[]> {
  const events: Event[] = [];
  let cursor = '';
  do {
    const request = { sessionId, page: { limit, cursor }, afterSeq: 0, types: [] };
    const page = await system.edge.listEvents(request, { caller: OWNER });
    events.push(...page.events);
    cursor = page.page?.nextCursor ?? '';
  } while (cursor !== '');
  return events;
}

export function typesOf(events: Event[]): string[] {
  return events.map((event) => event.type);
}
