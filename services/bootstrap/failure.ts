import { BlobsProblem } from '../../lib/blobs/blobs.ts';
import { PostgresProblem } from '../../lib/db/embedded/problem.ts';
import { lacksPrivilege } from '../../lib/db/failure.ts';
import { MigrationProblem } from '../../lib/db/migrations.ts';
import { DirectoryProblem } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { SealingKeyProblem } from '../../lib/sealing.ts';
import { KmsProblem } from '../vaults/keys/problem.ts';
import { directoryProblem } from './directory-problem.ts';
import { SandboxesProblem } from './sandboxes-problem.ts';

/** Returns the problem that the operator can fix after a failed start, or undefined for an internal error. */
export function asProblem(error: unknown): SettingProblem | undefined {
  if (error instanceof PostgresProblem)
    return {
      variable: 'The embedded database',
      problem: `: ${error.message}`,
      expected: error.expected,
      fix: error.fix,
    };
  if (error instanceof DirectoryProblem) return directoryProblem('SERVICE_DATA_DIR', error);
  if (error instanceof SandboxesProblem) return directoryProblem('SERVICE_SANDBOX_DIRECTORY', error.cause);
  if (error instanceof BlobsProblem)
    return { variable: error.variable, problem: error.message, expected: error.expected, fix: error.fix };
  if (error instanceof MigrationProblem)
    return {
      variable: 'The database',
      problem: `: ${error.message}`,
      expected: 'a database that this release or an older one created',
      fix: 'start the release that used it last, or set another database',
    };
  if (error instanceof SealingKeyProblem)
    return {
      variable: 'SERVICE_SEALING_KEY',
      problem: `: ${error.message}`,
      expected: 'every key with which secrets of the database are sealed',
      fix: 'add the missing key after the first one, or put the file secrets/sealing-key of the data directory back',
    };
  if (error instanceof KmsProblem)
    return {
      variable: 'SERVICE_KMS_SOCKET',
      problem: error.message,
      expected: 'the unix socket of the KMS plugin that wrapped the data keys of vaults',
      fix: 'set it again, and start the plugin with the keys that it had',
    };
  if (lacksPrivilege(error))
    return {
      variable: 'SERVICE_DATABASE_URL',
      problem: `: the login lacks privileges for the migrations (${error.message})`,
      expected: 'a login that may create schemas and roles and owns the existing ones',
      fix: 'use the login of the first start, or a superuser',
    };
  return undefined;
}
