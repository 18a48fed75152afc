/**
 * The hot paths beside the bare limit, in one run on one machine. Ratios count; absolute figures move with
 * the machine. Ends with an error when something fails, never because a figure is low.
 */
import { measureAccepted, measureApart, measureBare } from './acceptance.ts';
import { measureAccess } from './access.ts';
import { type Bench, pause } from './bench.ts';
import { measureCatchUp } from './catch-up.ts';
import { measureCommands } from './commands.ts';
import { measureFinished } from './completion.ts';
import { hasChromium, measureConsole } from './console.ts';
import { measureFollowers } from './followers.ts';
import { measureGrowth } from './growth.ts';
import { measureIdle } from './idle.ts';
import { measureLatency } from './latency.ts';
import { describeMachine } from './machine.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { openPostgres } from './postgres.ts';
import { measureSize } from './size.ts';
import { hasRedis } from './subjects.ts';
import { type Results, table } from './table.ts';
import { measureTransfers } from './transfers.ts';
import { measureTree } from './tree.ts';
import { measureTurns } from './turns.ts';

const UNWIND_MS = 15_000;

const options = optionsOrExit();
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)));
const postgres = await openPostgres();
const bench = { postgres, durationMs: options.seconds * 1_000, scale: options.scale, profiling: false, say };
const running = run(bench, options);
try {
  await Promise.race([running, interrupted.promise]);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await postgres[Symbol.asyncDispose]();
  // Without its database an interrupted measurement fails, and takes away what it has started.
  await Promise.race([running.catch(() => {}), pause(UNWIND_MS)]);
}
process.exit();

async function run(bench: Bench, options: Options): Promise<void> {
  console.log(describeMachine(bench.postgres.version));
  const results = await measure(bench, options);
  if (options.profile) await profile({ ...bench, profiling: true }, options);
  console.log(`\nmedians; rounds: ${options.rounds}\n\n${table(results)}`);
}

/** Each round measures everything once, so that what slows the machine for a while slows all of it. */
async function measure(bench: Bench, { parts, rounds, sustained }: Options): Promise<Results> {
  const webhooks = { bare: [], accepted: [], apart: [], finished: [], latency: [] };
  const files = { transfers: [], growth: [], tree: [], commands: [] };
  const sessions = { turns: [], followers: [], idle: [], catchUp: [], size: [] };
  const results: Results = { ...webhooks, ...sessions, ...files, access: [], console: [] };
  const isApart = parts.has('apart') && hasRedis();
  for (let round = 1; round <= rounds; round++) {
    console.log(`\nround ${round} of ${rounds}\n`);
    if (parts.has('bare')) results.bare.push(await measureBare(bench));
    if (parts.has('accepted')) results.accepted.push(await measureAccepted(bench));
    if (isApart) results.apart.push(await measureApart(bench));
    else if (parts.has('apart')) say('a"', 'needs redis-server: apt-get install redis-server');
    if (parts.has('latency')) results.latency.push(await measureLatency(bench));
    if (parts.has('turns')) results.turns.push(await measureTurns(bench));
    if (parts.has('followers')) results.followers.push(await measureFollowers(bench));
    if (parts.has('idle')) results.idle.push(await measureIdle(bench));
    if (parts.has('catchup')) results.catchUp.push(await measureCatchUp(bench));
    if (parts.has('files')) results.transfers.push(await measureTransfers(bench));
    if (parts.has('growth')) results.growth.push(await measureGrowth(bench));
    if (parts.has('commands')) results.commands.push(...(await measureCommands(bench)));
    if (parts.has('access')) results.access.push(await measureAccess(bench));
    if (parts.has('console') && hasChromium()) results.console.push(await measureConsole(bench));
    else if (parts.has('console')) say('o', 'needs Chromium: apt-get install chromium');
  }
  if (parts.has('finished')) {
    console.log(`\n${sustained} s in one piece\n`);
    results.finished.push(await measureFinished({ ...bench, durationMs: sustained * 1_000 }));
  }
  if (parts.has('tree')) {
    console.log('\na small workspace and a large one\n');
    results.tree.push(await measureTree(bench));
  }
  if (parts.has('size')) {
    console.log('\na small database and a large one\n');
    results.size.push(await measureSize(bench));
  }
  return results;
}

async function profile(bench: Bench, { parts }: Options): Promise<void> {
  console.log('\nprofiles; the figures beside them suffer from that\n');
  if (parts.has('accepted')) await measureAccepted(bench);
  if (parts.has('finished')) await measureFinished(bench);
  if (parts.has('turns')) await measureTurns(bench);
  if (parts.has('files')) await measureTransfers(bench);
}

function say(letter: string, text: string): void {
  for (const [index, line] of text.split('\n').entries())
    console.log(`${(index === 0 ? letter : '').padEnd(3)} ${line}`);
}

function optionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(1);
  }
}
