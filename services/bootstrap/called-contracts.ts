import type { Contract } from '../../lib/grpc/contract.ts';
import { type ModuleName, SERVICES_CALLED_BY, type ServiceName } from './target.ts';

const LOADERS = {
  agents: async () => (await import('../../proto/gen/ahs/agents/v1/agents.ts')).AgentsServiceDefinition,
  auth: async () => (await import('../../proto/gen/ahs/auth/v1/auth.ts')).AuthServiceDefinition,
  deployments: async () =>
    (await import('../../proto/gen/ahs/deployments/v1/deployments.ts')).DeploymentsServiceDefinition,
  files: async () => (await import('../../proto/gen/ahs/files/v1/files.ts')).FilesServiceDefinition,
  sessions: async () =>
    (await import('../../proto/gen/ahs/sessions/v1/sessions.ts')).SessionsServiceDefinition,
  vaults: async () => (await import('../../proto/gen/ahs/vaults/v1/vaults.ts')).VaultsServiceDefinition,
} satisfies Record<ServiceName, () => Promise<Contract>>;

type Contracts = { [Name in ServiceName]: Awaited<ReturnType<(typeof LOADERS)[Name]>> };
/** Returns the contract of a service that a module of this process calls. Throws for any other service. */
export type CalledContracts = <Name extends ServiceName>(name: Name) => Contracts[Name];

/** Loads the contracts of the services that these modules call, because all contracts together have 1.6 MB of code. */
export async function loadCalledContracts(modules: readonly ModuleName[]): Promise<CalledContracts> {
  const names = new Set(modules.flatMap((name) => SERVICES_CALLED_BY[name]));
  const loaded = await Promise.all([...names].map(async (name) => [name, await LOADERS[name]()] as const));
  const contracts: Partial<Contracts> = Object.fromEntries(loaded);
  return (name) => {
    const contract = contracts[name];
    if (!contract) throw new Error(`SERVICES_CALLED_BY does not contain ${name}`);
    return contract;
  };
}
