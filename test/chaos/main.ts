/**
 * Crashes under load, with a seed.
 *
 *   npm run chaos -- --rounds 200 --seed 7
 */
import { parseArgs } from 'node:util';
import { crashRounds } from './crash.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
});
const figures = await crashRounds(Number(values.rounds), Number(values.seed));
console.log(figures);
if (figures.lost > 0 || figures.repeated > 0 || figures.broken.length > 0) process.exitCode = 1;
