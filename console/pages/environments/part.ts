import type { EnvironmentDraft } from './draft.ts';

/** What each part of the fields is given. */
export interface PartProps {
  draft: EnvironmentDraft;
  /** As it is kept so far; of a new one, what it begins with. It can be chosen whether it is offered or not. */
  kept: EnvironmentDraft;
  onChange: (changes: Partial<EnvironmentDraft>) => void;
  /** What is wrong with a member. */
  at: (pointer: string) => string | undefined;
}
