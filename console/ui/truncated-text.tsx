import { classes } from './classes.ts';

/** A text on one line, truncated to the available width. The tooltip shows the full text. */
export function TruncatedText({
  text,
  mono = false,
  className,
}: {
  text: string;
  mono?: boolean;
  className?: string;
}) {
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
