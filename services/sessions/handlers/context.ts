import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { RunLimits } from '../domain/finish.ts';
import type { Follower } from '../follow.ts';
import type { Changes } from '../store/changes.ts';
import type { Claims } from '../store/claims.ts';
import type { Creations } from '../store/creations.ts';
import type { EventStore } from '../store/events.ts';
import type { Lists } from '../store/lists.ts';

/** What the handlers work with. */
export interface HandlerContext {
  clock: Clock;
  ids: Ids;
  agents: Client<AgentsServiceDefinition>;
  changes: Changes;
  creations: Creations;
  claims: Claims;
  lists: Lists;
  events: EventStore;
  follower: Follower;
  limits: RunLimits;
  leaseMs: number;
}
