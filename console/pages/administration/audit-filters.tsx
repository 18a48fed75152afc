import { ListFilter } from 'lucide-react';
import { useId, useState } from 'react';
import { SearchField } from '../../parts/resources/search-field.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { ACTIONS, auditFiltersOf } from './audit-actions.ts';
import { useAdministrationSearch } from './use-administration-search.ts';

const ANY = 'any';
const OUTCOMES = [
  { value: ANY, text: 'Any outcome' },
  { value: 'done', text: 'Done' },
  { value: 'refused', text: 'Refused' },
] as const;
const NO_FILTERS = {
  action: undefined,
  outcome: undefined,
  actor: undefined,
  target: undefined,
  from: undefined,
  until: undefined,
};

/** Filters of the audit log. On narrow screens they are collapsed. */
export function AuditFilters() {
  const { search, set } = useAdministrationSearch();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const count = Object.keys(auditFiltersOf(search)).length;
  return (
    <search aria-label="Audit log" className="mb-3 block">
      <div className="flex flex-wrap gap-2 sm:hidden">
        <Button aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
          <ListFilter aria-hidden />
          {count === 0 ? 'Filters' : `Filters: ${count} active`}
        </Button>
        {count > 0 && (
          <Button look="quiet" onClick={() => set(NO_FILTERS)}>
            Show all
          </Button>
        )}
      </div>
      <div
        id={id}
        className={classes(
          'items-end gap-2 sm:grid sm:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-6',
          isOpen ? 'grid max-sm:mt-2' : 'hidden',
        )}
      >
        <SearchField label="Actor: usr_…" value={search.actor} onChange={(actor) => set({ actor })} />
        <SearchField
          label="Target: any resource ID"
          value={search.target}
          onChange={(target) => set({ target })}
        />
        <div className="grid grid-cols-2 gap-2 sm:contents">
          <Select
            label="Action"
            value={ACTIONS.find(({ value }) => value === search.action)?.value ?? ANY}
            options={[{ value: ANY, text: 'Any action' }, ...ACTIONS]}
            onChange={(action) => set({ action: action === ANY ? undefined : action })}
          />
          <Select
            label="Outcome"
            value={search.outcome ?? ANY}
            options={OUTCOMES}
            onChange={(outcome) => set({ outcome: outcome === ANY ? undefined : outcome })}
          />
        </div>
        <TimeField label="From" value={search.from} onChange={(from) => set({ from })} />
        <TimeField label="Until" value={search.until} onChange={(until) => set({ until })} />
      </div>
    </search>
  );
}

interface TimeFieldProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** Input for a time in UTC, the time zone of the log. */
function TimeField({ label, value, onChange }: TimeFieldProps) {
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
