import { LoaderCircle } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { classes } from './classes.ts';
import { Tooltip } from './tooltip.tsx';

const VARIANTS = {
  primary: 'bg-accent-fill text-white hover:brightness-110',
  secondary: 'border border-line bg-surface text-ink hover:bg-sunken',
  quiet: 'text-muted hover:bg-sunken hover:text-ink',
  danger: 'bg-bad-fill text-white hover:brightness-110',
} as const;

export type ButtonVariant = keyof typeof VARIANTS;

const SHAPE =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg font-medium whitespace-nowrap select-none ' +
  'disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0';

export function buttonClass(look: ButtonVariant = 'secondary', small = false): string {
  return classes(SHAPE, small ? 'h-8 px-2.5 text-[13px]' : 'h-9 px-3.5', VARIANTS[look]);
}

export interface ButtonProps extends ComponentProps<'button'> {
  look?: ButtonVariant;
  small?: boolean;
  /** An action is in progress: the button ignores clicks and keeps the focus. */
  busy?: boolean;
}

export function Button({ look, small, busy, className, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={classes(buttonClass(look, small), className)}
      {...rest}
    >
      {busy && <LoaderCircle aria-hidden className="motion-safe:animate-spin" />}
      {children}
    </button>
  );
}

export const ICON_BUTTON =
  'inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink ' +
  'disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4';

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  /** Accessible name and tooltip. */
  label: string;
  icon: ReactNode;
}

export function IconButton({ label, icon, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <button type="button" aria-label={label} className={classes(ICON_BUTTON, className)} {...rest}>
        {icon}
      </button>
    </Tooltip>
  );
}
