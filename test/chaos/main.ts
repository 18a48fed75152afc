/**
 * Seeded fault tests: kills the whole program while webhooks arrive and followers reconnect, kills runners before, during and
 * after tool calls, removes and restores the parts that the service depends on under a mixed load, and kills, suspends and
 * isolates the processes of a system with a process per target under the same load. Compares the times of generated schedules
 * with the minutes of the clock in a number of time zones; there are 60. Sends messages to a channel in changing order and several
 * times, while the program is killed. Holds conversations of many turns with large tool results and images at a provider that
 * counts tokens strictly, one for each context window, while runners are killed.
 *
 *   npm run chaos -- --rounds 200 --crashes 2000 --fault-seconds 600 --process-seconds 600 --zones 60 --messages 20000 --turns 5000 --seed 7
 *   npm run chaos -- --rounds 0 --crashes 0 --fault-seconds 0 --process-seconds 180 --zones 0 --messages 0 --turns 0
 *   npm run chaos -- --rounds 0 --crashes 0 --fault-seconds 0 --process-seconds 0 --zones 0 --messages 0 --turns 5000 --windows 8000
 */
import { parseArgs } from 'node:util';
import { startTestPostgres } from '../support/postgres-server.ts';
import { channelRounds } from './channels/rounds.ts';
import { crashRounds } from './crash.ts';
import { faultRounds } from './faults/rounds.ts';
import { isRight, longRounds, WINDOWS } from './long/rounds.ts';
import { processRounds } from './processes/rounds.ts';
import { scheduleRounds } from './schedules.ts';
import { toolCrashes } from './tools/crashes.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    crashes: { type: 'string', default: '200' },
    'fault-seconds': { type: 'string', default: '60' },
    'process-seconds': { type: 'string', default: '60' },
    zones: { type: 'string', default: '4' },
    messages: { type: 'string', default: '3000' },
    turns: { type: 'string', default: '60' },
    windows: { type: 'string', default: '8000,32000,200000' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);

if (Number(values.rounds) > 0) {
  const figures = await crashRounds(Number(values.rounds), seed);
  console.log(figures);
  const { lost, repeated, broken, diverged } = figures;
  if (lost > 0 || repeated > 0 || broken.length > 0 || diverged.length > 0) process.exitCode = 1;
}

if (Number(values.crashes) > 0) {
  await using server = await startTestPostgres();
  const figures = await toolCrashes(server.url, Number(values.crashes), seed);
  console.log(figures);
  const { silentSecondRuns, unknownRuns, inventedResults, broken } = figures;
  if (silentSecondRuns + unknownRuns + inventedResults > 0 || broken.length > 0) process.exitCode = 1;
}

const faultSeconds = Number(values['fault-seconds']);
if (faultSeconds > 0) {
  const figures = await faultRounds({ seconds: faultSeconds, faultMs: 6_000, seed, print: console.log });
  console.log(figures);
  const { lost, lostUploads, broken, violations } = figures;
  if (lost > 0 || [lostUploads, broken, violations].some(({ length }) => length > 0)) process.exitCode = 1;
}

const processSeconds = Number(values['process-seconds']);
if (processSeconds > 0) {
  const figures = await processRounds({ seconds: processSeconds, faultMs: 3_000, seed, print: console.log });
  console.log(figures);
  const { lost, lostUploads, repeated, broken, diverged, violations } = figures;
  const problems = [lostUploads, repeated, broken, diverged, violations];
  if (lost > 0 || problems.some(({ length }) => length > 0)) process.exitCode = 1;
}

const zones = Number(values.zones);
if (zones > 0) {
  const figures = scheduleRounds(zones, seed);
  console.log(figures);
  if (figures.differences.length > 0) process.exitCode = 1;
}

const messages = Number(values.messages);
if (messages > 0) {
  const figures = await channelRounds({ messages, kills: 2, seed });
  console.log(figures);
  const { lost, repeated, misplaced, disordered, untold, wrong, floodTurnsAfterOthers } = figures;
  const problems = [lost, repeated, misplaced, disordered, untold, wrong];
  if (problems.some(({ length }) => length > 0) || floodTurnsAfterOthers === 0) process.exitCode = 1;
}

const turns = Number(values.turns);
const windows = values.windows.split(',').map(Number);
for (const window of WINDOWS.filter((one) => turns > 0 && windows.includes(one.window))) {
  const figures = await longRounds({ ...window, turns, turnsPerKill: 40, seed, print: console.log });
  console.log(figures);
  if (!isRight(figures)) process.exitCode = 1;
}
