import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { callableMethods } from '../../support/callable-methods.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type DeploymentsSystem, openDeploymentsSystem } from './system.ts';

/** The methods of channel workers. */
const OF_WORKERS = [
  ...['claimWork', 'renewLeases', 'releaseLease', 'acceptEvents', 'reportConnection', 'finishDelivery'],
  ...['decideFromChannel', 'notePosts', 'reportProbe'],
];

/** The methods that each service may call. */
const ALLOWED: Record<string, string[]> = {
  edge: Object.keys(DeploymentsServiceDefinition.methods).filter((method) => !OF_WORKERS.includes(method)),
  channels: OF_WORKERS,
  runner: [],
  sessions: [],
  files: [],
  agents: [],
  auth: [],
  deployments: [],
  stranger: [],
};

describe.each(TRANSPORTS)('peers of the deployments service, %s', (transport) => {
  let system: DeploymentsSystem;
  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('allows %s to call exactly its methods', async (peer) => {
    expect(await callableMethods(DeploymentsServiceDefinition, system.connection.as(peer))).toEqual(
      ALLOWED[peer]?.toSorted(),
    );
  });

  it('allows every method to at least one service', () => {
    const called = new Set(Object.values(ALLOWED).flat());
    expect([...called].toSorted()).toEqual(Object.keys(DeploymentsServiceDefinition.methods).toSorted());
  });
});
