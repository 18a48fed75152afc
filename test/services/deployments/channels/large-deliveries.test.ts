import { expect, it } from 'vitest';
import { TRANSPORTS } from '../../../support/context.ts';
import { openDeploymentsSystem } from '../system.ts';
import { callback, httpHeaders, httpMessage, storeChannel } from './fixtures.ts';

const MIB = 1024 * 1024;

it('hands out large events in several claims, so that each fits into one message', async () => {
  await using system = await openDeploymentsSystem(TRANSPORTS[0]!);
  const { deploymentId } = await storeChannel(system, 'http');
  for (let n = 0; n < 5; n++) {
    const body = httpMessage(`m${n}`, 'hi', `room-${n}`);
    const headers = httpHeaders(body, system.context.clock.now());
    await system.edge.receiveCallback(callback(deploymentId, body, headers));
  }
  await system.sql('update deliveries set size = $1', [10 * MIB]);
  const worker = system.connection.as('channels');
  async function claim(): Promise<string[]> {
    const free = { connections: 0, conversations: 0, deliveries: 50 };
    const request = { workerId: system.context.ids('wrk'), ...free, waitMs: 0, leaseSeconds: 30 };
    const { deliveries } = await worker.claimWork(request, { requestId: system.context.ids('req') });
    return deliveries.map(({ conversation }) => conversation);
  }
  expect(await claim()).toEqual(['room-0', 'room-1', 'room-2']);
  expect(await claim()).toEqual(['room-3', 'room-4']);
  expect(await claim()).toEqual([]);
});
