import type { ReactNode } from 'react';
import { classes } from './classes.ts';

const TONES = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent',
  plain: 'bg-sunken text-muted',
} as const;

export type Tone = keyof typeof TONES;

/** Label for a state. The text carries the meaning, because colour alone is not accessible. */
export function Badge({
  tone = 'plain',
  live,
  children,
}: {
  tone?: Tone;
  live?: boolean;
  children: ReactNode;
}) {
  return (
    <span
      className={classes(
        'inline-flex h-5.5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      <span
        aria-hidden
        className={classes('size-1.5 rounded-full bg-current', live && 'motion-safe:animate-blink')}
      />
      {children}
    </span>
  );
}
