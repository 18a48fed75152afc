import type { Agent } from '../../gen/index.ts';

type Visibility = Agent['visibility'];

/** Labels and descriptions of the visibility of an agent. */
export const VISIBILITY_LABELS: Record<Visibility, { text: string; about: string }> = {
  private: { text: 'Private', about: 'Only managers can start conversations.' },
  allowlist: {
    text: 'Restricted',
    about: 'Managers and the listed users and groups can start conversations.',
  },
  public: { text: 'All users', about: 'All users who can log in can start conversations.' },
};
