import { useState } from 'react';
import { changesOf } from './changes.ts';

/** Something that is being edited, while others may change it, too. */
export interface Editing<Source, Draft extends object> {
  /** As it was when the editing began. */
  base: Source;
  draft: Draft;
  isDirty: boolean;
  /** Somebody else has changed it since. */
  isStale: boolean;
  set: (changes: Partial<Draft>) => void;
  /** One's own changes on top of how it is now. */
  rebased: Draft;
  /** Takes it as it is now, without one's own changes. */
  reload: () => void;
  /** Goes on with what is rebased. */
  rebase: () => void;
  /** What has been saved is what is edited from here on. */
  accept: (saved: Source) => void;
}

/** Edits `newest`, which is followed as long as nothing is changed. A draft is flat: members are taken or left. */
export function useEditing<Source, Draft extends object>(
  newest: Source,
  draftOf: (source: Source) => Draft,
): Editing<Source, Draft> {
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
  // Others may have changed what is not edited here, or have changed it back: that is in nobody's way.
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
    accept: (saved) => take(saved, draftOf(saved)),
  };
}
