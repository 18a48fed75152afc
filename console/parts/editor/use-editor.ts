import { useState } from 'react';
import { changesOf, withLaterChanges } from './changes.ts';

/** State of an editor for a resource that other users can change at the same time. */
export interface EditorState<Source, Draft extends object> {
  /** The version on which the draft is based. */
  base: Source;
  draft: Draft;
  isDirty: boolean;
  /** Another user has changed the resource since `base`. */
  isStale: boolean;
  set: (changes: Partial<Draft>) => void;
  /** The draft's changes applied to the newest version. */
  rebased: Draft;
  /** Discards the draft and starts from the newest version. */
  reload: () => void;
  /** Continues with `rebased` on the newest version. */
  rebase: () => void;
  /** Makes the saved version the new base. The draft keeps what was changed after `sent`, the draft that was saved. */
  accept: (saved: Source, sent: Draft) => void;
}

/**
 * Edits `newest`. Without unsaved changes the draft follows it. A draft is flat: each member is either changed by the user or
 * taken from the newest version.
 */
export function useEditor<Source, Draft extends object>(
  newest: Source,
  draftOf: (source: Source) => Draft,
): EditorState<Source, Draft> {
  const [base, setBase] = useState(newest);
  const [draft, setDraft] = useState(() => draftOf(newest));
  const mine = changesOf(draftOf(base), draft);
  const isDirty = Object.keys(mine).length > 0;
  const isOther = Object.keys(changesOf(draftOf(base), draftOf(newest))).length > 0;
  const rebased = { ...draftOf(newest), ...mine };
  function take(source: Source, next: Draft): void {
    setBase(source);
    setDraft(next);
  }
  if (newest !== base && !isDirty) take(newest, draftOf(newest));
  // The newest version has the same editable fields, so it becomes the base without a conflict.
  else if (newest !== base && !isOther) setBase(newest);
  return {
    base,
    draft,
    isDirty,
    isStale: isDirty && isOther,
    set: (changes) => setDraft((before) => ({ ...before, ...changes })),
    rebased,
    reload: () => take(newest, draftOf(newest)),
    rebase: () => take(newest, rebased),
    accept(saved, sent) {
      setBase(saved);
      setDraft((current) => withLaterChanges(draftOf(saved), sent, current));
    },
  };
}
