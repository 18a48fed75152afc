import { BlobsProblem } from '../../lib/blobs/blobs.ts';
import { PostgresProblem } from '../../lib/db/embedded.ts';
import { sqlState } from '../../lib/db/failure.ts';
import { MigrationProblem } from '../../lib/db/migrations.ts';
import { DirectoryProblem } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { SandboxesProblem } from './sandboxes.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

/** What an operator can mend of a start that failed half-way; undefined when the fault is ours. */
export function asProblem(error: unknown): SettingProblem | undefined {
  if (error instanceof PostgresProblem)
    return {
      variable: 'The embedded database',
      problem: `: ${error.message}`,
      expected: error.expected,
      fix: error.fix,
    };
  if (error instanceof DirectoryProblem) return misplaced('SERVICE_DATA_DIR', error);
  if (error instanceof SandboxesProblem) return misplaced('SERVICE_SANDBOX_DIRECTORY', error.cause);
  if (error instanceof BlobsProblem)
    return { variable: error.variable, problem: error.message, expected: error.expected, fix: error.fix };
  if (error instanceof MigrationProblem)
    return {
      variable: 'The database',
      problem: `: ${error.message}`,
      expected: 'a database that this release or an older one has made',
      fix: 'start the release that used it last, or name another database',
    };
  if (sqlState(error) === INSUFFICIENT_PRIVILEGE && error instanceof Error)
    return {
      variable: 'SERVICE_DATABASE_URL',
      problem: `: the login is not allowed what migrations need (${error.message})`,
      expected: 'a login that may create schemas and roles, and owns those there are',
      fix: 'use the login of the first start, or one that is a superuser',
    };
  return undefined;
}

/** What is wrong with the directory that a setting names. */
export function misplaced(variable: string, { message, expected, fix }: DirectoryProblem): SettingProblem {
  return { variable, problem: `: ${message}`, expected, fix };
}
