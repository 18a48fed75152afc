import { closeSync } from 'node:fs';
import type { Pipe, PipeSet } from './pipes.ts';

/** Pipes of one command. The file descriptor after them is the one on which bubblewrap blocks. */
export const PIPE_COUNT = 6;

type CommandPipes = Record<'stdout' | 'stderr' | 'script' | 'ready' | 'info', Pipe> & {
  input: Pipe | undefined;
};

/** Throws the error of the first pipe that cannot be opened; the others are closed then. */
export function openPipes(pipes: PipeSet, hasInput: boolean): CommandPipes {
  const opened: Pipe[] = [];
  const keep = (pipe: Pipe): Pipe => {
    opened.push(pipe);
    return pipe;
  };
  try {
    return {
      input: hasInput ? keep(pipes.toCommand()) : undefined,
      script: keep(pipes.toCommand()),
      stdout: keep(pipes.fromCommand()),
      stderr: keep(pipes.fromCommand()),
      ready: keep(pipes.fromCommandWithoutSigpipe()),
      info: keep(pipes.fromCommandWithoutSigpipe()),
    };
  } catch (error) {
    closeRunnerEnds(opened);
    closeCommandEnds(opened);
    throw error;
  }
}

export function closeRunnerEnds(pipes: readonly (Pipe | undefined)[]): void {
  for (const pipe of pipes) if (pipe) closeSync(pipe.runnerEnd);
}

export function closeCommandEnds(pipes: readonly (Pipe | undefined)[]): void {
  for (const pipe of pipes) if (pipe) closeSync(pipe.commandEnd);
}
