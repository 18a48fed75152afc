import { SearchField } from '../../parts/lists/search-field.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { ACTIONS } from './acts.ts';
import { useFilters } from './filters.ts';

const ANY = 'any';
const OUTCOMES = [
  { value: ANY, text: 'Any outcome' },
  { value: 'done', text: 'Done' },
  { value: 'refused', text: 'Refused' },
] as const;

/** What is shown of the audit log. */
export function ActFields() {
  const { search, set } = useFilters();
  return (
    <div className="mb-3 grid items-end gap-2 sm:grid-cols-2">
      <SearchField label="Who: usr_…" value={search.actor} onChange={(actor) => set({ actor })} />
      <SearchField
        label="What: the id of anything"
        value={search.target}
        onChange={(target) => set({ target })}
      />
      <div className="grid grid-cols-2 gap-2 sm:contents">
        <Select
          label="Act"
          value={ACTIONS.find(({ value }) => value === search.action)?.value ?? ANY}
          options={[{ value: ANY, text: 'Any act' }, ...ACTIONS]}
          onChange={(action) => set({ action: action === ANY ? undefined : action })}
        />
        <Select
          label="Outcome"
          value={search.outcome ?? ANY}
          options={OUTCOMES}
          onChange={(outcome) => set({ outcome: outcome === ANY ? undefined : outcome })}
        />
      </div>
      <Moment label="From" value={search.from} onChange={(from) => set({ from })} />
      <Moment label="Until" value={search.until} onChange={(until) => set({ until })} />
    </div>
  );
}

interface MomentProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A moment in UTC, as everything in the log is. */
function Moment({ label, value, onChange }: MomentProps) {
  return (
    <Field label={`${label} (UTC)`}>
      <Input
        type="datetime-local"
        dir="ltr"
        value={value?.slice(0, 16) ?? ''}
        onChange={(event) =>
          onChange(event.target.value ? `${event.target.value.slice(0, 16)}:00Z` : undefined)
        }
      />
    </Field>
  );
}
