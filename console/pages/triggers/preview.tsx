/** Stands for whatever a sender sends. */
const SAMPLE = '{"event": "hello"}';

/** What the agent is handed: the prefix, one blank line, the body; or the body alone. */
export function Preview({ prefix }: { prefix: string }) {
  return (
    <section aria-labelledby="preview">
      <h2 id="preview" className="font-medium">
        What the agent gets
      </h2>
      <p className="mt-0.5 text-[13px] text-muted">
        {prefix
          ? 'The prefix, one blank line, and the body of the request, exactly as it was sent.'
          : 'The body of the request, exactly as it was sent, and nothing else.'}
      </p>
      <section
        aria-label="A message to the agent"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        className="mt-2 max-h-80 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[12.5px] leading-relaxed wrap-anywhere"
      >
        <pre dir="auto" className="whitespace-pre-wrap">
          {prefix && `${prefix}\n\n`}
          <span className="text-accent">{SAMPLE}</span>
        </pre>
      </section>
    </section>
  );
}
