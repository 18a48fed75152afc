import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { ModelTable } from '../../../lib/models/table.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { IsPrivateHost } from '../domain/mcp-server-form.ts';
import type { Unpack } from '../skill-archive/unpack.ts';
import type { AgentStore } from '../store/agents.ts';
import type { EnvironmentStore } from '../store/environments.ts';
import type { McpCatalogueStore } from '../store/mcp-catalogues.ts';
import type { McpServerStore } from '../store/mcp-servers.ts';
import type { ModelWindowStore } from '../store/model-windows.ts';
import type { RunnerStore } from '../store/runners.ts';
import type { SkillExtensionStore } from '../store/skill-extensions.ts';
import type { SkillTreeStore } from '../store/skill-trees.ts';
import type { SkillStore } from '../store/skills.ts';

export interface AgentsHandlerContext {
  agents: AgentStore;
  assistants: AgentStore;
  environments: EnvironmentStore;
  runners: RunnerStore;
  modelWindows: ModelWindowStore;
  mcpServers: McpServerStore;
  mcpCatalogues: McpCatalogueStore;
  skills: SkillStore;
  skillExtensions: SkillExtensionStore;
  skillTrees: SkillTreeStore;
  unpackSkill: Unpack;
  files: Pick<Client<FilesServiceDefinition>, 'putSkillTree' | 'deleteSkillTree'>;
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
  /** The limits and capabilities of models. */
  modelTable: ModelTable;
  isPrivateHost: IsPrivateHost;
  vaults: Pick<
    Client<VaultsServiceDefinition>,
    'getAgentCredentials' | 'probe' | 'putOAuthClient' | 'deleteOAuthClient'
  >;
  /** Opens secret members of requests, and encrypts them for other services. */
  peerSealer: PeerSealer;
  /** Tells other processes that an agent, assistant, environment, MCP server or skill has changed. */
  publishHint: (
    channel: 'agents.changed' | 'environments.changed' | 'extensions.changed',
    id: string,
  ) => void;
  /** Resolves when no process uses a cached state from before the last hint. */
  waitForCaches: () => Promise<void>;
  /** Starts the deletion of data of deleted agents and assistants in other services. */
  startDeletions: () => void;
}
