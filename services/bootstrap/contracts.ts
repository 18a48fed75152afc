import type { Contract } from '../../lib/grpc/contract.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { ServiceName } from './target.ts';

/** The contracts of all services. */
export const CONTRACTS: Record<ServiceName, Contract> = {
  agents: AgentsServiceDefinition,
  auth: AuthServiceDefinition,
  deployments: DeploymentsServiceDefinition,
  files: FilesServiceDefinition,
  sessions: SessionsServiceDefinition,
  vaults: VaultsServiceDefinition,
};
