import type { Clock } from '../../../lib/clock.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import type { WorkspaceTree } from '../sandbox/workspace-tree.ts';
import type { ToolCallContext } from '../tool-calls/tool-call.ts';
import { ToolError } from '../tool-calls/tool-error.ts';
import type { Commit, DiscardedChanges, WorkspaceCopy } from '../workspace/copy.ts';
import { UnknownSaveError } from '../workspace/save-changes.ts';
import { type Attachment, type FilesClient, WorkspaceClient } from '../workspace/workspace-client.ts';
import type { PooledSandbox } from './pooled-sandbox.ts';
import { SandboxLostError, sandboxFailure } from './sandbox-lost-error.ts';
import type { SandboxPool } from './sandbox-pool.ts';
import { workspaceIdOf } from './sandbox-tenant.ts';

interface CommandRequest {
  script: string;
  /** The limit of the environment applies when it is shorter. */
  timeoutSeconds: number | undefined;
  maxOutputBytes: number;
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
  /** Writes further files into the workspace before its changes are committed. */
  writeFiles(tree: WorkspaceTree): Promise<void>;
}

export interface CompletedCommand {
  result: CommandResult;
  /** The limit that applied. */
  timeoutSeconds: number;
  /** The committed changes of the workspace. Undefined when they were not committed: `failure` is the reason then. */
  commit: Commit | undefined;
  failure?: string;
  /** Whether the changes may have been committed in spite of the failure. */
  isCommitUnknown?: boolean;
  /** The changes that were discarded because the copy of the workspace reached a limit, which the clause names. */
  discarded?: DiscardedChanges & { reachedLimit: string };
}

const DEFAULT_TIMEOUT_SECONDS = 120;
/** Sandboxes that are created for one command when each turns out to be lost before the command has run. */
const MAX_ATTEMPTS = 3;

export type CommandRunner = ReturnType<typeof createCommandRunner>;

/**
 * Returns a function that runs a command in the sandbox of a turn. It updates the workspace before the command, and
 * commits the changes after it. When the sandbox is lost before the command has run, the command runs in a new one.
 */
export function createCommandRunner(pool: SandboxPool, files: FilesClient, clock: Clock) {
  return async (request: CommandRequest, call: ToolCallContext): Promise<CompletedCommand> => {
    for (let attempt = 1; ; attempt++) {
      // Needs no sandbox, so it takes place while the sandbox is acquired.
      const attachment = beginAttachment(call, { files, clock });
      const pooled = await pool.acquire(call);
      try {
        return await runInWorkspace(pooled, request, call, attachment, { files, clock });
      } catch (error) {
        if (!(error instanceof SandboxLostError)) throw error;
        pool.end(pooled, 'lost', 'the sandbox was lost');
        if (error.hasRun || attempt === MAX_ATTEMPTS) throw toToolError(error);
      } finally {
        pooled.release();
      }
    }
  };
}

function beginAttachment({ turn, signal }: ToolCallContext, { files, clock }: Services): Attachment {
  const workspace = new WorkspaceClient(files, turn, signal).attach();
  // A failure matters only when the sandbox was acquired.
  workspace.catch(() => {});
  return { workspace, startedAt: clock.now().getTime() };
}

function toToolError({ hasRun, reachedLimit, cause }: SandboxLostError): ToolError {
  const fate = reachedLimit === undefined ? 'not saved' : `discarded, because ${reachedLimit}`;
  const consequence = hasRun ? `The workspace changes of the command were ${fate}.` : 'No command was run.';
  return new ToolError(`The sandbox was lost. ${consequence}`, { cause });
}

async function runInWorkspace(
  pooled: PooledSandbox,
  request: CommandRequest,
  call: ToolCallContext,
  attachment: Attachment,
  services: Services,
): Promise<CompletedCommand> {
  try {
    return await pooled.withWorkspace(workspaceIdOf(call.turn), async (copy) => {
      call.signal.throwIfAborted();
      await synchronize('updated', pooled, call, services, (client, signal) =>
        copy.update(client, signal, attachment),
      );
      return await runAndCommit(pooled, copy, request, call, services);
    });
  } catch (error) {
    throw call.signal.aborted ? error : sandboxFailure(error, false);
  }
}

async function runAndCommit(
  pooled: PooledSandbox,
  copy: WorkspaceCopy,
  { script, output, maxOutputBytes, ...request }: CommandRequest,
  call: ToolCallContext,
  services: Services,
): Promise<CompletedCommand> {
  const limit = timeoutSecondsOf(pooled);
  const timeoutSeconds = Math.min(request.timeoutSeconds ?? limit, limit);
  const result = await pooled.sandbox.run({
    script,
    workspaceId: workspaceIdOf(call.turn),
    timeoutMs: timeoutSeconds * 1_000,
    signal: AbortSignal.any([call.signal, pooled.endSignal]),
    output,
    maxOutputBytes,
  });
  const { reachedLimit } = result;
  if (result.cause === 'lost') throw new SandboxLostError(true, { reachedLimit });
  const discarded =
    reachedLimit === undefined ? undefined : { reachedLimit, ...(await empty(copy, reachedLimit)) };
  if (call.signal.aborted) {
    if (!discarded) await copy.discard();
    throw new ToolError('The command was stopped.');
  }
  if (discarded) return { result, timeoutSeconds, commit: undefined, discarded };
  if (pooled.endSignal.aborted) {
    const failure = 'The sandbox was ended.';
    return { result, timeoutSeconds, commit: undefined, failure };
  }
  try {
    await request.writeFiles(copy.tree);
    const commit = await synchronize('saved', pooled, call, services, (client, signal) =>
      copy.commit(client, { ...call, signal }),
    );
    return { result, timeoutSeconds, commit };
  } catch (error) {
    const failure = sandboxFailure(error, true);
    if (call.signal.aborted || isFatal(failure)) throw failure;
    await empty(copy);
    const isCommitUnknown = failure instanceof UnknownSaveError;
    return { result, timeoutSeconds, commit: undefined, failure: messageOf(failure), isCommitUnknown };
  }
}

interface Services {
  files: FilesClient;
  clock: Clock;
}

function timeoutSecondsOf({ environment }: PooledSandbox): number {
  return environment.spec?.sandbox?.commandTimeoutSeconds || DEFAULT_TIMEOUT_SECONDS;
}

/**
 * Updates or saves the workspace within the time limit of the environment's commands, so that a turn does not wait
 * longer for a failing object store. Fails with DEADLINE_EXCEEDED, or with UnknownSaveError when the changes may be saved.
 */
async function synchronize<Result>(
  verb: 'updated' | 'saved',
  pooled: PooledSandbox,
  { turn, signal: callSignal }: ToolCallContext,
  { files, clock }: Services,
  work: (client: WorkspaceClient, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const seconds = timeoutSecondsOf(pooled);
  const late = new AbortController();
  const cancel = clock.after(seconds * 1_000, () => late.abort());
  const signal = AbortSignal.any([callSignal, late.signal]);
  try {
    return await work(new WorkspaceClient(files, turn, signal), signal);
  } catch (error) {
    if (!late.signal.aborted || callSignal.aborted) throw error;
    const problem = `The workspace could not be ${verb} within ${seconds} seconds.`;
    if (error instanceof UnknownSaveError) throw new UnknownSaveError(problem, { cause: error });
    throw refuse('DEADLINE_EXCEEDED', problem, { cause: error });
  } finally {
    cancel();
  }
}

/** The command has run and must not run again, even if its copy cannot be emptied. */
async function empty(copy: WorkspaceCopy, reachedLimit?: string): Promise<DiscardedChanges> {
  try {
    return await copy.empty();
  } catch (error) {
    throw new SandboxLostError(true, { cause: error, reachedLimit });
  }
}

/** Whether a failure ends the call without a result. Refusals and tool failures become a note in the result. */
function isFatal(failure: unknown): boolean {
  if (failure instanceof Refusal) return failure.code === 'LEASE_LOST';
  return !(failure instanceof ToolError);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
