import { expect, it } from 'vitest';
import { createFakeClock } from '../../../support/clock.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import { openDeploymentsSystem } from '../system.ts';
import { callback, httpHeaders, httpMessage, storeChannel } from './fixtures.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

it('erases payloads and keys after seven days, and rows after the history', async () => {
  const clock = createFakeClock();
  await using system = await openDeploymentsSystem(TRANSPORTS[0]!, { clock });
  const { deploymentId } = await storeChannel(system, 'http');
  const send = (body: string) =>
    system.edge.receiveCallback(callback(deploymentId, body, httpHeaders(body, clock.now())));
  const rows = () =>
    system.sql<{ dedupe_key: string; result: string; payload: Buffer | null }>(
      'select dedupe_key, result, payload from deliveries where deployment_id = $1 order by delivery_id',
      [deploymentId],
    );
  await send(httpMessage('small'));
  await send(httpMessage('large', 'x'.repeat(100_000)));
  await send(httpMessage('waiting'));
  await system.sql(`update deliveries set result = 'accepted' where dedupe_key <> 'message:waiting'`);

  clock.advance(60_000);
  await until('the large payload is erased', async () => (await rows())[1]?.payload === null);
  expect((await rows()).map(({ payload }) => payload !== null)).toEqual([true, false, true]);

  clock.advance(7 * DAY_MS);
  await until('the other payload is erased', async () => (await rows())[0]?.payload === null);
  expect((await rows()).map(({ dedupe_key }) => dedupe_key.replace(/dlv_.*/, 'dlv_…'))).toEqual([
    '^dlv_…',
    '^dlv_…',
    'message:waiting',
  ]);

  clock.advance(400 * DAY_MS);
  await until('the rows are deleted', async () => (await rows()).length === 1);
  expect((await rows()).map(({ result }) => result)).toEqual(['pending']);
});
