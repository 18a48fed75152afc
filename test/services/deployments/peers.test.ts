import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { openTo } from '../../support/peers.ts';
import { type House, openHouse } from './house.ts';

/** Who needs what. */
const ALLOWED: Record<string, string[]> = {
  edge: Object.keys(DeploymentsServiceDefinition.methods),
  runner: [],
  sessions: [],
  files: [],
  agents: [],
  auth: [],
  deployments: [],
  stranger: [],
};

describe.each(TRANSPORTS)('who may ask deployments what, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it.each(Object.keys(ALLOWED))('lets %s call what it needs and nothing else', async (peer) => {
    expect(await openTo(DeploymentsServiceDefinition, house.connection.as(peer))).toEqual(
      ALLOWED[peer]?.toSorted(),
    );
  });

  it('leaves nothing that nobody may call', () => {
    const called = new Set(Object.values(ALLOWED).flat());
    expect([...called].toSorted()).toEqual(Object.keys(DeploymentsServiceDefinition.methods).toSorted());
  });
});
