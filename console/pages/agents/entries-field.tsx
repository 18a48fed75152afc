import { Plus, X } from 'lucide-react';
import { type KeyboardEvent, useDeferredValue, useRef, useState } from 'react';
import { usePeople, usePerson } from '../../parts/people/people.ts';
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
  const found = usePeople(useDeferredValue(text.trim() || undefined), people);
  const suggestions = found.map(({ user_id: value, display_name: text }) => ({ value, text }));
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
              {...(people && { suggestions })}
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
            <Entry
              key={entry}
              entry={entry}
              isPerson={people}
              onRemove={() => {
                onChange(value.filter((one) => one !== entry));
                input.current?.focus();
              }}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface EntryProps {
  entry: string;
  isPerson: boolean;
  onRemove: () => void;
}

function Entry({ entry, isPerson, onRemove }: EntryProps) {
  const name = usePerson(isPerson ? entry : null)?.display_name;
  return (
    <li className="flex items-center gap-2 py-1 ps-3 pe-1">
      <span className="min-w-0 flex-1 truncate" dir="auto" title={entry}>
        {name ?? <code className="font-mono text-[13px]">{entry}</code>}
      </span>
      <IconButton label={`Remove ${name ?? entry}`} icon={<X />} onClick={onRemove} />
    </li>
  );
}
