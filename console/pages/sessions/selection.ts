import { createContext, useMemo, useState } from 'react';

export interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  /** Replaces the selection. */
  select: (ids: readonly string[]) => void;
}

const NO_IDS: ReadonlySet<string> = new Set();

/** The selected rows of a list. A context, so that a change renders only the checkboxes. */
export const SelectionContext = createContext<Selection>({
  ids: NO_IDS,
  toggle: () => {},
  select: () => {},
});

export function useSelectionState(): Selection {
  const [ids, setIds] = useState(NO_IDS);
  return useMemo(
    () => ({
      ids,
      toggle: (id) =>
        setIds((before) => {
          const after = new Set(before);
          if (!after.delete(id)) after.add(id);
          return after;
        }),
      select: (chosen) => setIds(new Set(chosen)),
    }),
    [ids],
  );
}
