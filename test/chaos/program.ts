import type { Api } from '../support/api.ts';
import { type Program, runProgram } from '../support/program.ts';
import { until } from '../support/wait.ts';

/** A busy machine needs several times longer than usual. */
const START_MS = 120_000;

/** Starts the whole system in one process, and waits until it is ready. */
export async function startReady(env: Record<string, string>, api: Api): Promise<Program> {
  const program = runProgram(env);
  const isReady = async () => (await fetch(`${api.origin}/readyz`).catch(() => undefined))?.ok;
  try {
    await Promise.race([until('the program is ready', isReady, START_MS), hasEnded(program)]);
  } catch (error) {
    program.kill('SIGKILL');
    throw new Error(`the program did not start:\n${program.output()}`, { cause: error });
  }
  return program;
}

async function hasEnded({ exited }: Program): Promise<never> {
  throw new Error(`the program exited with ${await exited}`);
}
