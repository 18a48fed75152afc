import type { Conflict } from '../../../../proto/gen/ahs/files/v1/files.ts';
import type { CompletedCommand } from '../../sandbox-pool/run-command.ts';

const MAX_SHOWN = 20;

/**
 * Returns notes for the model about how a command ended. `isError` is set when the command did not end by itself or when
 * its changes were not saved.
 */
export function notesOf(completed: CompletedCommand): { notes: string[]; isError: boolean } {
  const { result, timeoutSeconds, commit, failure, discarded } = completed;
  const notes: string[] = [];
  const { exitCode, cause, note } = result;
  if (exitCode !== null && exitCode !== 0) notes.push(`exit code ${exitCode}`);
  if (exitCode === null) notes.push(endNote(cause, timeoutSeconds));
  if (note) notes.push(note);
  const conflictNoteOf = ({ path, keptAs }: Conflict) => conflictNote(path, keptAs);
  notes.push(...limited(commit?.conflicts, conflictNoteOf, commit?.conflictCount));
  notes.push(...limited(commit?.skipped, ({ path, reason }) => `${path} was not saved: ${reason}`));
  if (failure) notes.push(`${outcomeOf(completed)}: ${failure}`);
  if (discarded) notes.push(discardNote(discarded));
  return { notes, isError: exitCode === null || failure !== undefined || discarded !== undefined };
}

function outcomeOf({ isCommitUnknown = false }: CompletedCommand): string {
  return isCommitUnknown
    ? 'It is unknown whether the workspace changes of the command were saved'
    : 'The workspace changes of the command were not saved';
}

function endNote(cause: CompletedCommand['result']['cause'], timeoutSeconds: number): string {
  switch (cause) {
    case 'timeout':
      return `The command and its processes were killed because they did not end within ${timeoutSeconds} seconds.`;
    case 'output':
      return 'The command was killed because it printed too much.';
    case 'memory':
      return 'The command was killed because it ran out of memory.';
    case 'disk':
      return 'The command was killed because it used too much disk space.';
    default:
      return 'The command was killed.';
  }
}

function discardNote({ reachedLimit, paths, hasMore }: NonNullable<CompletedCommand['discarded']>): string {
  const names = paths.join(', ') + (hasMore ? ' and others' : '');
  const named = names === '' ? '' : ` (${names})`;
  return (
    `All workspace changes of the command${named} were discarded, because ${reachedLimit}. ` +
    'Files from before the command are unchanged.'
  );
}

function conflictNote(path: string, keptAs: string): string {
  if (keptAs === '') return `${path} was changed by another writer at the same time, so it was not removed.`;
  return `${path} was changed by another writer at the same time. Your version was saved as ${keptAs}.`;
}

/** The notes for the first MAX_SHOWN items, and a note that counts the others of `count` items. */
function limited<T>(items: readonly T[] = [], noteOf: (item: T) => string, count = items.length): string[] {
  const notes = items.slice(0, MAX_SHOWN).map(noteOf);
  return count > MAX_SHOWN ? [...notes, `… and ${count - MAX_SHOWN} more.`] : notes;
}
