import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { openShellRunner, resultsOf, type ShellRunner } from './shell-runner.ts';

const SESSION = 'ses_00000000000000000000000001';
const LIMIT_SECONDS = 5;
const STEP_MS = 20;

describe('a command while the files service does not answer', () => {
  let shell: ShellRunner;
  afterEach(() => shell?.[Symbol.asyncDispose]());

  async function open(): Promise<void> {
    shell = await openShellRunner();
    shell.agents.changeEnvironment({
      sandbox: { provider: 'auto', image: '', commandTimeoutSeconds: LIMIT_SECONDS },
    });
  }

  it.each([
    ['checkout', 'updated'],
    ['writeContents', 'saved'],
  ] as const)(
    'ends with an error result within the time limit of commands when %s hangs',
    async (method, verb) => {
      await open();
      const reached = Promise.withResolvers<void>();
      const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
      shell.files.before[method] = () => {
        reached.resolve();
        return hangs;
      };
      shell.startTurn({ turnId: 'trn_hangs', sessionId: SESSION }, 'echo hello > f');
      // The time limit must not pass in an earlier part of the command.
      await reached.promise;
      await shell.advanceUntil(
        'the turn has ended',
        () => shell.sessions.journalOf('trn_hangs').outcomes.length > 0,
        STEP_MS,
      );
      release();
      expect(resultsOf(shell.sessions.journalOf('trn_hangs'))[0]).toMatchObject({
        is_error: true,
        output: expect.stringContaining(
          `The workspace could not be ${verb} within ${LIMIT_SECONDS} seconds.`,
        ),
      });
    },
  );

  it.each([
    ['hangs', (hangs: Promise<void>) => hangs],
    [
      'fails',
      () => {
        throw refuse('DEPENDENCY_UNAVAILABLE', 'the connection was lost');
      },
    ],
  ])(
    'reports the outcome as unknown when the save %s until the time limit of commands',
    async (_, before) => {
      await open();
      const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
      const reached = Promise.withResolvers<void>();
      shell.files.before.changeWorkspace = () => {
        reached.resolve();
        return before(hangs);
      };
      shell.startTurn({ turnId: 'trn_hangs', sessionId: SESSION }, 'echo hello > f');
      await reached.promise;
      const hasEnded = () => shell.sessions.journalOf('trn_hangs').outcomes.length > 0;
      await shell.advanceUntil('the turn has ended', hasEnded, STEP_MS);
      release();
      expect(resultsOf(shell.sessions.journalOf('trn_hangs'))[0]?.output).toContain(
        `It is unknown whether the workspace changes of the command were saved: The workspace could not be saved within ${LIMIT_SECONDS} seconds.`,
      );
    },
  );
});
