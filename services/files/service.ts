import type { Blobs } from '../../lib/blobs/blobs.ts';
import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { FilesConfig } from './config.ts';
import { type DelivererContext, openDeliverer } from './deliverer.ts';
import type { HandlerContext } from './handlers/context.ts';
import { livingHandlers } from './handlers/living.ts';
import { createLocate, type LocateClients } from './handlers/places.ts';
import { readingHandlers } from './handlers/reading.ts';
import { workingHandlers } from './handlers/working.ts';
import { writingHandlers } from './handlers/writing.ts';
import { createReader } from './reader.ts';
import { startScrubber } from './scrubber.ts';
import { createChanging } from './store/changing.ts';
import { createContents } from './store/contents.ts';
import { createFeed } from './store/feed.ts';
import { createFences } from './store/fences.ts';
import { createForks } from './store/forks.ts';
import { createGarbage } from './store/garbage.ts';
import { createHistory } from './store/history.ts';
import { createReads } from './store/reads.ts';
import { startSweeper } from './sweeper.ts';

const peers: Peers<FilesServiceDefinition> = {
  writeContents: ['edge', 'runner'],
  changeWorkspace: ['edge', 'runner'],
  getWorkspace: ['edge'],
  listEntries: ['edge', 'runner'],
  getEntry: ['edge', 'runner'],
  readContent: ['edge', 'runner'],
  readArchive: ['edge'],
  listChanges: ['edge'],
  attachWorkspace: ['runner'],
  checkout: ['runner'],
  forkWorkspace: ['sessions'],
  deleteWorkspace: ['sessions', 'agents'],
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const MIB = 1024 * 1024;

export interface FilesClients extends LocateClients {
  sessions: LocateClients['sessions'] & DelivererContext['sessions'];
}

/**
 * Opens the service that keeps workspaces; its schema is brought up to date first. The bytes of files go to `blobs`,
 * which stays open when the service stops.
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
  const garbage = createGarbage(db);
  const graceMs = config.graceSeconds * 1_000;
  const reader = createReader({ blobs, contents, clock, log, metrics });
  const deliverer = openDeliverer({ feed: createFeed(db), sessions: clients.sessions, clock, log });
  const sweeper = startSweeper({
    ...{ garbage, history: createHistory(db), blobs, clock, log, metrics, graceMs },
    historyMs: config.historyDays * DAY_MS,
  });
  const scrubber = startScrubber({
    ...{ garbage, reader, clock, log, metrics },
    everyMs: config.scrubDays * DAY_MS,
    bytesPerSecond: config.scrubMibPerSecond * MIB,
  });
  const keySweep = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys were not deleted'),
  );
  const handlers: HandlerContext = {
    clock,
    locate: createLocate(clients),
    reads: createReads(db),
    changing: createChanging(db),
    contents,
    fences: createFences(db),
    forks: createForks(db),
    reader,
    receiving: { ...config, blobs, contents, clock, ids, graceMs },
    deliverer,
    limits: { maxFiles: config.workspaceMaxFiles, maxBytes: config.workspaceMaxBytes },
  };
  return {
    name: 'files',
    endpoint: guard({
      contract: FilesServiceDefinition,
      handlers: {
        ...writingHandlers(handlers),
        ...readingHandlers(handlers),
        ...workingHandlers(handlers),
        ...livingHandlers(handlers),
      },
      peers,
      secret: context.serviceSecret,
      clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: async () => void (await Promise.all([db.check(), blobs.check()])),
    async stop() {
      await Promise.all([keySweep.stop(), scrubber.stop(), sweeper.stop(), deliverer.stop()]);
      await db.close();
    },
  };
}
