import type { Clock } from '../../../lib/clock.ts';
import type { ContentReader } from '../content-reader.ts';
import type { ContentReceiverContext } from '../content-receiver.ts';
import type { EventDeliverer } from '../deliverer.ts';
import type { WorkspaceLimits } from '../domain/change-set.ts';
import type { PartReceiver } from '../part-receiver.ts';
import type { Contents } from '../store/contents.ts';
import type { WorkspaceForks } from '../store/forks.ts';
import type { Parts } from '../store/parts.ts';
import type { WorkspaceReads } from '../store/reads.ts';
import type { Uploads } from '../store/uploads.ts';
import type { WorkspaceChanges } from '../store/workspace-changes.ts';
import type { Fences } from '../store/workspaces.ts';
import type { LocateWorkspace } from './locate.ts';

/** The dependencies of the handlers. */
export interface FilesHandlerContext {
  clock: Clock;
  locate: LocateWorkspace;
  reads: WorkspaceReads;
  workspaceChanges: WorkspaceChanges;
  contents: Contents;
  fences: Fences;
  forks: WorkspaceForks;
  parts: Parts;
  uploads: Uploads;
  reader: ContentReader;
  receiving: ContentReceiverContext;
  partReceiver: PartReceiver;
  deliverer: EventDeliverer;
  limits: WorkspaceLimits;
}
