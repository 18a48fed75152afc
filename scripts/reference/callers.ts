import type { Contract, Peers } from '../../lib/grpc/contract.ts';
import { peers as agents } from '../../services/agents/service.ts';
import { peers as auth } from '../../services/auth/service.ts';
import { CONTRACTS } from '../../services/bootstrap/contracts.ts';
import { peers as deployments } from '../../services/deployments/service.ts';
import { peers as files } from '../../services/files/service.ts';
import { peers as sessions } from '../../services/sessions/service.ts';
import { peers as vaults } from '../../services/vaults/service.ts';
import { page, table } from './table.ts';

const INTRODUCTION = `Each RPC accepts calls of the services in the column \`callers\`, and refuses others with PERMISSION_DENIED.
\`SERVICE_GRPC_CALLERS\` changes this table. [How to call a service](../how-to/call-services.md).`;

const TABLES: Record<keyof typeof CONTRACTS, Peers<Contract>> = {
  agents,
  auth,
  deployments,
  files,
  sessions,
  vaults,
};

/** Renders one table for each service. */
export function renderCallers(): string {
  return page('Callers', 'the callers in service.ts of each service', [
    INTRODUCTION,
    ...Object.entries(TABLES).map(([service, peers]) => section(service, peers)),
  ]);
}

function section(service: string, peers: Readonly<Record<string, readonly string[]>>): string {
  const contract = Object.entries(CONTRACTS).find(([name]) => name === service)?.[1];
  if (!contract) throw new Error(`${service} has no contract`);
  const rows = Object.entries(contract.methods).map(([key, { name }]) => [
    `\`${service}.${name}\``,
    (peers[key] ?? []).join(', '),
  ]);
  return `## ${service}\n\n\`${contract.fullName}\`\n\n${table(['RPC', 'callers'], rows)}`;
}
