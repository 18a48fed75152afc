import type { Connection } from '../../gen/types.gen.ts';
import type { Tone } from '../../ui/badge.tsx';

type Status = Connection['status'];

export const STATUS_TONES: Record<Status, Tone> = {
  active: 'good',
  needs_connection: 'warn',
  refused: 'bad',
  disabled: 'plain',
};

export const STATUS_TEXTS: Record<Status, string> = {
  active: '',
  needs_connection: 'The authorization has ended. Connect again.',
  refused: 'The server has refused it. Connect again.',
  disabled: 'An administrator has disabled it.',
};
