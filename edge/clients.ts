import type { Client } from '../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../proto/gen/ahs/auth/v1/auth.ts';
import type { DeploymentsServiceDefinition } from '../proto/gen/ahs/deployments/v1/deployments.ts';
import type { FilesServiceDefinition } from '../proto/gen/ahs/files/v1/files.ts';
import type { SessionsServiceDefinition } from '../proto/gen/ahs/sessions/v1/sessions.ts';
import type { VaultsServiceDefinition } from '../proto/gen/ahs/vaults/v1/vaults.ts';

/** The clients of the services. The edge has no other access to them. */
export interface Clients {
  agents: Client<AgentsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
  deployments: Client<DeploymentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  vaults: Client<VaultsServiceDefinition>;
}
