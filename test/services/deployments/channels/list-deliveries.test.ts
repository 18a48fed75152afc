import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../../support/context.ts';
import { type DeploymentsSystem, OWNER, openDeploymentsSystem, STRANGER } from '../system.ts';
import { httpMessage, sendHttpCallback, storeChannel } from './fixtures.ts';

const NOT_FOUND = { code: 'DEPLOYMENT_NOT_FOUND' };

describe.each(TRANSPORTS)('ListDeliveries RPC, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('returns pages, newest first, and refuses the cursor of other filters', async () => {
    const channel = await storeChannel(system, 'http');
    for (let n = 0; n < 5; n++) await sendHttpCallback(system, channel.deploymentId, httpMessage(`m${n}`));
    const request = { ...channel, result: '' };
    const first = await system.edge.listDeliveries(
      { ...request, page: { limit: 3, cursor: '' } },
      { caller: OWNER },
    );
    const cursor = first.page?.nextCursor ?? '';
    const rest = await system.edge.listDeliveries(
      { ...request, page: { limit: 3, cursor } },
      { caller: OWNER },
    );
    const ids = [...first.deliveries, ...rest.deliveries].map(({ deliveryId }) => deliveryId);
    expect(ids).toHaveLength(5);
    expect(ids).toEqual(ids.toSorted().reverse());
    const foreign = { ...request, result: 'pending', page: { limit: 3, cursor } };
    await expect(system.edge.listDeliveries(foreign, { caller: OWNER })).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it('hides the deliveries from strangers and refuses other types', async () => {
    const channel = await storeChannel(system, 'http');
    const page = undefined;
    await expect(
      system.edge.listDeliveries({ ...channel, page, result: '' }, { caller: STRANGER }),
    ).rejects.toMatchObject(NOT_FOUND);
    const { deployment } = await system.create();
    const reference = { agentId: deployment.agentId, deploymentId: deployment.deploymentId };
    await expect(
      system.edge.listDeliveries({ ...reference, page, result: '' }, { caller: OWNER }),
    ).rejects.toMatchObject({ code: 'NOT_A_CHANNEL' });
  });
});
