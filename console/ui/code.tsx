import { classes } from './classes.ts';
import { CopyIcon } from './copy.tsx';

export interface CodeProps {
  text: string;
  /** What it is. */
  label: string;
  /** Long lines are broken wherever it suits, instead of scrolled. */
  wrap?: boolean;
  className?: string;
}

/** A text to read exactly and to copy. Long ones scroll, by keyboard too. */
export function Code({ text, label, wrap, className }: CodeProps) {
  return (
    <div className={classes('relative rounded-lg border border-line bg-sunken', className)}>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-96 overflow-auto rounded-lg p-3 pe-12"
      >
        <pre
          className={classes(
            'font-mono text-[12.5px] leading-relaxed',
            wrap && 'break-all whitespace-pre-wrap',
          )}
        >
          {text}
        </pre>
      </section>
      <div className="absolute end-px top-px rounded-lg bg-sunken p-1">
        <CopyIcon text={text} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}

/** An id or a URL in a line of its own, to copy. */
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
