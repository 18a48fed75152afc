import { classes } from '../../ui/classes.ts';

/** Status line with the current activity of a session, visible at every scroll position. */
export function ActivityLine({ text, wide }: { text: string | undefined; wide?: boolean }) {
  return (
    <div role="status" className="min-h-6 px-4 sm:px-8">
      {text && (
        <p
          className={classes(
            'mx-auto flex items-center gap-2 py-1 text-[13px] text-muted',
            !wide && 'max-w-3xl',
          )}
        >
          <span aria-hidden className="size-1.5 rounded-full bg-accent motion-safe:animate-blink" />
          {text}
        </p>
      )}
    </div>
  );
}
