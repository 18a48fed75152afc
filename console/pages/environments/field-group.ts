import type { EnvironmentDraft } from './draft.ts';

/** Properties of each group of fields. */
export interface FieldGroupProps {
  draft: EnvironmentDraft;
  /** The saved or initial values. They can be selected even when this release does not support them. */
  saved: EnvironmentDraft;
  onChange: (changes: Partial<EnvironmentDraft>) => void;
  /** Returns the validation error of a field. */
  errorAt: (pointer: string) => string | undefined;
}
