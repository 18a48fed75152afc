import { Plus, X } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';

export interface EntriesFieldProps {
  label: string;
  hint: string;
  /** Singular noun of an entry. */
  noun: string;
  value: readonly string[];
  onChange: (value: string[]) => void;
  error: string | undefined;
}

/** Field for a list of texts that can be added and removed. */
export function EntriesField({ label, hint, noun, value, onChange, error }: EntriesFieldProps) {
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  function add(): void {
    const entry = text.trim();
    if (entry !== '' && !value.includes(entry)) onChange([...value, entry]);
    setText('');
  }
  return (
    <div>
      <Field label={label} hint={hint} error={error}>
        <Input
          ref={input}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== 'Enter' || text.trim() === '') return;
            event.preventDefault();
            add();
          }}
        />
      </Field>
      <div className="mt-2">
        <Button
          small
          onClick={() => {
            add();
            input.current?.focus();
          }}
          disabled={text.trim() === ''}
        >
          <Plus aria-hidden />
          Add {noun}
        </Button>
      </div>
      {value.length > 0 && (
        <ul aria-label={label} className="mt-2 divide-y divide-line rounded-lg border border-line bg-surface">
          {value.map((entry) => (
            <li key={entry} className="flex items-center gap-2 py-1 ps-3 pe-1">
              <span className="min-w-0 flex-1 truncate" dir="auto" title={entry}>
                <code className="font-mono text-[13px]">{entry}</code>
              </span>
              <IconButton
                label={`Remove ${entry}`}
                icon={<X />}
                onClick={() => {
                  onChange(value.filter((other) => other !== entry));
                  input.current?.focus();
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
