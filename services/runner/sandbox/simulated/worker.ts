import { parentPort } from 'node:worker_threads';
import { Bash } from 'just-bash';
import { SimulatedFiles } from './files.ts';
import type { Mount } from './names.ts';
import { rm } from './rm.ts';
import { Space } from './space.ts';

/** One command for a worker. */
export interface Job {
  script: string;
  stdin: Uint8Array | undefined;
  mounts: Mount[];
  variables: Record<string, string>;
  temporaryBytes: number;
  maxOutputBytes: number;
}

/** What became of it, and what it has printed: the shell gives its output when it is done. */
export interface Done {
  exitCode: number;
  stdout: Uint8Array;
  stderr: Uint8Array;
  tooMuch: boolean;
}

/** A thread may be ended at any time, so that no number of steps has to. */
const ENDLESS = {
  maxCommandCount: Number.POSITIVE_INFINITY,
  maxLoopIterations: Number.POSITIVE_INFINITY,
  maxWorkUnits: Number.POSITIVE_INFINITY,
  maxExecutionTimeMs: Number.POSITIVE_INFINITY,
};
const TOO_MUCH = /output size (limit )?exceeded/;

const port = parentPort;
if (port) {
  // What it needs is loaded before anybody waits for it.
  const system = new Bash({ cwd: '/' });
  await system.exec('for i in 1; do echo $i | cat > /dev/null; done; ls / > /dev/null');
  port.on('message', (job: Job) => void run(system, job).then((done) => port.postMessage(done)));
  port.postMessage('ready');
}

async function run({ fs: system }: Bash, job: Job): Promise<Done> {
  for (const { at } of job.mounts) await system.mkdir(at, { recursive: true });
  const bash = new Bash({
    fs: new SimulatedFiles(system, job.mounts, new Space(job.mounts, job.temporaryBytes)),
    env: job.variables,
    cwd: '/workspace',
    customCommands: [rm],
    executionLimits: { ...ENDLESS, maxOutputSize: job.maxOutputBytes },
  });
  const stdin = Buffer.from(job.stdin ?? []).toString('latin1');
  try {
    const result = await bash.exec(job.script, { rawScript: true, stdin, stdinKind: 'bytes' });
    return {
      exitCode: result.exitCode & 0xff,
      stdout: Buffer.from(result.stdout, result.stdoutKind === 'bytes' ? 'latin1' : 'utf8'),
      stderr: Buffer.from(result.stderr),
      tooMuch: TOO_MUCH.test(result.stderr),
    };
  } catch (error) {
    // A redirection to where nothing can be written ends the whole script.
    const words = error instanceof Error ? error.message : String(error);
    return { exitCode: 1, stdout: Buffer.of(), stderr: Buffer.from(`bash: ${words}\n`), tooMuch: false };
  }
}
