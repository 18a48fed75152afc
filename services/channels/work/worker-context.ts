import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The services that a channel worker calls. */
export interface ChannelsClients {
  deployments: Client<DeploymentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
}

/** The dependencies of all parts of a worker. */
export interface WorkerContext extends ChannelsClients {
  clock: Clock;
  ids: Ids;
  log: Log;
  sealer: PeerSealer;
  /** wrk_… */
  workerId: string;
  fileMaxBytes: number;
}

/** The options of calls on behalf of the owner of a session. */
export function asOwner(ownerId: string, signal?: AbortSignal) {
  return { caller: { userId: ownerId, roles: [] }, signal };
}
