/** Says what a session is waiting for, wherever one has scrolled to. */
export function WaitingLine({ text }: { text: string | undefined }) {
  return (
    <div role="status" className="min-h-6 px-4 sm:px-8">
      {text && (
        <p className="mx-auto flex max-w-3xl items-center gap-2 py-1 text-[13px] text-muted">
          <span aria-hidden className="size-1.5 rounded-full bg-accent motion-safe:animate-blink" />
          {text}
        </p>
      )}
    </div>
  );
}
