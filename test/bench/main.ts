/**
 * Measures the hot paths and their bare limits in one run on one machine. Only ratios are comparable. Fails on errors, never
 * because of a low figure.
 */

import { type Bench, pause } from './bench.ts';
import { measureAccess } from './measurements/access.ts';
import { measureChannels } from './measurements/channels/channels.ts';
import { hasChromium, measureConsole } from './measurements/console/console.ts';
import { measureEgress } from './measurements/egress.ts';
import { measureCommandMemory } from './measurements/files/command-memory.ts';
import { measureCommands } from './measurements/files/commands.ts';
import { measureSkills } from './measurements/files/skills.ts';
import { measureTransfers } from './measurements/files/transfers.ts';
import { measureTree } from './measurements/files/tree.ts';
import { measureUploadMemory } from './measurements/files/upload-memory.ts';
import { measureLending } from './measurements/lending.ts';
import { measureMcp } from './measurements/mcp.ts';
import { measureInstances } from './measurements/processes/instances.ts';
import { measureReading } from './measurements/processes/reading.ts';
import { measureScrape } from './measurements/processes/scrape.ts';
import { measureStarts } from './measurements/processes/starts.ts';
import { measureChatStreams } from './measurements/protocols/chat-streams.ts';
import { measureMcpServing } from './measurements/protocols/mcp.ts';
import { measureSchedules } from './measurements/schedules/schedules.ts';
import { measureCatchUp } from './measurements/sessions/catch-up.ts';
import { measureChatHistory } from './measurements/sessions/chat-history.ts';
import { measureClaims } from './measurements/sessions/claims.ts';
import { measureFollowers } from './measurements/sessions/followers.ts';
import { measureIdle } from './measurements/sessions/idle.ts';
import { measureLongSession } from './measurements/sessions/long-session.ts';
import { measureMessageMemory } from './measurements/sessions/message-memory.ts';
import { measureMetadata } from './measurements/sessions/metadata.ts';
import { measureSize } from './measurements/sessions/size.ts';
import { measureTurnWal } from './measurements/sessions/turn-wal.ts';
import { measureTurns } from './measurements/sessions/turns.ts';
import { measureConnecting } from './measurements/vaults/connecting.ts';
import { measureIdleCredentials } from './measurements/vaults/idle-credentials.ts';
import { measureModelKeys } from './measurements/vaults/model-keys.ts';
import {
  measureAccepted,
  measureBare,
  measureBareApart,
  measureSeparateProcesses,
} from './measurements/webhooks/acceptance.ts';
import { measureFinished, measureFinishedSeparately } from './measurements/webhooks/completion.ts';
import { measureLatency } from './measurements/webhooks/latency.ts';
import { measureOverload } from './measurements/webhooks/overload.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { describeMachine } from './report/machine.ts';
import { type Results, table } from './report/table.ts';
import { openPostgres } from './subjects/postgres.ts';
import { hasRedis } from './subjects/subjects.ts';

const UNWIND_MS = 15_000;
/** The parts with one process per target. */
const NEEDS_REDIS = ['apart', 'separate', 'reading', 'instances', 'starts', 'message'] as const;

const options = optionsOrExit();
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)));
const postgres = await openPostgres();
const bench = {
  postgres,
  durationMs: options.seconds * 1_000,
  scale: options.scale,
  profiling: false,
  print,
};
const running = run(bench, options);
try {
  await Promise.race([running, interrupted.promise]);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await postgres[Symbol.asyncDispose]();
  // An interrupted measurement fails without its database and then stops its processes.
  await Promise.race([running.catch(() => {}), pause(UNWIND_MS)]);
}
process.exit();

async function run(bench: Bench, options: Options): Promise<void> {
  console.log(describeMachine(bench.postgres.version));
  const results = await measure(bench, options);
  if (options.profile) await profile({ ...bench, profiling: true }, options);
  console.log(`\nmedians; rounds: ${options.rounds}\n\n${table(results)}`);
}

/** Each round measures everything once, so that a temporary slowdown of the machine affects all measurements. */
async function measure(bench: Bench, { parts, rounds, sustained }: Options): Promise<Results> {
  const acceptances = { bare: [], bareApart: [], accepted: [], apart: [], latency: [], overload: [] };
  const webhooks = { ...acceptances, finished: [], finishedSeparately: [] };
  const files = { transfers: [], growth: [], tree: [], commands: [], memory: [], message: [] };
  const large = { size: [], metadata: [] };
  const sessions = {
    turns: [],
    followers: [],
    idle: [],
    catchUp: [],
    history: [],
    longSessions: [],
    wal: [],
    claims: [],
    ...large,
  };
  const processes = { reading: [], instances: [], scrape: [], starts: [] };
  const results: Results = {
    ...webhooks,
    ...sessions,
    ...files,
    ...processes,
    access: [],
    lending: [],
    connecting: [],
    idleCredentials: [],
    modelKeys: [],
    mcp: [],
    mcpServing: [],
    chatStreams: [],
    skills: [],
    schedules: [],
    channels: [],
    egress: [],
    console: [],
  };
  const separate = partsWithRedis(parts);
  for (let round = 1; round <= rounds; round++) {
    console.log(`\nround ${round} of ${rounds}\n`);
    if (parts.has('bare')) results.bare.push(await measureBare(bench));
    if (parts.has('bareapart')) results.bareApart.push(await measureBareApart(bench));
    if (parts.has('accepted')) results.accepted.push(await measureAccepted(bench));
    if (separate.has('apart')) results.apart.push(await measureSeparateProcesses(bench));
    if (parts.has('latency')) results.latency.push(await measureLatency(bench));
    if (parts.has('overload')) results.overload.push(await measureOverload(bench));
    if (parts.has('turns')) results.turns.push(await measureTurns(bench));
    if (parts.has('followers')) results.followers.push(await measureFollowers(bench));
    if (parts.has('idle')) results.idle.push(await measureIdle(bench));
    if (parts.has('catchup')) results.catchUp.push(await measureCatchUp(bench));
    if (parts.has('history')) results.history.push(await measureChatHistory(bench));
    if (parts.has('wal')) results.wal.push(await measureTurnWal(bench));
    if (parts.has('claims')) results.claims.push(await measureClaims(bench));
    if (parts.has('channels')) results.channels.push(await measureChannels(bench));
    if (parts.has('schedules')) results.schedules.push(await measureSchedules(bench));
    if (parts.has('files')) results.transfers.push(await measureTransfers(bench));
    if (parts.has('growth')) results.growth.push(await measureUploadMemory(bench));
    if (parts.has('skills')) results.skills.push(await measureSkills(bench));
    if (separate.has('message')) results.message.push(await measureMessageMemory(bench));
    if (parts.has('commands')) results.commands.push(...(await measureCommands(bench)));
    if (parts.has('access')) results.access.push(await measureAccess(bench));
    if (parts.has('egress')) results.egress.push(await measureEgress(bench));
    if (parts.has('lending')) results.lending.push(await measureLending(bench));
    if (parts.has('connecting')) results.connecting.push(await measureConnecting(bench));
    if (parts.has('credentials')) results.idleCredentials.push(await measureIdleCredentials(bench));
    if (parts.has('modelkeys')) results.modelKeys.push(await measureModelKeys(bench));
    if (parts.has('mcp')) results.mcp.push(await measureMcp(bench));
    if (parts.has('mcpserving')) results.mcpServing.push(await measureMcpServing(bench));
    if (parts.has('chatstreams')) results.chatStreams.push(await measureChatStreams(bench));
    if (parts.has('console') && hasChromium()) results.console.push(await measureConsole(bench));
    else if (parts.has('console')) print('o', 'needs Chromium: apt-get install chromium-headless-shell');
    if (separate.has('reading')) results.reading.push(await measureReading(bench));
    if (separate.has('instances')) results.instances.push(await measureInstances(bench));
    if (separate.has('starts')) results.starts.push(await measureStarts(bench));
    if (parts.has('scrape')) results.scrape.push(await measureScrape(bench));
  }
  if (parts.has('finished')) {
    console.log(`\n${sustained} s in one run\n`);
    results.finished.push(await measureFinished({ ...bench, durationMs: sustained * 1_000 }));
  }
  if (separate.has('separate')) {
    console.log(`\n${sustained} s in one run, one process per target\n`);
    const durationMs = sustained * 1_000;
    results.finishedSeparately.push(await measureFinishedSeparately({ ...bench, durationMs }));
  }
  if (parts.has('long')) {
    console.log('\na long session\n');
    results.longSessions.push(await measureLongSession(bench));
  }
  if (parts.has('tree')) {
    console.log('\na small workspace and a large one\n');
    results.tree.push(await measureTree(bench));
  }
  if (parts.has('memory')) {
    console.log('\none command that makes many files\n');
    results.memory.push(await measureCommandMemory(bench));
  }
  if (parts.has('size')) {
    console.log('\na small database and a large one\n');
    results.size.push(await measureSize(bench));
  }
  if (parts.has('metadata')) {
    console.log('\na database of sessions with metadata\n');
    results.metadata.push(await measureMetadata(bench));
  }
  return results;
}

/** Returns the parts that need Redis, or none without it. */
function partsWithRedis(parts: Options['parts']): Options['parts'] {
  const wanted = NEEDS_REDIS.filter((part) => parts.has(part));
  if (wanted.length === 0 || hasRedis()) return new Set(wanted);
  print('', `${wanted.join(', ')}: needs redis-server: apt-get install redis-server`);
  return new Set();
}

async function profile(bench: Bench, { parts }: Options): Promise<void> {
  console.log('\nprofiles; profiling distorts the other figures of this round\n');
  if (parts.has('accepted')) await measureAccepted(bench);
  if (parts.has('finished')) await measureFinished(bench);
  if (parts.has('turns')) await measureTurns(bench);
  if (parts.has('files')) await measureTransfers(bench);
  if (parts.has('history')) await measureChatHistory(bench);
  if (parts.has('mcpserving')) await measureMcpServing(bench);
  if (parts.has('chatstreams')) await measureChatStreams(bench);
}

function print(letter: string, text: string): void {
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
