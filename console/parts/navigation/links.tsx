import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { type ButtonVariant, buttonClass } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';

/** Only the main navigation marks the current page. The router would also mark links to a parent page. */
const NO_CURRENT = { 'aria-current': undefined };

function Anchor({ className, ...rest }: ComponentProps<'a'>) {
  const look = classes('rounded font-medium text-accent hover:underline', className);
  return <a className={look} {...rest} {...NO_CURRENT} />;
}

interface ButtonAnchorProps extends ComponentProps<'a'> {
  look?: ButtonVariant;
  small?: boolean;
}

function ButtonAnchor({ look, small, className, ...rest }: ButtonAnchorProps) {
  return <a className={classes(buttonClass(look, small), className)} {...rest} {...NO_CURRENT} />;
}

/** Link in running text. */
export const TextLink = createLink(Anchor);

/** Link that looks like a button. */
export const ButtonLink = createLink(ButtonAnchor);
