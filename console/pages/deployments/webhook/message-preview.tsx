/** Example of a request body. */
const SAMPLE = '{"event": "hello"}';

/** Preview of the message that the agent receives: the prefix, a blank line and the body, or the body only. */
export function MessagePreview({ prefix }: { prefix: string }) {
  return (
    <section aria-labelledby="preview">
      <h2 id="preview" className="font-medium">
        Message to the agent
      </h2>
      <p className="mt-0.5 text-[13px] text-muted">
        {prefix
          ? 'The prefix, a blank line and the unchanged body of the request.'
          : 'The unchanged body of the request.'}
      </p>
      <section
        aria-label="Example message"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
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
