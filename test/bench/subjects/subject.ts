import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '../../support/wait.ts';
import type { Footprint, ProbeRequest, Profile, Usage } from './probe.ts';

/** A process of the system under test. */
export interface Member {
  name: string;
  /** Path relative to this folder. */
  file: string;
  args: string[];
  env: Record<string, string>;
}

/** The system under test: one or more processes and their origin. */
export interface Subject extends AsyncDisposable {
  origin: string;
  /** Rejects when one of the processes exits by itself. Never resolves. */
  failed: Promise<never>;
  usage(): Promise<{ name: string; usage: Usage }[]>;
  /** Applies to the first process. */
  footprint(): Promise<Footprint>;
  startProfile(): Promise<void>;
  /** Applies to the first process. */
  endProfile(): Promise<Profile>;
}

const START_MS = 60_000;
const ANSWER_MS = 20_000;
const STOP_MS = 10_000;
/** The end of a process's output, for the error message if it fails. */
const OUTPUT_CHARS = 4_000;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Starts the processes and waits until each path of `ready` is answered without a server error, and none of them is degraded. */
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
    throw new Error(`${name} has ended (${signal ?? `exit code ${code}`}). Its output:\n${output()}`);
  });
  const failed = Promise.race(failures);
  // Prevents an unhandled rejection; users of `failed` still receive the error.
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
        running.map(async ({ name, child }) => ({ name, usage: await request<Usage>(child, 'usage') })),
      ),
    footprint: () => request<Footprint>(first.child, 'footprint'),
    startProfile: () => request<void>(first.child, 'start profile'),
    endProfile: () => request<Profile>(first.child, 'end profile'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  if (answer === undefined || answer.status >= 500) return false;
  // A degraded edge answers `/readyz` with 200, too, for example while `files` starts.
  return !(await answer.text()).includes('"status":"degraded"');
}

function start({ file, args, env }: Member): { child: ChildProcess; output(): string } {
  const child = fork(pathOf(file), args, {
    execArgv: ['--import', pathOf('compile-cache.js'), '--import', pathOf('probe.ts')],
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output = (output + chunk).slice(-OUTPUT_CHARS);
    });
  return { child, output: () => output };
}

async function request<Answer>(child: ChildProcess, message: ProbeRequest): Promise<Answer> {
  child.send(message);
  const [reply] = await once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
  return (reply as { answer: Answer }).answer;
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
