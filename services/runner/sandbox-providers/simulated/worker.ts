import { parentPort } from 'node:worker_threads';
import { Bash } from 'just-bash';
import { SKILLS_PATH } from '../../sandbox/variables.ts';
import { SimulatedFiles } from './files.ts';
import type { Mount } from './mounts.ts';
import { rm } from './rm.ts';
import { SpaceQuota, type SpaceQuotaOptions } from './space-quota.ts';

/** One command for a worker thread. */
export interface ShellJob {
  script: string;
  stdin: Uint8Array | undefined;
  mounts: Mount[];
  variables: Record<string, string>;
  space: SpaceQuotaOptions;
  maxOutputBytes: number;
}

/** The result of a command. The simulated shell returns the output only when the command has ended. */
export interface ShellResult {
  exitCode: number;
  stdout: Uint8Array;
  stderr: Uint8Array;
  outputExceeded: boolean;
  /** The limit of the workspace copy that refused a write, as a clause. */
  reachedLimit: string | undefined;
}

/** Steps are not limited, because the thread can be terminated at any time. */
const UNLIMITED = {
  maxCommandCount: Number.POSITIVE_INFINITY,
  maxLoopIterations: Number.POSITIVE_INFINITY,
  maxWorkUnits: Number.POSITIVE_INFINITY,
  maxExecutionTimeMs: Number.POSITIVE_INFINITY,
};
const OUTPUT_EXCEEDED = /output size (limit )?exceeded/;

const port = parentPort;
if (port) {
  // Loads the modules of common commands in advance.
  const system = new Bash({ cwd: '/' });
  await system.exec('for i in 1; do echo $i | cat > /dev/null; done; ls / > /dev/null');
  port.on('message', (job: ShellJob) => void run(system, job).then((done) => port.postMessage(done)));
  port.postMessage('ready');
}

async function run({ fs: system }: Bash, job: ShellJob): Promise<ShellResult> {
  // The thread may have run a command of another session.
  await system.rm(SKILLS_PATH, { recursive: true, force: true });
  for (const { mountPoint: at } of job.mounts) await system.mkdir(at, { recursive: true });
  const space = new SpaceQuota(job.mounts, job.space);
  const bash = new Bash({
    fs: new SimulatedFiles(system, job.mounts, space),
    env: job.variables,
    cwd: '/workspace',
    customCommands: [rm],
    executionLimits: { ...UNLIMITED, maxOutputSize: job.maxOutputBytes },
  });
  const stdin = Buffer.from(job.stdin ?? []).toString('latin1');
  try {
    const result = await bash.exec(job.script, { rawScript: true, stdin, stdinKind: 'bytes' });
    return {
      exitCode: result.exitCode & 0xff,
      stdout: Buffer.from(result.stdout, result.stdoutKind === 'bytes' ? 'latin1' : 'utf8'),
      stderr: Buffer.from(result.stderr),
      outputExceeded: OUTPUT_EXCEEDED.test(result.stderr),
      reachedLimit: space.reachedLimit,
    };
  } catch (error) {
    // A redirection to a path that cannot be written throws, and so ends the whole script.
    const message = error instanceof Error ? error.message : String(error);
    return {
      exitCode: 1,
      stdout: Buffer.of(),
      stderr: Buffer.from(`bash: ${message}\n`),
      outputExceeded: false,
      reachedLimit: space.reachedLimit,
    };
  }
}
