import { Plus, X } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { usePeople } from '../../parts/people/people.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';

export interface EntriesFieldProps {
  label: string;
  /** One of them. */
  noun: string;
  /** They are ids of users: administrators can choose by name. */
  people?: boolean;
  value: readonly string[];
  onChange: (value: string[]) => void;
  error: string | undefined;
}

/** A list to add to and to take from. */
export function EntriesField({ label, noun, people = false, value, onChange, error }: EntriesFieldProps) {
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const all = usePeople();
  const known = people ? all : [];
  const nameOf = (id: string) => known.find(({ user_id: one }) => one === id)?.display_name;
  function add(): void {
    const entry = text.trim();
    if (entry !== '' && !value.includes(entry)) onChange([...value, entry]);
    setText('');
  }
  return (
    <div>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field
            label={label}
            hint={
              people ? 'The id of a user: usr_…' : 'The name of a group, as the identity provider says it.'
            }
            error={error}
          >
            <Input
              ref={input}
              value={text}
              list={list}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event: KeyboardEvent) => {
                if (event.key !== 'Enter' || text.trim() === '') return;
                event.preventDefault();
                add();
              }}
            />
          </Field>
        </div>
      </div>
      <datalist id={list}>
        {known.map(({ user_id: id, display_name: name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
      <div className="mt-2">
        <Button small onClick={add} disabled={text.trim() === ''}>
          <Plus aria-hidden />
          Add {noun}
        </Button>
      </div>
      {value.length > 0 && (
        <ul aria-label={label} className="mt-2 divide-y divide-line rounded-lg border border-line bg-surface">
          {value.map((entry) => (
            <li key={entry} className="flex items-center gap-2 py-1 ps-3 pe-1">
              <span className="min-w-0 flex-1 truncate" dir="auto" title={entry}>
                {nameOf(entry) ?? <code className="font-mono text-[13px]">{entry}</code>}
              </span>
              <IconButton
                label={`Remove ${nameOf(entry) ?? entry}`}
                icon={<X />}
                onClick={() => {
                  onChange(value.filter((one) => one !== entry));
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
