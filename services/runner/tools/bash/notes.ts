import type { Carried } from '../../sandboxes/command.ts';

const SHOWN = 20;

/** What a model has to know of a command beside its output. It is an error when it was not carried through, or not kept. */
export function notesOf({ end, timeoutSeconds, commit, failure }: Carried): {
  notes: string[];
  isError: boolean;
} {
  const notes: string[] = [];
  const { exitCode, cause, note } = end;
  if (exitCode !== null && exitCode !== 0) notes.push(`exit code ${exitCode}`);
  if (exitCode === null) notes.push(endOf(cause, timeoutSeconds));
  if (note) notes.push(note);
  notes.push(...some(commit?.conflicts, ({ path, keptAs }) => conflict(path, keptAs)));
  notes.push(...some(commit?.skipped, ({ path, reason }) => `${path} is not kept: ${reason}`));
  if (failure) notes.push(`What the command has changed in the workspace is not kept: ${failure}`);
  return { notes, isError: exitCode === null || failure !== undefined };
}

function endOf(cause: Carried['end']['cause'], timeoutSeconds: number): string {
  switch (cause) {
    case 'timeout':
      return `The command did not end within ${timeoutSeconds} seconds and was ended, with all that it had started.`;
    case 'output':
      return 'The command printed too much and was ended.';
    case 'memory':
      return 'The command needed more memory than there is and was ended.';
    default:
      return 'The command was ended.';
  }
}

function conflict(path: string, keptAs: string): string {
  if (keptAs === '') return `Somebody else has changed ${path} meanwhile, so it was not removed.`;
  return `Somebody else has changed ${path} meanwhile and keeps it; what the command wrote is in ${keptAs}.`;
}

/** So many that a model is not drowned in them. */
function some<T>(all: readonly T[] = [], say: (one: T) => string): string[] {
  const said = all.slice(0, SHOWN).map(say);
  return all.length > SHOWN ? [...said, `The same goes for ${all.length - SHOWN} more.`] : said;
}
