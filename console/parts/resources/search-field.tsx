import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';

export interface SearchFieldProps {
  /** Accessible name and placeholder. */
  label: string;
  value: string | undefined;
  /** Called after the user stops typing. */
  onChange: (value: string | undefined) => void;
}

const DEBOUNCE_MS = 200;

/** Search field of a list. The text is part of the URL. The shortcut `/` focuses it. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [text, setText] = useState(value ?? '');
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const callback = useRef(onChange);
  useEffect(() => {
    callback.current = onChange;
  });
  useEffect(() => {
    if (value === sent.current) return;
    // The value was changed by browser history or by a link that clears the search.
    clearTimeout(timer.current);
    sent.current = value;
    setText(value ?? '');
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  function write(next: string): void {
    setText(next);
    clearTimeout(timer.current);
    const query = next.trim() || undefined;
    if (query === sent.current) return;
    timer.current = setTimeout(() => {
      sent.current = query;
      callback.current(query);
    }, DEBOUNCE_MS);
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
