/**
 * Crashes, with a seed: of the whole program while webhooks arrive and followers come and go, and of runners at the
 * edges of tool calls.
 *
 *   npm run chaos -- --rounds 200 --crashes 2000 --seed 7
 */
import { parseArgs } from 'node:util';
import { startServer } from '../support/server.ts';
import { crashRounds } from './crash.ts';
import { toolCrashes } from './tools/crashes.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    crashes: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);

if (Number(values.rounds) > 0) {
  const figures = await crashRounds(Number(values.rounds), seed);
  console.log(figures);
  const { lost, repeated, broken, strayed } = figures;
  if (lost > 0 || repeated > 0 || broken.length > 0 || strayed.length > 0) process.exitCode = 1;
}

if (Number(values.crashes) > 0) {
  await using server = await startServer();
  const figures = await toolCrashes(server.url, Number(values.crashes), seed);
  console.log(figures);
  const { silentSecondRuns, unknownRuns, inventedResults, broken } = figures;
  if (silentSecondRuns + unknownRuns + inventedResults > 0 || broken.length > 0) process.exitCode = 1;
}
