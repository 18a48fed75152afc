import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';

const SHOWN_MS = 1_600;

/** Copies a text to the clipboard and reports success or failure. */
function useCopy(text: string | (() => string)) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The closure holds the text, which may be a secret, so the timer ends with the component.
  useEffect(() => () => clearTimeout(timer.current), []);
  async function copy() {
    const written = navigator.clipboard?.writeText(typeof text === 'string' ? text : text());
    setOutcome(
      await Promise.resolve(written ?? Promise.reject(new Error('no clipboard'))).then(
        () => 'copied' as const,
        () => 'failed' as const,
      ),
    );
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(undefined), SHOWN_MS);
  }
  return { outcome, copy: () => void copy() };
}

const RESULT_TEXTS = { copied: 'Copied', failed: 'The browser blocked copying' };

/** Icon button that copies a text; `label` names the text. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const { outcome, copy } = useCopy(text);
  return (
    <>
      <IconButton
        label={outcome ? RESULT_TEXTS[outcome] : label}
        // The result is announced once, by the status element.
        aria-label={label}
        icon={outcome === 'copied' ? <Check className="text-good" /> : <Copy />}
        onClick={copy}
      />
      <span role="status" className="sr-only">
        {outcome && RESULT_TEXTS[outcome]}
      </span>
    </>
  );
}

export interface CopyButtonProps {
  text: string | (() => string);
  /** Distinguishes buttons with the same text, for screen readers. */
  about?: string | undefined;
  children: ReactNode;
}

/** Text button that copies a text. */
export function CopyButton({ text, about, children }: CopyButtonProps) {
  const { outcome, copy } = useCopy(text);
  return (
    <>
      <Button small onClick={copy}>
        {outcome === 'copied' ? <Check className="text-good" aria-hidden /> : <Copy aria-hidden />}
        {outcome === 'failed' ? RESULT_TEXTS.failed : children}
        {about && <span className="sr-only">: {about}</span>}
      </Button>
      {/* Outside of the button, because live regions inside buttons are not announced. */}
      <span role="status" className="sr-only">
        {outcome && RESULT_TEXTS[outcome]}
      </span>
    </>
  );
}
