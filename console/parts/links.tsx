import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { type ButtonLook, buttonClass } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';

/** Where one is, the navigation says. A link to what stands above a page is not the page. */
const NOT_HERE = { 'aria-current': undefined };

function Anchor({ className, ...rest }: ComponentProps<'a'>) {
  const look = classes('rounded font-medium text-accent hover:underline', className);
  return <a className={look} {...rest} {...NOT_HERE} />;
}

interface ButtonAnchorProps extends ComponentProps<'a'> {
  look?: ButtonLook;
  small?: boolean;
}

function ButtonAnchor({ look, small, className, ...rest }: ButtonAnchorProps) {
  return <a className={classes(buttonClass(look, small), className)} {...rest} {...NOT_HERE} />;
}

/** Leads to another page. */
export const TextLink = createLink(Anchor);

/** The same, where it is the thing to do next. */
export const ButtonLink = createLink(ButtonAnchor);
