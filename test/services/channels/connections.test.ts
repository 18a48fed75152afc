import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { ProductError } from '../../../services/channels/products/product-error.ts';
import { openConnectionRun } from './connection-fixtures.ts';

const AWAY = refuse('DEPENDENCY_UNAVAILABLE', 'the service is away');
const MINUTE_MS = 60_000;

const failure = (kind: ProductError['kind'], retryAfterMs?: number) =>
  new ProductError(kind, `it is ${kind}`, retryAfterMs === undefined ? {} : { retryAfterMs });

describe('a connection', () => {
  it('registers once, and reports when the product has accepted it', async () => {
    const { connection, requests, deployments, reported, reports, run, ended } = openConnectionRun();
    const { receiver } = await connection(1);
    expect(reports()).toEqual([]);
    receiver.connected();
    await reported(1);
    expect(deployments.connectionReports).toMatchObject([
      { deploymentId: 'dep_1', fence: 1, state: 'connected', error: '', identity: { botId: 'B1' } },
    ]);
    expect(requests).toEqual(['me', 'register']);
    run.stop();
    await ended;
  });

  it('reports again that it is connected, after a report was lost', async () => {
    const { connection, deployments, pausesFor, clock, reported, reports, run, ended } = openConnectionRun();
    deployments.reportRefusals.push(AWAY);
    (await connection(1)).receiver.connected();
    await pausesFor(50);
    clock.advance(50);
    await reported(1);
    expect(reports()).toEqual([['connected', '']]);
    run.stop();
    await ended;
  });

  it('is opened again when its loss cannot be reported', async () => {
    const { connection, deployments, expectPause, reports, run, ended } = openConnectionRun();
    deployments.reportRefusals.push(AWAY);
    (await connection(1)).end();
    await expectPause(500);
    expect(reports()).toEqual([]);
    run.stop();
    await ended;
  });

  it('is only registered where events arrive by callbacks', async () => {
    const { reports, requests, deployments, ended, isReleased } = openConnectionRun({
      client: { isReceiving: false },
    });
    await ended;
    expect(requests).toEqual(['me', 'register']);
    expect(reports().at(-1)).toEqual(['connected', '']);
    // The report has ended the lease.
    expect(deployments.released).toEqual([]);
    expect(isReleased()).toBe(true);
  });

  it('stores the identity of the bot before it registers a webhook, which delivers events at once', async () => {
    const stored: unknown[] = [];
    const { deployments, ended } = openConnectionRun({
      client: {
        isReceiving: false,
        async register() {
          stored.push(...deployments.connectionReports);
        },
      },
    });
    await ended;
    expect(stored).toMatchObject([{ state: 'connecting', error: '', identity: { botId: 'B1' } }]);
  });

  it('is opened again with growing delays, and with the first delay after it was stable', async () => {
    const { connection, connections, expectPause, clock, reports, requests, run, ended } =
      openConnectionRun();
    const end = async (error?: Error) => (await connection(connections.length || 1)).end(error);
    await end();
    await expectPause(500);
    await end(failure('unavailable'));
    await expectPause(1_000);
    await end(new TypeError('a bug of a library, with a token'));
    await expectPause(2_000);
    clock.advance(MINUTE_MS + 1);
    await end();
    await expectPause(500);
    expect(reports()).toEqual([
      ['connecting', 'The product has closed the connection.'],
      ['connecting', 'it is unavailable'],
      ['connecting', 'The connection was lost.'],
      ['connecting', 'The product has closed the connection.'],
    ]);
    expect(requests).toEqual(['me', 'register']);
    run.stop();
    await ended;
  });

  it('waits at least as long as the product asks for', async () => {
    const { connection, expectPause, run, ended } = openConnectionRun();
    (await connection(1)).end(failure('rate_limited', 7_000));
    await expectPause(7_000);
    run.stop();
    await ended;
  });

  it.each(['unauthorized', 'refused'] as const)(
    'fails when the bot is %s, and is not tried again',
    async (kind) => {
      const { connection, reports, connections, deployments, ended, clock } = openConnectionRun();
      (await connection(1)).end(failure(kind));
      await ended;
      expect(reports()).toEqual([['failed', `it is ${kind}`]]);
      expect(deployments.released).toEqual([]);
      expect(connections).toHaveLength(1);
      expect(clock.pending).toBe(0);
    },
  );

  it('releases its lease when the worker stops', async () => {
    const { connection, deployments, run, ended, isReleased } = openConnectionRun();
    await connection(1);
    run.stop();
    await ended;
    expect(deployments.released).toMatchObject([{ lease: { kind: 'connection', fence: 1 } }]);
    expect(isReleased()).toBe(true);
  });

  it('ends without a report when its lease is lost', async () => {
    const { connection, deployments, run, ended, reports, isReleased } = openConnectionRun();
    await connection(1);
    run.lose();
    await ended;
    expect(reports()).toEqual([]);
    expect(deployments.released).toEqual([]);
    expect(isReleased()).toBe(true);
  });
});

describe('the events of a connection', () => {
  it('are accepted after they are committed, with the state from which the next connection resumes', async () => {
    const { connection, deployments, expectPause, run, ended } = openConnectionRun({ resumeState: '41' });
    const commit = Promise.withResolvers<void>();
    deployments.beforeAccept = () => commit.promise;
    const first = await connection(1);
    expect(first.receiver.resumeState).toBe('41');
    let isAccepted = false;
    const accepting = first.receiver.accept(['{"n":1}', '{"n":2}'], '43').then(() => {
      isAccepted = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isAccepted, first.receiver.resumeState]).toEqual([false, '41']);
    commit.resolve();
    await accepting;
    expect(deployments.accepted).toEqual([{ eventsJson: ['{"n":1}', '{"n":2}'], resumeState: '43' }]);
    await first.receiver.accept(['{"n":3}']);
    first.end();
    await expectPause(500);
    expect((await connection(2)).receiver.resumeState).toBe('43');
    run.stop();
    await ended;
  });

  it('name the bot that received them, also when its identity is not stored yet', async () => {
    const { connection, deployments, reports, run, ended } = openConnectionRun();
    deployments.reportRefusals.push(AWAY);
    const { receiver } = await connection(1);
    receiver.connected();
    await receiver.accept(['{"n":1}']);
    expect([deployments.receivers, reports()]).toEqual([['B1'], []]);
    run.stop();
    await ended;
  });

  it('are not accepted when they cannot be committed, and come again', async () => {
    const { connection, deployments, expectPause, run, ended } = openConnectionRun({ resumeState: '41' });
    deployments.beforeAccept = async () => {
      throw AWAY;
    };
    const first = await connection(1);
    const accepting = first.receiver.accept(['{"n":1}'], '42');
    await expect(accepting).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    first.end(failure('unavailable'));
    await expectPause(500);
    expect((await connection(2)).receiver.resumeState).toBe('41');
    run.stop();
    await ended;
  });

  it('end the connection when another worker holds the lease', async () => {
    const { connection, deployments, reports, ended } = openConnectionRun();
    deployments.lostFence = 1;
    const { receiver } = await connection(1);
    await expect(receiver.accept(['{}'])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await ended;
    expect([deployments.accepted, deployments.released, reports()]).toEqual([[], [], []]);
  });
});

describe('the removal of a channel from its product', () => {
  it('is repeated until the product answers', async () => {
    let attempts = 0;
    const unregister = async () => {
      if (++attempts < 2) throw failure('unavailable');
    };
    const { clock, pausesFor, reports, ended } = openConnectionRun({ remove: true, client: { unregister } });
    await pausesFor(500);
    clock.advance(500);
    await ended;
    expect(reports()).toEqual([
      ['connecting', 'it is unavailable'],
      ['removed', ''],
    ]);
  });

  it('ends when the product refuses the token, which has no webhooks any more', async () => {
    const unregister = async () => {
      throw failure('unauthorized');
    };
    const { reports, ended, deployments } = openConnectionRun({ remove: true, client: { unregister } });
    await ended;
    expect(reports()).toEqual([['removed', 'it is unauthorized']]);
    expect(deployments.released).toEqual([]);
  });
});
