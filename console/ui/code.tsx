import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import { CopyIcon } from './copy.tsx';

export interface CodeProps {
  text: string;
  /** Accessible name. */
  label: string;
  /** Wraps long lines instead of scrolling. */
  wrap?: boolean;
  /** The text with markup. It is shown in place of `text`, which the button copies. */
  children?: ReactNode;
  className?: string;
}

/** Monospace text with a copy button. Long text scrolls and is reachable by keyboard. */
export function Code({ text, label, wrap, className, children }: CodeProps) {
  return (
    <div className={classes('relative rounded-lg border border-line bg-sunken', className)}>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-96 overflow-auto rounded-lg p-3 pe-12"
      >
        <pre
          className={classes(
            'font-mono text-[12.5px] leading-relaxed',
            wrap && 'wrap-anywhere whitespace-pre-wrap',
          )}
        >
          {children ?? text}
        </pre>
      </section>
      <div className="absolute end-px top-px rounded-lg bg-sunken p-1">
        <CopyIcon text={text} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}

/** An id or a URL on one line with a copy button. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      <code className="truncate font-mono text-[13px]" title={text}>
        {text}
      </code>
      <CopyIcon text={text} label={label} />
    </span>
  );
}
