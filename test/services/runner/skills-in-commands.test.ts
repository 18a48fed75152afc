import { afterEach, describe, expect, it } from 'vitest';
import type { CheckoutResponse } from '../../../proto/gen/ahs/files/v1/files.ts';
import { queuedTurn } from './fake-sessions.ts';
import { openShellRunner, resultsOf, type ShellRunner } from './shell-runner.ts';

const LIMIT_SECONDS = 5;
const STEP_MS = 20;
const SKILL = { id: 'skl_1', name: 'forms', version: 1, description: '', workspaceId: 'wsp_1' };
const HEAD = { workspaceId: 'wsp_1', version: 1, whole: true, files: 1, bytes: 3 };
const FILE = { path: 'SKILL.md', kind: 'file', size: 3, sha256: '', target: '', executable: false };

async function* checkOut(): AsyncGenerator<CheckoutResponse> {
  yield { kind: { $case: 'head', value: HEAD } };
  yield { kind: { $case: 'entry', value: { ...FILE, modifiedAt: undefined } } };
  yield { kind: { $case: 'bytes', value: Buffer.from('ink') } };
}

describe('a command of a turn with skills', () => {
  let shell: ShellRunner;
  let sessions = 0;
  afterEach(() => shell?.[Symbol.asyncDispose]());

  function start(turnId: string, command: string): void {
    const runtime = { model: 'rehearsal/shell', skills: { items: [SKILL] } };
    shell.queueTurns(runtime, {
      ...queuedTurn(turnId, `$ ${command}`),
      sessionId: `ses_${String(++sessions).padStart(26, '0')}`,
    });
  }

  async function run(turnId: string, command: string) {
    start(turnId, command);
    return resultsOf(await shell.waitForOutcome(turnId))[0];
  }

  it('sees a skill that was copied once for all sessions', async () => {
    shell = await openShellRunner();
    let copies = 0;
    shell.files.checkOutSkill = () => {
      copies++;
      return checkOut();
    };
    expect((await run('trn_1', 'cat /skills/forms/SKILL.md'))?.output).toBe('ink');
    expect((await run('trn_2', 'cat /skills/forms/SKILL.md'))?.output).toBe('ink');
    expect(copies).toBe(1);
  });

  it('does not run when the skill was deleted, and runs again in a later turn', async () => {
    shell = await openShellRunner();
    expect(await run('trn_deleted', 'touch has-run')).toMatchObject({
      is_error: true,
      output: 'SKILL_NOT_FOUND: The skill "forms" was deleted. No command was run.',
    });
    expect(shell.filesOnDisk().some((path) => /has-run|SKILL\.md|\/files$/.test(path))).toBe(false);
    shell.files.checkOutSkill = checkOut;
    expect((await run('trn_later', 'ls /skills'))?.output).toBe('forms\n');
  });

  it('does not run when the skill is larger than the space for copies', async () => {
    shell = await openShellRunner();
    shell.files.checkOutSkill = async function* () {
      yield { kind: { $case: 'head', value: { ...HEAD, bytes: 2 * 1024 ** 3 } } };
    };
    expect(await run('trn_large', 'touch has-run')).toMatchObject({
      is_error: true,
      output: expect.stringMatching(
        /^STORAGE_FULL: The skill "forms" has 2 GiB in 1 files.* No command was run\./,
      ),
    });
    expect(shell.filesOnDisk().some((path) => path.endsWith('has-run'))).toBe(false);
  });

  it('ends within the time limit of commands when the copy hangs', async () => {
    shell = await openShellRunner();
    const sandbox = { provider: 'auto', image: '', commandTimeoutSeconds: LIMIT_SECONDS };
    shell.agents.changeEnvironment({ sandbox });
    const reached = Promise.withResolvers<void>();
    const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
    shell.files.checkOutSkill = async function* () {
      yield* checkOut();
      reached.resolve();
      await hangs;
    };
    start('trn_hangs', 'touch has-run');
    await reached.promise;
    const hasEnded = () => shell.sessions.journalOf('trn_hangs').outcomes.length > 0;
    await shell.advanceUntil('the turn has ended', hasEnded, STEP_MS);
    release();
    expect(resultsOf(shell.sessions.journalOf('trn_hangs'))[0]).toMatchObject({
      is_error: true,
      output: `The skills could not be copied within ${LIMIT_SECONDS} seconds.`,
    });
  });
});
