import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Recorder } from '../../../lib/grpc/recorder.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { RunLimits } from '../domain/finish.ts';
import type { Follower } from '../follow.ts';
import type { Approvals } from '../store/approvals.ts';
import type { Changes } from '../store/changes.ts';
import type { Claims } from '../store/claims.ts';
import type { Creations } from '../store/creations.ts';
import type { EventStore } from '../store/events.ts';
import type { Forks } from '../store/forks.ts';
import type { Lists } from '../store/lists.ts';
import type { Sandboxes } from '../store/sandboxes.ts';
import type { Reach } from './reach.ts';

/** What the handlers work with. */
export interface HandlerContext {
  clock: Clock;
  ids: Ids;
  agents: Client<AgentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  changes: Changes;
  approvals: Approvals;
  creations: Creations;
  forks: Forks;
  claims: Claims;
  lists: Lists;
  sandboxes: Sandboxes;
  events: EventStore;
  follower: Follower;
  reach: Reach;
  /** Writes down what is about to be done. */
  record: Recorder;
  limits: RunLimits;
  /** Tells runners that a sandbox is to end. */
  ended: (sandboxId: string) => void;
  leaseMs: number;
  /** How long somebody has for an approval. */
  approvalTtlMs: number;
}
