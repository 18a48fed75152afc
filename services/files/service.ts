import type { Blobs } from '../../lib/blobs/blobs.ts';
import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { FilesConfig } from './config.ts';
import { createContentReader } from './content-reader.ts';
import { type EventDelivererContext, startEventDeliverer } from './deliverer.ts';
import { commitHandlers } from './handlers/commit.ts';
import type { FilesHandlerContext } from './handlers/context.ts';
import { createLocateWorkspace, type WorkspaceOwnerClients } from './handlers/locate.ts';
import { partHandlers } from './handlers/parts.ts';
import { readHandlers } from './handlers/read.ts';
import { checkChanges } from './handlers/request-parts.ts';
import { runnerHandlers } from './handlers/runner-rpcs.ts';
import { skillTreeHandlers } from './handlers/skill-trees.ts';
import { uploadHandlers } from './handlers/uploads.ts';
import { workspaceLifecycleHandlers } from './handlers/workspace-lifecycle.ts';
import { writeHandlers } from './handlers/write.ts';
import { createPartReceiver } from './part-receiver.ts';
import { startScrubber } from './scrubber.ts';
import { type SessionCheckContext, startSessionCheck } from './session-check.ts';
import { createChangeFeed } from './store/change-feed.ts';
import { createContents } from './store/contents.ts';
import { createWorkspaceForks } from './store/forks.ts';
import { createGarbageStore } from './store/garbage.ts';
import { createParts } from './store/parts.ts';
import { createWorkspaceReads } from './store/reads.ts';
import { createRetentionStore } from './store/retention.ts';
import { createUnconfirmedSessions } from './store/unconfirmed-sessions.ts';
import { createUploads } from './store/uploads.ts';
import { createWorkspaceChanges } from './store/workspace-changes.ts';
import { createFences } from './store/workspaces.ts';
import { startFileSweeper } from './sweeper.ts';

/** The default callers of each RPC. */
export const peers: Peers<FilesServiceDefinition> = {
  writeContents: ['edge', 'runner', 'channels'],
  changeWorkspace: ['edge', 'runner', 'channels'],
  commitChanges: ['runner'],
  getWorkspace: ['edge'],
  listEntries: ['edge', 'runner', 'channels'],
  getEntry: ['edge', 'runner', 'channels'],
  readContent: ['edge', 'runner', 'channels'],
  readArchive: ['edge'],
  listChanges: ['edge'],
  attachWorkspace: ['runner'],
  checkout: ['runner'],
  forkWorkspace: ['sessions'],
  deleteWorkspace: ['sessions', 'agents'],
  createUpload: ['edge'],
  storeParts: ['sessions', 'runner'],
  readPart: ['edge', 'runner'],
  placeUploads: ['sessions'],
  putSkillTree: ['agents'],
  deleteSkillTree: ['agents'],
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const MIB = 1024 * 1024;

interface FilesClients extends WorkspaceOwnerClients {
  sessions: WorkspaceOwnerClients['sessions'] &
    EventDelivererContext['sessions'] &
    SessionCheckContext['sessions'];
}

/**
 * Opens the workspaces service after migrating its schema. The bytes of files are stored in `blobs`, which stays open
 * when the service stops.
 */
export async function openFiles(
  context: ServiceContext,
  config: FilesConfig,
  clients: FilesClients,
  blobs: Blobs,
): Promise<OpenService> {
  const { clock, ids, log, metrics } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'files', migrations, pool: config.pool });
  const contents = createContents(db);
  const garbage = createGarbageStore(db);
  const graceMs = config.graceSeconds * 1_000;
  const reader = createContentReader({ blobs, contents, clock, log, metrics });
  const forks = createWorkspaceForks(db);
  const uploads = createUploads(db);
  const unconfirmed = createUnconfirmedSessions(db);
  const deliverer = startEventDeliverer({
    feed: createChangeFeed(db),
    expected: unconfirmed,
    sessions: clients.sessions,
    clock,
    log,
    random: context.random,
  });
  const sweeper = startFileSweeper({
    ...{ garbage, history: createRetentionStore(db), uploads, blobs, clock, log, metrics, graceMs },
    historyMs: config.historyDays * DAY_MS,
  });
  const scrubber = startScrubber({
    ...{ garbage, reader, clock, log, metrics },
    everyMs: config.scrubDays * DAY_MS,
    bytesPerSecond: config.scrubMibPerSecond * MIB,
  });
  const { sessions } = clients;
  const parts = createParts(db);
  const sessionCheck = startSessionCheck({ unconfirmed, forks, parts, sessions, clock, log, graceMs });
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const handlers: FilesHandlerContext = {
    clock,
    locate: createLocateWorkspace(clients),
    reads: createWorkspaceReads(db),
    workspaceChanges: createWorkspaceChanges(db),
    contents,
    fences: createFences(db),
    forks,
    parts,
    uploads,
    reader,
    receiving: { ...config, blobs, contents, clock, ids, graceMs },
    partReceiver: createPartReceiver({ clock, checkChanges }),
    deliverer,
    limits: { maxFiles: config.workspaceMaxFiles, maxBytes: config.workspaceMaxBytes },
  };
  return {
    name: 'files',
    endpoint: guardService(context, {
      contract: FilesServiceDefinition,
      handlers: {
        ...writeHandlers(handlers),
        ...commitHandlers(handlers),
        ...readHandlers(handlers),
        ...runnerHandlers(handlers),
        ...workspaceLifecycleHandlers(handlers),
        ...partHandlers(handlers),
        ...uploadHandlers(handlers),
        ...skillTreeHandlers(handlers),
      },
      peers,
    }),
    check: () => db.check(),
    async stop() {
      await Promise.all([
        sessionCheck.stop(),
        keySweep.stop(),
        scrubber.stop(),
        sweeper.stop(),
        deliverer.stop(),
      ]);
      await db.close();
    },
  };
}
