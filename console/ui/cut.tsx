import { classes } from './classes.ts';

/** A text in one line. What does not fit is cut, and shown on hover. */
export function Cut({ text, mono = false, className }: { text: string; mono?: boolean; className?: string }) {
  return (
    <span
      dir="auto"
      title={text}
      className={classes('block truncate', mono && 'font-mono text-[13px]', className)}
    >
      {text}
    </span>
  );
}
