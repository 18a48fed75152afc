import type { EnvironmentDraft } from './draft.ts';

/** What each part of the fields is given. */
export interface PartProps {
  draft: EnvironmentDraft;
  onChange: (changes: Partial<EnvironmentDraft>) => void;
  /** What is wrong with a member. */
  at: (pointer: string) => string | undefined;
}
