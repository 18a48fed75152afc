import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';

export interface SearchFieldProps {
  /** What is searched; its name. */
  label: string;
  value: string | undefined;
  /** Once whoever writes has paused. */
  onChange: (value: string | undefined) => void;
}

const PAUSE_MS = 200;

/** Words to search a list by, which stand in the URL. `/` leads here. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [text, setText] = useState(value ?? '');
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });
  useEffect(() => {
    if (value === sent.current) return;
    // The way back in the history of the browser, or a button that shows all.
    clearTimeout(timer.current);
    sent.current = value;
    setText(value ?? '');
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  function write(next: string): void {
    setText(next);
    clearTimeout(timer.current);
    const wanted = next.trim() || undefined;
    if (wanted === sent.current) return;
    timer.current = setTimeout(() => {
      sent.current = wanted;
      tell.current(wanted);
    }, PAUSE_MS);
  }
  return (
    <div className="relative min-w-44 flex-1">
      <Search className="pointer-events-none absolute start-2.5 top-2.5 size-4 text-muted" aria-hidden />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        dir="auto"
        value={text}
        onChange={(event) => write(event.target.value)}
        className="h-9 w-full rounded-lg border border-line bg-surface ps-8 pe-3 hover:border-strong-line"
      />
    </div>
  );
}
