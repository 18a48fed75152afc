import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { AgentStore } from '../store/agents.ts';
import type { EnvironmentStore } from '../store/environments.ts';
import type { RunnerStore } from '../store/runners.ts';

export interface AgentsHandlerContext {
  agents: AgentStore;
  assistants: AgentStore;
  environments: EnvironmentStore;
  runners: RunnerStore;
  users: {
    /** Returns whether a user with this id has ever logged in. */
    exists(userId: string, options: CallOptions): Promise<boolean>;
  };
  /** Records an action in the audit log before it is done. */
  record: AuditRecorder;
  clock: Clock;
  ids: Ids;
  /** Names of the OpenAI-compatible endpoints whose models agents can use. */
  endpoints: readonly string[];
  /** Tells other processes that an agent, assistant or environment has changed. */
  publishHint: (channel: 'agents.changed' | 'environments.changed', id: string) => void;
  /** Resolves when no process uses a cached state from before the last hint. */
  waitForCaches: () => Promise<void>;
  /** Starts the deletion of the workspaces of deleted assistants. */
  cleanUpWorkspaces: () => void;
}
