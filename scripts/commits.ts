/** Checks the subjects of all commits made after this check was added. */
import { malformedSubjects } from './commits/subjects.ts';
import { run } from './tool.ts';

const THIS_FILE = 'scripts/commits.ts';

const git = async (...args: string[]): Promise<string[]> => {
  const { ok, output } = await run(['git', ...args]);
  if (!ok) throw new Error(`git ${args[0]} failed\n${output}`);
  return output.split('\n').filter((line) => line !== '');
};

// In a clone without the full history the first commit that git knows stands for the one that added the check.
const [added] = (await git('log', '--diff-filter=A', '--format=%H', '--', THIS_FILE)).slice(-1);
const lines = added ? await git('log', '--no-merges', '--format=%h %s', `${added}..HEAD`) : [];
const malformed = malformedSubjects(lines);

for (const { commit, subject, problem } of malformed) console.log(`${commit} ${subject}\n  ${problem}`);
console.log(`${lines.length} commits read, ${malformed.length} with a malformed subject`);
if (malformed.length > 0) process.exitCode = 1;
