import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openDirectory } from '../../../lib/blobs/directory.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Client, Contract } from '../../../lib/grpc/contract.ts';
import { deferredTransport } from '../../../lib/grpc/local.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { Module } from '../../../lib/modules.ts';
import { type AgentRuntime, AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openFiles } from '../../../services/files/service.ts';
import { openRunner } from '../../../services/runner/service.ts';
import { writeContentsRequests } from '../../../services/runner/workspace/upload.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { createContext } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import { fakeService } from '../../support/fake-service.ts';
import { scratch } from '../../support/scratch.ts';
import { until } from '../../support/wait.ts';
import { createFakeAgents, type FakeAgents } from './fake-agents.ts';
import { openSimulatedProviders, type SimulatedProviders } from './simulated-providers.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['administrator'] };
const PAGE = { limit: 100, cursor: '' };

export interface JournalEvent {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

/** A runner with the real sessions and files services in one process. */
export interface WorkspaceSystem extends AsyncDisposable {
  agents: FakeAgents;
  simulated: SimulatedProviders;
  sessions: Client<SessionsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  /** Starts a session with a message to the agent and returns its id. */
  startSession(text: string, runtime?: Partial<AgentRuntime>): Promise<string>;
  /** Waits until a session is idle. */
  waitUntilIdle(sessionId: string): Promise<void>;
  /** Sends a message to the session and waits until the session is idle. */
  sendMessage(sessionId: string, text: string): Promise<void>;
  journal(sessionId: string): Promise<JournalEvent[]>;
  /** Returns the data of the tool results of a session. */
  results(sessionId: string): Promise<Record<string, unknown>[]>;
  /** Writes files to the workspace and returns its new version. */
  upload(sessionId: string, files: Record<string, string>): Promise<number>;
  /** Returns the workspace by path: the text of a file, null for any other entry. */
  tree(sessionId: string): Promise<Record<string, string | null>>;
}

export async function openWorkspaceSystem(): Promise<WorkspaceSystem> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await createDatabase());
  const simulated = opened.use(openSimulatedProviders());
  const blobsPath = mkdtempSync(join(scratch(), 'ahs-test-blobs-'));
  opened.defer(() => rm(blobsPath, { recursive: true, force: true }));
  const context = createContext(database.url);
  context.log.level = 'silent';
  const agents = createFakeAgents(context);
  const endpoints = new Map<Contract, Endpoint>([[AgentsServiceDefinition, agents.endpoint]]);
  const { serviceSecret: secret, clock } = context;
  const clientOf = <C extends Contract>(contract: C, self: string): Client<C> =>
    createClient({
      ...{ contract, self, secret, clock },
      transport: deferredTransport(() => endpoints.get(contract)),
    });
  const addService = async <M extends Module & { endpoint?: Endpoint }>(
    contract: Contract | undefined,
    service: Promise<M>,
  ) => {
    const module = await service;
    opened.defer(() => module.stop());
    if (contract && module.endpoint) endpoints.set(contract, module.endpoint);
  };
  const clientsOf = (self: string) => ({
    agents: clientOf(AgentsServiceDefinition, self),
    sessions: clientOf(SessionsServiceDefinition, self),
    files: clientOf(FilesServiceDefinition, self),
  });
  await addService(
    SessionsServiceDefinition,
    openSessions(
      context,
      {
        pool: 6,
        leaseSeconds: 60,
        approvalTtlSeconds: 600,
        maxFailures: 3,
        maxTurnsPerAgent: 100,
        quotaTurnsPerDay: 0,
        purgeAfterSeconds: 3_600,
      },
      { ...clientsOf('sessions'), auth: new FakeAuth() },
    ),
  );
  const blobs = await openDirectory(blobsPath);
  await addService(
    FilesServiceDefinition,
    openFiles(
      context,
      {
        pool: 6,
        workspaceMaxBytes: 64 * 1024 * 1024,
        workspaceMaxFiles: 10_000,
        fileMaxBytes: 64 * 1024 * 1024,
        historyDays: 30,
        graceSeconds: 86_400,
        scrubDays: 7,
        scrubMibPerSecond: 0,
        quotaBytesPerUser: 0,
      },
      clientsOf('files'),
      blobs,
    ),
  );
  await addService(
    undefined,
    openRunner(
      context,
      {
        ...{
          slots: 8,
          reportIntervalMs: 30,
          unfollowedReportIntervalMs: 500,
          stepTimeoutSeconds: 600,
          toolTimeoutSeconds: 60,
        },
        ...{ drainMs: 0, maxSandboxes: 100, mcpMaxTools: 256 },
      },
      {
        ...clientsOf('runner'),
        vaults: fakeService(VaultsServiceDefinition, {}, 'runner', context),
      },
      { providers: simulated.providers(systemClock) },
    ),
  );
  const stack = opened.move();
  const sessions = clientOf(SessionsServiceDefinition, 'edge');
  const files = clientOf(FilesServiceDefinition, 'edge');
  const caller = OWNER;
  const placeOfSession = (sessionId: string) => ({ of: { $case: 'sessionId' as const, value: sessionId } });

  const system: WorkspaceSystem = {
    agents,
    simulated,
    sessions,
    files,
    async startSession(text, runtime = {}) {
      const agentVersion = agents.add({ model: 'rehearsal/shell', ...runtime });
      const { sessionId } = await clientOf(SessionsServiceDefinition, 'deployments').createSession({
        invocationId: context.ids('inv'),
        deploymentId: 'dep_1',
        agentId: 'agt_1',
        agentVersion,
        ownerId: OWNER.userId,
        text,
        bodyBytes: 0,
        sourceAddress: '',
      });
      return sessionId;
    },
    waitUntilIdle: (sessionId) =>
      until('the session is idle', async () => {
        const { session } = await sessions.getSession({ sessionId }, { caller });
        return session?.status === 'idle';
      }).then(() => {}),
    async sendMessage(sessionId, text) {
      const contentJson = JSON.stringify([{ type: 'text', text }]);
      await sessions.sendMessage(
        { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' },
        { caller },
      );
      await system.waitUntilIdle(sessionId);
    },
    async journal(sessionId) {
      const all: JournalEvent[] = [];
      for (let afterSeq = 0; ; afterSeq = all.at(-1)?.seq ?? 0) {
        const { events } = await sessions.listEvents(
          { sessionId, page: PAGE, afterSeq, types: [] },
          { caller },
        );
        if (events.length === 0) return all;
        all.push(...events.map(({ json }) => JSON.parse(json) as JournalEvent));
      }
    },
    async results(sessionId) {
      const journal = await system.journal(sessionId);
      return journal.filter(({ type }) => type === 'agent.tool_result').map(({ data }) => data);
    },
    async upload(sessionId, uploads) {
      const place = placeOfSession(sessionId);
      const entries = Object.entries(uploads);
      const sources = entries.map(([, text]) => ({
        size: Buffer.byteLength(text),
        read: () => [Buffer.from(text)],
      }));
      const { contents } = await files.writeContents(
        writeContentsRequests({ place, lease: undefined }, sources),
        {
          caller,
        },
      );
      const changes = entries.map(([path], index) => ({
        kind: {
          $case: 'putFile' as const,
          value: {
            path,
            contentId: contents[index]?.contentId ?? '',
            executable: false,
            modifiedAt: undefined,
          },
        },
      }));
      const request = { place, lease: undefined, changes, idempotencyKey: '' };
      const { workspace } = await files.changeWorkspace(request, { caller });
      return workspace?.version ?? 0;
    },
    async tree(sessionId) {
      const place = placeOfSession(sessionId);
      const tree: Record<string, string | null> = {};
      for (let cursor = ''; ; ) {
        const request = { place, lease: undefined, page: { ...PAGE, cursor }, path: '', recursive: true };
        const { entries, page } = await files.listEntries(request, { caller });
        for (const { path, kind } of entries) {
          if (kind !== 'file') {
            tree[path] = null;
            continue;
          }
          const chunks: Uint8Array[] = [];
          const read = files.readContent({ place, lease: undefined, path, offset: 0 }, { caller });
          for await (const { bytes } of read) chunks.push(bytes);
          tree[path] = Buffer.concat(chunks).toString();
        }
        cursor = page?.nextCursor ?? '';
        if (cursor === '') return tree;
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return system;
}
