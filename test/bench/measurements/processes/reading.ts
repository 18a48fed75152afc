import type { Bench } from '../../bench.ts';
import { createMeter } from '../../subjects/meter.ts';
import { startSeparateProcesses } from '../../subjects/subjects.ts';
import { send } from '../../workers/senders.ts';
import { type AccessClient, cost, openTeam, tokenOf } from '../access.ts';
import { jobFor } from '../webhooks/acceptance.ts';

/** CPU of all processes of the service for one `GET /agents/{agent_id}` with a token, in microseconds. */
export interface Reading {
  oneProcessUs: number;
  separateUs: number;
}

/** The systems are measured in turn, so that a temporary slowdown of the machine affects both. */
const TURNS = 10;

/** s: reading an agent with one process per target, compared with one process. */
export async function measureReading(bench: Bench): Promise<Reading> {
  await using resources = new AsyncDisposableStack();
  const one = await openTeam(bench, resources, tokenOf);
  const separate = await openTeam(bench, resources, tokenOf, (databaseUrl, settings) =>
    startSeparateProcesses(databaseUrl, { isComplete: true, settings }),
  );
  for (let turn = 0; turn < TURNS; turn++)
    for (const { costs, subject, requests } of [one, separate])
      costs.reading.push(await cost(subject, requests.reading, bench.durationMs / TURNS));
  await describeShares(bench, separate);
  // Other load only increases the cost of a request, so the minimum is the best estimate.
  const leastOf = ({ costs }: AccessClient) => Math.min(...costs.reading);
  const reading = { oneProcessUs: leastOf(one), separateUs: leastOf(separate) };
  const us = (value: number) => `${value.toFixed(0)} µs`;
  bench.print(
    's',
    `CPU, GET /agents/{agent_id}: one process ${us(reading.oneProcessUs)}, a process per target ${us(reading.separateUs)}`,
  );
  return reading;
}

/** Prints the CPU of each process. */
async function describeShares(bench: Bench, { subject, requests }: AccessClient): Promise<void> {
  const meter = createMeter(bench, subject);
  const job = jobFor(subject, requests.reading.text, bench.durationMs);
  const { answers } = await send(job, subject, meter.begin);
  bench.print('s', await meter.end(answers, 'request'));
}
