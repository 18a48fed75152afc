import type { Agent } from '../../gen/index.ts';

type Visibility = Agent['visibility'];

/** How an agent is shared, in a word and in a sentence. */
export const VISIBILITIES: Record<Visibility, { text: string; about: string }> = {
  private: { text: 'Private', about: 'Only who manages it begins conversations with it.' },
  allowlist: { text: 'Listed', about: 'Also the users and groups below begin conversations with it.' },
  public: { text: 'Everybody', about: 'Everybody who can log in begins conversations with it.' },
};
