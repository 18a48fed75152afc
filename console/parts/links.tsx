import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { type ButtonLook, buttonClass } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';

function Anchor({ className, ...rest }: ComponentProps<'a'>) {
  return <a className={classes('rounded font-medium text-accent hover:underline', className)} {...rest} />;
}

interface ButtonAnchorProps extends ComponentProps<'a'> {
  look?: ButtonLook;
  small?: boolean;
}

function ButtonAnchor({ look, small, className, ...rest }: ButtonAnchorProps) {
  return <a className={classes(buttonClass(look, small), className)} {...rest} />;
}

/** Leads to another page. */
export const TextLink = createLink(Anchor);

/** The same, where it is the thing to do next. */
export const ButtonLink = createLink(ButtonAnchor);
