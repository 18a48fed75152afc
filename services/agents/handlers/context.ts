import type { Clock } from '../../../lib/clock.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Recorder } from '../../../lib/grpc/recorder.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { EnvironmentStore } from '../store/environments.ts';
import type { AgentStore } from '../store.ts';

export interface HandlerContext {
  agents: AgentStore;
  assistants: AgentStore;
  environments: EnvironmentStore;
  users: {
    /** Whether somebody of that id has ever logged in. */
    isThere(userId: string, options: CallOptions): Promise<boolean>;
  };
  /** Writes down what is about to be done. */
  record: Recorder;
  clock: Clock;
  ids: Ids;
  /** Names of the OpenAI-compatible endpoints whose models agents may have. */
  endpoints: readonly string[];
  /** Tells others that an agent, an assistant or an environment is not what it was. */
  hint: (channel: 'agents.changed' | 'environments.changed', id: string) => void;
  /** Resolves when nobody trusts any more what it was before its hint. */
  settle: () => Promise<void>;
  /** Has the workspaces of deleted assistants deleted. */
  forget: () => void;
}
