import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '../support/wait.ts';
import type { Footprint, Profile, Question, Usage } from './probe.ts';

/** One of the processes that a subject consists of. */
export interface Member {
  name: string;
  /** Relative to this folder. */
  file: string;
  args: string[];
  env: Record<string, string>;
}

/** What is measured: one or more processes, and the address at which requests arrive. */
export interface Subject extends AsyncDisposable {
  origin: string;
  /** Fails when one of the processes ends by itself, and never succeeds. */
  failed: Promise<never>;
  usage(): Promise<{ name: string; usage: Usage }[]>;
  /** Of the first process. */
  footprint(): Promise<Footprint>;
  startProfile(): Promise<void>;
  /** Of the first process. */
  endProfile(): Promise<Profile>;
}

const START_MS = 60_000;
const ANSWER_MS = 20_000;
const STOP_MS = 10_000;
/** What a process has said last is kept for the case that it fails. */
const OUTPUT_CHARS = 4_000;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Starts the processes and waits until each of `ready`, paths at the origin, is answered without a server error. */
export async function startSubject(origin: string, ready: string[], members: Member[]): Promise<Subject> {
  await using started = new AsyncDisposableStack();
  const running = members.map((member) => ({ name: member.name, ...start(member) }));
  let stopping = false;
  started.defer(async () => {
    stopping = true;
    await Promise.all(running.map(({ child }) => stop(child)));
  });
  const failures = running.map(async ({ name, child, output }) => {
    const { code, signal } = await ended(child);
    if (stopping) return new Promise<never>(() => {});
    throw new Error(`${name} has ended (${signal ?? `exit code ${code}`}). It said:\n${output()}`);
  });
  const failed = Promise.race(failures);
  // Whoever waits for the subject hears of it.
  failed.catch(() => {});
  const answered = ready.map((path) =>
    until(`${origin + path} answers`, () => answers(origin + path), START_MS),
  );
  await Promise.race([Promise.all(answered), failed]);
  const [first] = running;
  if (!first) throw new Error('a subject has at least one process');
  const stack = started.move();
  return {
    origin,
    failed,
    usage: () =>
      Promise.all(
        running.map(async ({ name, child }) => ({ name, usage: await ask<Usage>(child, 'usage') })),
      ),
    footprint: () => ask<Footprint>(first.child, 'footprint'),
    startProfile: () => ask<void>(first.child, 'start profile'),
    endProfile: () => ask<Profile>(first.child, 'end profile'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  return answer !== undefined && answer.status < 500;
}

function start({ file, args, env }: Member): { child: ChildProcess; output(): string } {
  const child = fork(pathOf(file), args, {
    execArgv: ['--import', pathOf('probe.ts')],
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      said = (said + chunk).slice(-OUTPUT_CHARS);
    });
  return { child, output: () => said };
}

async function ask<Answer>(child: ChildProcess, question: Question): Promise<Answer> {
  child.send(question);
  const [message] = await once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
  return (message as { answer: Answer }).answer;
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended(child);
  clearTimeout(timer);
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  const exit = () => ({ code: child.exitCode, signal: child.signalCode });
  const isOver = child.exitCode !== null || child.signalCode !== null;
  return isOver ? Promise.resolve(exit()) : once(child, 'exit').then(exit);
}
