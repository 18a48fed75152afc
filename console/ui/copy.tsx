import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';

const SHOWN_MS = 1_600;

/** Puts a text on the clipboard; where the browser has none for us, it says so. */
function useCopy(text: string | (() => string)) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // It knows the text, which may be a secret: it ends with what shows it.
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

const WORDS = { copied: 'Copied', failed: 'The browser does not allow copying' };

/** A small button; `label` says what it copies. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const { outcome, copy } = useCopy(text);
  return (
    <>
      <IconButton
        label={outcome ? WORDS[outcome] : label}
        // What has become of it is said once, beside it.
        aria-label={label}
        icon={outcome === 'copied' ? <Check className="text-good" /> : <Copy />}
        onClick={copy}
      />
      <span role="status" className="sr-only">
        {outcome && WORDS[outcome]}
      </span>
    </>
  );
}

export interface CopyButtonProps {
  text: string | (() => string);
  /** Of what, where others on the page have the same words; for those who hear it alone. */
  about?: string | undefined;
  children: ReactNode;
}

/** The same with words on it. */
export function CopyButton({ text, about, children }: CopyButtonProps) {
  const { outcome, copy } = useCopy(text);
  return (
    <>
      <Button small onClick={copy}>
        {outcome === 'copied' ? <Check className="text-good" aria-hidden /> : <Copy aria-hidden />}
        {outcome === 'failed' ? WORDS.failed : children}
        {about && <span className="sr-only">: {about}</span>}
      </Button>
      {/* Beside it: what is in a button is no part of the page that is read out by itself. */}
      <span role="status" className="sr-only">
        {outcome && WORDS[outcome]}
      </span>
    </>
  );
}
