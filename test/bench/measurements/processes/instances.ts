import { freePort } from '../../../support/port.ts';
import type { Bench } from '../../bench.ts';
import { createWebhook } from '../../fixtures/webhook.ts';
import { startSeparateProcesses } from '../../subjects/subjects.ts';
import { send } from '../../workers/senders.ts';
import { jobFor } from '../webhooks/acceptance.ts';

export interface Instances {
  /** The part of the calls that the first of two instances of `sessions` received. */
  share: number;
  calls: number;
}

const DOUBLED = 'sessions';
const NAMES = [DOUBLED, `${DOUBLED} 2`];
/** Calls of `deployments`, which is not bound to one instance. */
const CALLS = /^ahs_rpc_duration_seconds_count\{.*method="createSession".*\} (\d+)/gm;

/** t: the spread of calls over two instances of a service. */
export async function measureInstances(bench: Bench): Promise<Instances> {
  const ports = new Map<string, number>();
  for (const name of NAMES) ports.set(name, await freePort());
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSeparateProcesses(database.url, {
    isComplete: true,
    doubled: [DOUBLED],
    // The calls of a runner stay on one instance.
    settings: { SERVICE_RUNNER_SLOTS: '0' },
    settingsFor(name): Record<string, string> {
      const port = ports.get(name);
      return port === undefined ? {} : { SERVICE_METRICS_LISTEN: `127.0.0.1:${port}` };
    },
  });
  const { request } = await createWebhook(subject.origin);
  await send(jobFor(subject, request, bench.durationMs), subject);
  const [first = 0, second = 0] = await Promise.all([...ports.values()].map(callsAt));
  const calls = first + second;
  if (calls === 0) throw new Error('the instances of sessions counted no call');
  const share = first / calls;
  bench.print('t', `calls of two instances of sessions: ${first} and ${second}`);
  return { share, calls };
}

/** Returns the number of calls that the process has received. */
async function callsAt(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(CALLS)].reduce((sum, [, count]) => sum + Number(count), 0);
}
