import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Attachments } from '../attachments.ts';
import type { AuthorizationResolver } from '../authorization-resolver.ts';
import type { Claims } from '../claims.ts';
import type { RunLimits } from '../domain/finish.ts';
import type { Followers } from '../followers.ts';
import type { StateSealer } from '../state-sealer.ts';
import type { Approvals } from '../store/approvals.ts';
import type { Changes } from '../store/changes.ts';
import type { ChatStore } from '../store/chats.ts';
import type { ClientCalls } from '../store/client-calls.ts';
import type { ContextStore } from '../store/context.ts';
import type { Creations } from '../store/creations.ts';
import type { EventStore } from '../store/events.ts';
import type { SessionForks } from '../store/forks.ts';
import type { LeaseStore } from '../store/leases.ts';
import type { Lists } from '../store/lists.ts';
import type { SandboxStore } from '../store/sandboxes.ts';
import type { SignalledTurns } from '../store/signalled-turns.ts';
import type { SignalStore } from '../store/signals.ts';
import type { TurnWaits } from '../turn-waits.ts';
import type { SessionAccess } from './session-access.ts';
import type { UnmadeSessions } from './unmade-session.ts';

/** The dependencies of the handlers. */
export interface SessionsHandlerContext {
  clock: Clock;
  ids: Ids;
  agents: Client<AgentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  changes: Changes;
  approvals: Approvals;
  clientCalls: ClientCalls;
  creations: Creations;
  contexts: ContextStore;
  forks: SessionForks;
  chats: ChatStore;
  claims: Claims;
  leases: LeaseStore;
  lists: Lists;
  sandboxes: SandboxStore;
  signals: SignalStore;
  signalledTurns: SignalledTurns;
  events: EventStore;
  followers: Followers;
  turnWaits: TurnWaits;
  access: SessionAccess;
  attachments: Attachments;
  unmadeSessions: UnmadeSessions;
  /** Records an act in the audit log before it is done. */
  record: AuditRecorder;
  limits: RunLimits;
  /** Frees disk space for actions of administrators when the database has none left. */
  reservedSpace: { use<Result>(operation: () => Promise<Result>): Promise<Result> };
  /** Tells runners that a sandbox is to end. */
  publishSandboxEnd: (sandboxId: string) => void;
  leaseMs: number;
  /** How long an approval or a client call stays open before it expires. */
  approvalTtlMs: number;
  resolver: AuthorizationResolver;
  /** Seals the states of calls that wait for input. */
  stateSealer: StateSealer;
}
