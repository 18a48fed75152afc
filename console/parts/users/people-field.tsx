import { X } from 'lucide-react';
import { useId, useRef } from 'react';
import type { UserName } from '../../gen/index.ts';
import { IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Field, Input } from '../../ui/field.tsx';
import { messageOf } from '../errors/error-state.tsx';
import { nameOf } from './people-search.ts';
import { usePeopleSearch } from './use-people-search.ts';
import { useUser } from './users.ts';

export interface PeopleFieldProps {
  label: string;
  /** Ids of the chosen users. */
  value: readonly string[];
  onChange: (value: string[]) => void;
  /** The search text, which the form keeps because it must not be saved with an open search. */
  text: string;
  onText: (text: string) => void;
  error: string | undefined;
}

/** Field for users, who are chosen by name or e-mail address. */
export function PeopleField({ label, value, onChange, text, onText, error }: PeopleFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const search = usePeopleSearch({
    text,
    onText,
    onChoose: ({ user_id: id }) => {
      if (!value.includes(id)) onChange([...value, id]);
    },
  });
  const { isOpen, highlight } = search;
  const hasOptions = isOpen && search.options.length > 0;
  return (
    <div>
      <div className="relative">
        <Field label={label} hint="Search by name or e-mail address." error={search.problem ?? error}>
          <Input
            ref={input}
            role="combobox"
            aria-expanded={hasOptions}
            aria-controls={hasOptions ? list : undefined}
            aria-autocomplete="list"
            aria-activedescendant={hasOptions && highlight !== undefined ? `${list}-${highlight}` : undefined}
            autoComplete="off"
            spellCheck={false}
            autoCapitalize="none"
            value={text}
            onChange={(event) => search.onType(event.target.value)}
            onKeyDown={search.onKeyDown}
            onBlur={search.onBlur}
          />
        </Field>
        {isOpen && <Options id={list} label={label} search={search} selected={value} />}
      </div>
      {value.length > 0 && (
        <ul aria-label={label} className="mt-2 divide-y divide-line rounded-lg border border-line bg-surface">
          {value.map((id) => (
            <ChosenUser
              key={id}
              id={id}
              onRemove={() => {
                onChange(value.filter((other) => other !== id));
                input.current?.focus();
              }}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface OptionsProps {
  id: string;
  label: string;
  search: ReturnType<typeof usePeopleSearch>;
  selected: readonly string[];
}

function Options({ id, label, search, selected }: OptionsProps) {
  const { options, isSearching, error, highlight, choose } = search;
  return (
    // The popup overlaps the content below, because it is open only while the user types.
    <div className="absolute inset-x-0 top-17 z-20 max-h-64 animate-appear overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-float">
      {options.length > 0 ? (
        <div id={id} role="listbox" aria-label={label}>
          {options.map((user, index) => (
            <Option
              key={user.user_id}
              id={`${id}-${index}`}
              user={user}
              isHighlighted={index === highlight}
              isSelected={selected.includes(user.user_id)}
              onChoose={() => choose(user)}
            />
          ))}
        </div>
      ) : (
        <p role="status" className="px-2.5 py-1.5 text-muted">
          {isSearching ? 'Searching…' : error ? messageOf(error) : 'No matching users.'}
        </p>
      )}
    </div>
  );
}

const showOption = (option: HTMLElement | null) => option?.scrollIntoView({ block: 'nearest' });

interface OptionProps {
  id: string;
  user: UserName;
  isHighlighted: boolean;
  isSelected: boolean;
  onChoose: () => void;
}

function Option({ id, user, isHighlighted, isSelected, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
    <div
      ref={isHighlighted ? showOption : undefined}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isSelected}
      // Keeps the focus in the input.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={classes(
        'flex cursor-pointer items-center gap-2 rounded-lg px-2.5 py-1.5 hover:bg-sunken',
        isHighlighted && 'bg-sunken',
      )}
    >
      <bdi className="min-w-0 flex-1 truncate">{nameOf(user)}</bdi>
      <span className="max-w-[55%] truncate text-[13px] text-muted">{user.email}</span>
    </div>
  );
}

function ChosenUser({ id, onRemove }: { id: string; onRemove: () => void }) {
  const { data, isLoading } = useUser(id);
  const name = nameOf(data);
  return (
    <li className="flex items-center gap-2 py-1 ps-3 pe-1">
      <span className="min-w-0 flex-1 truncate" title={id}>
        {name ? <bdi>{name}</bdi> : isLoading ? '…' : <code className="font-mono text-[13px]">{id}</code>}
        {data?.email && name !== data.email && <span className="text-[13px] text-muted"> {data.email}</span>}
      </span>
      <IconButton label={`Remove ${name ?? id}`} icon={<X />} onClick={onRemove} />
    </li>
  );
}
