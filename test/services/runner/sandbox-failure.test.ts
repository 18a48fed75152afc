import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { OperatingSystemError } from '../../../services/runner/kernel/operating-system-error.ts';
import { SandboxError } from '../../../services/runner/sandbox/sandbox-error.ts';
import {
  SandboxLostError,
  sandboxFailure,
} from '../../../services/runner/sandbox-pool/sandbox-lost-error.ts';
import { ShellThread } from '../../../services/runner/sandbox-providers/simulated/shell-thread.ts';
import type { ShellJob, ShellResult } from '../../../services/runner/sandbox-providers/simulated/worker.ts';
import { ToolError } from '../../../services/runner/tool-calls/tool-error.ts';

const systemError = (code: string) => Object.assign(new Error(`${code}: failed`), { code });

describe('sandboxFailure', () => {
  it.each([
    new SandboxError('bubblewrap ended'),
    new OperatingSystemError('The proxy of the sandbox does not listen.'),
    systemError('ENOENT'),
    refuse('SANDBOX_UNAVAILABLE', 'The sandbox has ended or is suspended.'),
  ])('reports a lost sandbox with its cause for %s', (error) => {
    const failure = sandboxFailure(error, true);
    expect(failure).toBeInstanceOf(SandboxLostError);
    expect(failure).toMatchObject({ hasRun: true, cause: error });
  });

  it.each([
    new TypeError('x.y is not a function'),
    new Error('a checkout does not begin with its head'),
    Object.assign(new Error('invalid argument'), { code: 'ERR_INVALID_ARG_TYPE' }),
    refuse('QUOTA_EXCEEDED', 'The workspace is full.'),
    new ToolError('The command was stopped.'),
    'a string',
  ])('returns %s unchanged', (error) => {
    expect(sandboxFailure(error, true)).toBe(error);
  });

  it.each(['ENOSPC', 'EDQUOT'])('returns a ToolError for %s', (code) => {
    expect(sandboxFailure(systemError(code), false)).toBeInstanceOf(ToolError);
  });
});

describe('ShellThread', () => {
  it('reports an exception in the simulated shell instead of a lost sandbox', async () => {
    const thread = await ShellThread.start(64);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const unexpected = (result: unknown) => reject(new Error(`unexpected ${JSON.stringify(result)}`));
    // A job without mounts makes the worker throw a TypeError.
    thread.run({ script: 'true' } as ShellJob, {
      done: (result: ShellResult) => unexpected(result),
      ended: unexpected,
      failed: resolve,
    });
    expect(await promise).toBeInstanceOf(TypeError);
    expect(thread.isReusable).toBe(false);
    await thread.end();
  });
});
