import type { CommandEnd } from '../sandbox/sandbox.ts';
import type { WorkspaceTree } from '../sandbox/tree.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { Commit, WorkspaceCopy } from '../workspace/copy.ts';
import { Desk, type FilesClient } from '../workspace/desk.ts';
import type { KeptSandbox } from './kept.ts';
import { failureIn, SandboxLost } from './lost.ts';
import type { Sandboxes } from './sandboxes.ts';
import { workspaceIdOf } from './tenant.ts';

export interface Order {
  script: string;
  /** The environment's limit counts when it is sooner. */
  timeoutSeconds: number | undefined;
  maxOutputBytes: number;
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
  /** Puts something more into the workspace, before its changes are kept. */
  add(tree: WorkspaceTree): Promise<void>;
}

export interface Carried {
  end: CommandEnd;
  /** The limit that held. */
  timeoutSeconds: number;
  /** What was kept of its changes; undefined when nothing was, and then why. */
  commit: Commit | undefined;
  failure?: string;
}

const DEFAULT_SECONDS = 120;
/** A sandbox that is found dead is made again so often before a command is given up. */
const TRIES = 3;

export type CommandLine = ReturnType<typeof createCommandLine>;

/**
 * Runs commands in the sandboxes of their turns: the workspace is there before, and its changes are kept after. A
 * sandbox that is found dead before the command has begun is made again, and the command runs in the new one.
 */
export function createCommandLine(sandboxes: Sandboxes, files: FilesClient) {
  return async (order: Order, call: ToolCall): Promise<Carried> => {
    for (let tries = 1; ; tries++) {
      const kept = await sandboxes.enter(call);
      try {
        return await carryOut(kept, order, call, new Desk(files, call.turn, call.signal));
      } catch (error) {
        if (!(error instanceof SandboxLost)) throw error;
        sandboxes.end(kept, 'lost', 'it is not there any more');
        if (error.hasRun || tries === TRIES) throw lost(error);
      } finally {
        kept.leave();
      }
    }
  };
}

function lost({ hasRun }: SandboxLost): Error {
  const said = hasRun
    ? ' What the command has changed in the workspace is not kept.'
    : ' No command was run.';
  return new Error(`The sandbox was lost.${said}`);
}

async function carryOut(kept: KeptSandbox, order: Order, call: ToolCall, desk: Desk): Promise<Carried> {
  try {
    return await kept.inWorkspace(workspaceIdOf(call.turn), async (copy) => {
      call.signal.throwIfAborted();
      await copy.bringUp(desk, call.signal);
      return await run(kept, copy, order, call, desk);
    });
  } catch (error) {
    throw call.signal.aborted ? error : failureIn(error, false);
  }
}

async function run(
  kept: KeptSandbox,
  copy: WorkspaceCopy,
  { script, output, maxOutputBytes, ...order }: Order,
  call: ToolCall,
  desk: Desk,
): Promise<Carried> {
  const limit = kept.environment.spec?.sandbox?.commandTimeoutSeconds || DEFAULT_SECONDS;
  const timeoutSeconds = Math.min(order.timeoutSeconds ?? limit, limit);
  const end = await kept.sandbox.run({
    script,
    workspaceId: workspaceIdOf(call.turn),
    timeoutMs: timeoutSeconds * 1_000,
    signal: AbortSignal.any([call.signal, kept.ending]),
    output,
    maxOutputBytes,
  });
  if (end.cause === 'lost') throw new SandboxLost(true);
  if (call.signal.aborted) {
    await copy.discard();
    throw new Error('The command was stopped.');
  }
  if (kept.ending.aborted) {
    const failure = 'The sandbox was ended.';
    return { end, timeoutSeconds, commit: undefined, failure };
  }
  try {
    await order.add(copy.tree);
    return { end, timeoutSeconds, commit: await copy.commit(desk, call) };
  } catch (error) {
    const failure = failureIn(error, true);
    if (call.signal.aborted || isFatal(failure)) throw failure;
    return { end, timeoutSeconds, commit: undefined, failure: messageOf(failure) };
  }
}

/** There is nobody, or nothing, left to say it to. */
function isFatal(failure: unknown): boolean {
  return failure instanceof SandboxLost || codeOf(failure) === 'LEASE_LOST';
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
