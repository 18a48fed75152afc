import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openDirectory } from '../../../lib/blobs/directory.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Client, Contract } from '../../../lib/grpc/contract.ts';
import { lateTransport } from '../../../lib/grpc/local.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { Module } from '../../../lib/modules.ts';
import { type AgentRuntime, AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openFiles } from '../../../services/files/service.ts';
import { openRunner } from '../../../services/runner/service.ts';
import { upload } from '../../../services/runner/workspace/upload.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { createContext } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { Ledger } from '../../support/ledger.ts';
import { scratch } from '../../support/scratch.ts';
import { until } from '../../support/wait.ts';
import { type AgentBook, createAgentBook } from './agents.ts';
import { type Lodgings, openLodgings } from './lodgings.ts';

export const OWNER = { userId: 'usr_00000000000000000000000001', roles: ['administrator'] };
const PAGE = { limit: 100, cursor: '' };

export interface Entry {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

/** A runner with the real keepers of sessions and files, in one process. */
export interface HouseUnderTest extends AsyncDisposable {
  agents: AgentBook;
  lodgings: Lodgings;
  sessions: Client<SessionsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  /** Begins a session of an agent, which is told something; resolves with its id. */
  begin(text: string, runtime?: Partial<AgentRuntime>): Promise<string>;
  /** Waits until a session is idle. */
  idle(sessionId: string): Promise<void>;
  /** Tells the agent something more, and waits until it has answered. */
  say(sessionId: string, text: string): Promise<void>;
  journal(sessionId: string): Promise<Entry[]>;
  /** What came of the calls of a session. */
  results(sessionId: string): Promise<Record<string, unknown>[]>;
  upload(sessionId: string, files: Record<string, string>): Promise<number>;
  /** What is in the workspace, by path: text of files, null of all else. */
  tree(sessionId: string): Promise<Record<string, string | null>>;
}

export async function openHouse(): Promise<HouseUnderTest> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await createDatabase());
  const lodgings = opened.use(openLodgings());
  const blobsPath = mkdtempSync(join(scratch(), 'ahs-test-blobs-'));
  opened.defer(() => rm(blobsPath, { recursive: true, force: true }));
  const context = createContext(database.url);
  context.log.level = 'silent';
  const agents = createAgentBook(context);
  const endpoints = new Map<Contract, Endpoint>([[AgentsServiceDefinition, agents.endpoint]]);
  const { serviceSecret: secret, clock } = context;
  const reach = <C extends Contract>(contract: C, self: string): Client<C> =>
    createClient({
      ...{ contract, self, secret, clock },
      transport: lateTransport(() => endpoints.get(contract)),
    });
  const add = async <M extends Module & { endpoint?: Endpoint }>(
    contract: Contract | undefined,
    opening: Promise<M>,
  ) => {
    const module = await opening;
    opened.defer(() => module.stop());
    if (contract && module.endpoint) endpoints.set(contract, module.endpoint);
  };
  const clientsOf = (self: string) => ({
    agents: reach(AgentsServiceDefinition, self),
    sessions: reach(SessionsServiceDefinition, self),
    files: reach(FilesServiceDefinition, self),
  });
  await add(
    SessionsServiceDefinition,
    openSessions(
      context,
      {
        pool: 6,
        leaseSeconds: 10,
        approvalTtlSeconds: 600,
        maxFailures: 3,
        maxTurnsPerAgent: 100,
        quotaTurnsPerDay: 0,
        purgeAfterSeconds: 3_600,
      },
      { ...clientsOf('sessions'), auth: new Ledger() },
    ),
  );
  const blobs = await openDirectory(blobsPath);
  await add(
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
  await add(
    undefined,
    openRunner(
      context,
      {
        ...{ slots: 8, reportIntervalMs: 30, stepTimeoutSeconds: 600, toolTimeoutSeconds: 60 },
        ...{ drainMs: 0, mostSandboxes: 100 },
      },
      clientsOf('runner'),
      { providers: lodgings.providers(systemClock) },
    ),
  );
  const stack = opened.move();
  const sessions = reach(SessionsServiceDefinition, 'edge');
  const files = reach(FilesServiceDefinition, 'edge');
  const caller = OWNER;
  const placeOf = (sessionId: string) => ({ of: { $case: 'sessionId' as const, value: sessionId } });

  const house: HouseUnderTest = {
    agents,
    lodgings,
    sessions,
    files,
    async begin(text, runtime = {}) {
      const agentVersion = agents.add({ model: 'rehearsal/shell', ...runtime });
      const { sessionId } = await reach(SessionsServiceDefinition, 'deployments').createSession({
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
    idle: (sessionId) =>
      until('the session is idle', async () => {
        const { session } = await sessions.getSession({ sessionId }, { caller });
        return session?.status === 'idle';
      }).then(() => {}),
    async say(sessionId, text) {
      const contentJson = JSON.stringify([{ type: 'text', text }]);
      await sessions.sendMessage(
        { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' },
        { caller },
      );
      await house.idle(sessionId);
    },
    async journal(sessionId) {
      const all: Entry[] = [];
      for (let afterSeq = 0; ; afterSeq = all.at(-1)?.seq ?? 0) {
        const { events } = await sessions.listEvents(
          { sessionId, page: PAGE, afterSeq, types: [] },
          { caller },
        );
        if (events.length === 0) return all;
        all.push(...events.map(({ json }) => JSON.parse(json) as Entry));
      }
    },
    async results(sessionId) {
      const journal = await house.journal(sessionId);
      return journal.filter(({ type }) => type === 'agent.tool_result').map(({ data }) => data);
    },
    async upload(sessionId, given) {
      const place = placeOf(sessionId);
      const entries = Object.entries(given);
      const sources = entries.map(([, text]) => ({
        size: Buffer.byteLength(text),
        read: () => [Buffer.from(text)],
      }));
      const { contents } = await files.writeContents(upload({ place, lease: undefined }, sources), {
        caller,
      });
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
      const place = placeOf(sessionId);
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
  return house;
}
