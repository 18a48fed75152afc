import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { callableMethods } from '../../support/callable-methods.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { openVaultsSystem, type VaultsSystem } from './system.ts';

/** The methods that each service may call. */
const OF_AGENTS = [
  ...['deleteAssignments', 'deleteOAuthClient', 'getAgentCredentials', 'probe', 'putOAuthClient'],
];
const OF_RUNNER = ['getSessionCredentials', 'lend', 'listModelKeyUsers', 'reportEcho', 'reportRefusal'];
const ALLOWED: Record<string, string[]> = {
  edge: Object.keys(VaultsServiceDefinition.methods).filter(
    (method) => ![...OF_AGENTS, ...OF_RUNNER].includes(method),
  ),
  agents: OF_AGENTS,
  runner: OF_RUNNER,
  sessions: [],
  files: [],
  deployments: [],
  auth: [],
  vaults: [],
  stranger: [],
};

describe.each(TRANSPORTS)('peers of the vaults service, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('allows %s to call exactly its methods', async (peer) => {
    expect(await callableMethods(VaultsServiceDefinition, system.connection.as(peer))).toEqual(
      ALLOWED[peer]?.toSorted(),
    );
  });
});
