import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { SessionEgress } from '../credentials/session-egress.ts';
import type { EgressCredentials } from '../network/intercept/egress-credentials.ts';
import type { CommandResult, SkillMount } from '../sandbox/sandbox.ts';
import type { WorkspaceTree } from '../sandbox/workspace-tree.ts';
import type { ToolCallContext } from '../tool-calls/tool-call.ts';
import { ToolError } from '../tool-calls/tool-error.ts';
import type { Commit, DiscardedChanges, WorkspaceCopy } from '../workspace/copy.ts';
import { UnknownSaveError } from '../workspace/save-changes.ts';
import type { AcquiredSkills, SkillCopies } from '../workspace/skill-copies.ts';
import { type Attachment, type FilesClient, WorkspaceClient } from '../workspace/workspace-client.ts';
import type { PooledSandbox } from './pooled-sandbox.ts';
import { SandboxLostError, sandboxFailure } from './sandbox-lost-error.ts';
import type { SandboxPool } from './sandbox-pool.ts';
import { workspaceIdOf } from './sandbox-tenant.ts';
import { commandSeconds, withinCommandTime } from './within-command-time.ts';

interface CommandRequest {
  script: string;
  /** The limit of the environment applies when it is shorter. */
  timeoutSeconds: number | undefined;
  maxOutputBytes: number;
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
  /** Writes further files into the workspace before its changes are committed. */
  writeFiles(tree: WorkspaceTree): Promise<void>;
}

/** A request with the skills that the command sees and the credentials that it can use. */
type SkilledRequest = CommandRequest & {
  skills: readonly SkillMount[];
  egress: EgressCredentials | undefined;
};

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

interface Services {
  files: FilesClient;
  clock: Clock;
  /** Absent: commands see no skills. */
  skillCopies?: SkillCopies | undefined;
  /** Absent: commands use no credentials. */
  sessionEgress?: SessionEgress | undefined;
}

/** Sandboxes that are created for one command when each turns out to be lost before the command has run. */
const MAX_ATTEMPTS = 3;

export type CommandRunner = ReturnType<typeof createCommandRunner>;

/**
 * Returns a function that runs a command in the sandbox of a turn. It updates the workspace before the command, and
 * commits the changes after it. When the sandbox is lost before the command has run, the command runs in a new one. The
 * command sees the skills that the turn offers.
 */
export function createCommandRunner(pool: SandboxPool, services: Services) {
  return async (request: CommandRequest, call: ToolCallContext): Promise<CompletedCommand> => {
    for (let attempt = 1; ; attempt++) {
      // Needs no sandbox, so it takes place while the sandbox is acquired.
      const attachment = beginAttachment(call, services);
      const pooled = await pool.acquire(call);
      try {
        using skills = await acquireSkills(pooled, call, services);
        const egress = await services.sessionEgress?.credentialsOf(call, pooled.environment);
        return await runInWorkspace(
          pooled,
          { ...request, skills: skills.mounts, egress },
          call,
          attachment,
          services,
        );
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

const NO_SKILLS: AcquiredSkills = { mounts: [], [Symbol.dispose]() {} };

/** The copies of the skills are made within the time limit of commands. */
async function acquireSkills(
  pooled: PooledSandbox,
  call: ToolCallContext,
  { skillCopies, clock }: Services,
): Promise<AcquiredSkills> {
  if (!skillCopies || !call.turn.skills?.length) return NO_SKILLS;
  return withinCommandTime('The skills could not be copied', pooled, call, clock, (signal) =>
    skillCopies.acquire({ turn: call.turn, signal }),
  );
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
  request: SkilledRequest,
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
  { script, skills, egress, output, maxOutputBytes, ...request }: SkilledRequest,
  call: ToolCallContext,
  services: Services,
): Promise<CompletedCommand> {
  const limit = commandSeconds(pooled);
  const timeoutSeconds = Math.min(request.timeoutSeconds ?? limit, limit);
  const result = await pooled.sandbox.run({
    script,
    skills,
    egress,
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

/** Updates or saves the workspace within the time limit of commands. */
function synchronize<Result>(
  verb: 'updated' | 'saved',
  pooled: PooledSandbox,
  call: ToolCallContext,
  { files, clock }: Services,
  work: (client: WorkspaceClient, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withinCommandTime(`The workspace could not be ${verb}`, pooled, call, clock, (signal) =>
    work(new WorkspaceClient(files, call.turn, signal), signal),
  );
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
