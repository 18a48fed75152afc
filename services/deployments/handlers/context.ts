import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RefreshBots } from '../channels/bot-fingerprints.ts';
import type { ChannelChanges } from '../channels/channel-changes.ts';
import type { ChannelReader } from '../channels/channel-reader.ts';
import type { ChannelSealing } from '../channels/channel-sealing.ts';
import type { ChannelWork } from '../channels/channel-work.ts';
import type { ConnectionClaims } from '../channels/connection-claims.ts';
import type { ConnectionReports } from '../channels/connection-reports.ts';
import type { ChannelInbox } from '../channels/open-inbox.ts';
import type { Probes } from '../channels/probes.ts';
import type { Verification } from '../channels/verification.ts';
import type { TimingLimits } from '../domain/schedules/check-timing.ts';
import type { RunInterrupter } from '../schedules/run-interrupter.ts';
import type { ScheduleChanges } from '../schedules/schedule-changes.ts';
import type { ScheduleTimes } from '../schedules/schedule-times.ts';
import type { BackfillStore } from '../store/backfills.ts';
import type { ChannelStore } from '../store/channels.ts';
import type { ConnectionStore } from '../store/connections.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import type { DeploymentStore } from '../store/deployments.ts';
import type { RefusalStore } from '../store/refusals.ts';
import type { RunStore } from '../store/runs.ts';
import type { ScheduleStore } from '../store/schedules.ts';
import type { DeploymentAccess } from './access.ts';
import type { DeploymentMessages } from './deployment-messages.ts';
import type { SessionCheck } from './session-check.ts';

type WorkParts =
  | 'conversations'
  | 'conversationWork'
  | 'decisions'
  | 'deliveryResults'
  | 'links'
  | 'noteStore'
  | 'postNotes'
  | 'posts'
  | 'pulls'
  | 'wakeWork'
  | 'workClaims'
  | 'workMessages'
  | 'workerPresence';

export interface DeploymentsHandlerContext extends Pick<ChannelWork, WorkParts> {
  store: DeploymentStore & RefusalStore;
  schedules: ScheduleStore;
  runs: RunStore;
  backfills: BackfillStore;
  channels: ChannelStore;
  connections: ConnectionStore;
  probes: Probes;
  channelReader: ChannelReader;
  channelSealing: ChannelSealing;
  channelChanges: ChannelChanges;
  refreshBots: RefreshBots;
  reportConnection: ConnectionReports;
  claims: ConnectionClaims;
  verification: Verification;
  deliveries: DeliveryStore;
  inbox: ChannelInbox;
  access: DeploymentAccess;
  messages: DeploymentMessages;
  times: ScheduleTimes;
  changes: ScheduleChanges;
  sessionCheck: SessionCheck;
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  /** Writes an entry of the audit log before the action. */
  record: AuditRecorder;
  clock: Clock;
  ids: Ids;
  /** Prefix of trigger and callback URLs, without a slash at its end. */
  publicUrl: () => string;
  limits: TimingLimits;
  /** Creates a shared secret of at least 256 random bits: as text for the owner, and sealed for the database. */
  newSecret: (deploymentId: string) => { shared: Secret; sealed: string };
  /** Encrypts the shared secret for the caller. */
  sealer: PeerSealer;
  /** Clears the caches of all replicas for a changed deployment. Resolves when no replica uses older data. */
  announce: (deploymentId: string) => Promise<void>;
  /** Wakes the tickers of all replicas. */
  wakeTickers: (deploymentId: string) => void;
  /** Wakes the workers of channels. */
  wakeWorkers: (deploymentId: string) => void;
  /** Fires a schedule that is due, before a change of its times. */
  fireDue: (deploymentId: string) => Promise<void>;
  /** Interrupts the turn of a run as its owner, and stores the new state of the run. */
  interruptRun: RunInterrupter['interruptAsOwner'];
}
